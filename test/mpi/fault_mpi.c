/* Faults to be preloaded beside the library: inverts the last byte of one message that rank
 * FAULT_RANK of MPI_COMM_WORLD sends by PMPI_Isend, the FAULT_AT-th from 0 on; with FAULT_SEND=1
 * that message of every rank is refused.  With FAULT_SPLIT=1 the library is out of communicators;
 * with FAULT_MEMORY=RANK that rank is out of memory for scratch of a MiB or more.  The
 * FAULT_REDUCE-th PMPI_Reduce by MPI_MIN of each rank, from 0 on, raises MPI_ERR_INTERN and returns
 * MPI_ERR_OTHER: who raises it again shows. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

typedef int isend_fn(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

static int
number(const char *name)
{
    const char *text = getenv(name);
    return text ? atoi(text) : -1;
}

/* Of the one message that is spoiled: the copy stays until the process ends. */
static const void *
spoiled(const void *buf, int count, MPI_Datatype datatype)
{
    static unsigned char *copy;
    int size;
    PMPI_Type_size(datatype, &size);
    const size_t bytes = (size_t)count * (size_t)size;
    copy = malloc(bytes);
    if (!copy || bytes == 0)
        return buf;
    memcpy(copy, buf, bytes);
    copy[bytes - 1] ^= 0x55;
    return copy;
}

__attribute__((visibility("default"))) int
PMPI_Isend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
           MPI_Request *request)
{
    static int sent;
    int rank;
    isend_fn *next;
    void *symbol = dlsym(RTLD_NEXT, "PMPI_Isend");
    memcpy(&next, &symbol, sizeof next);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (number("FAULT_SEND") == 1 && sent++ == number("FAULT_AT"))
        return MPI_ERR_OTHER;
    if (rank == number("FAULT_RANK") && sent++ == number("FAULT_AT"))
        buf = spoiled(buf, count, datatype);
    return next(buf, count, datatype, dest, tag, comm, request);
}

__attribute__((visibility("default"))) int
PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *new)
{
    typedef int split_fn(MPI_Comm, int, int, MPI_Comm *);
    split_fn *next;
    void *symbol = dlsym(RTLD_NEXT, "PMPI_Comm_split");
    memcpy(&next, &symbol, sizeof next);
    return number("FAULT_SPLIT") == 1 ? MPI_ERR_OTHER : next(comm, color, key, new);
}

__attribute__((visibility("default"))) void *
aligned_alloc(size_t alignment, size_t size)
{
    typedef void *alloc_fn(size_t, size_t);
    alloc_fn *next;
    int rank = -1, initialized = 0;
    void *symbol = dlsym(RTLD_NEXT, "aligned_alloc");
    memcpy(&next, &symbol, sizeof next);
    if (size >= (size_t)1 << 20)
        PMPI_Initialized(&initialized);
    if (initialized)
        PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank >= 0 && rank == number("FAULT_MEMORY") ? NULL : next(alignment, size);
}

__attribute__((visibility("default"))) int
PMPI_Reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
            int root, MPI_Comm comm)
{
    typedef int reduce_fn(const void *, void *, int, MPI_Datatype, MPI_Op, int, MPI_Comm);
    static int calls;
    reduce_fn *next;
    void *symbol = dlsym(RTLD_NEXT, "PMPI_Reduce");
    memcpy(&next, &symbol, sizeof next);
    if (op != MPI_MIN || calls++ != number("FAULT_REDUCE"))
        return next(sendbuf, recvbuf, count, datatype, op, root, comm);
    PMPI_Comm_call_errhandler(comm, MPI_ERR_INTERN);
    return MPI_ERR_OTHER;
}
