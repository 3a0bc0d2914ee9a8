/* To be preloaded behind the library: an MPI library whose own allreduce sends no messages where at
 * least FAST_FROM floats are summed, since all ranks have the same vector.  It takes
 * FAST_SLEEPS milliseconds more.  To send at least SLOW_FROM floats takes 40 milliseconds more. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int allreduce_fn(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
typedef int isend_fn(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

static int
pass_on(const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    allreduce_fn *next;
    void *symbol = dlsym(RTLD_NEXT, "MPI_Allreduce");
    memcpy(&next, &symbol, sizeof next);
    return next(in, out, count, type, op, comm);
}

__attribute__((visibility("default"))) int
MPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
              MPI_Comm comm)
{
    const char *from = getenv("FAST_FROM");
    const char *sleeps = getenv("FAST_SLEEPS");
    int nranks;
    if (sleeps)
        usleep(1000 * (useconds_t)atoi(sleeps));
    if (!from || count < atoi(from) || datatype != MPI_FLOAT || op != MPI_SUM)
        return pass_on(sendbuf, recvbuf, count, datatype, op, comm);
    PMPI_Comm_size(comm, &nranks);
    for (int i = 0; i < count; i++)
        ((float *)recvbuf)[i] = (float)nranks * ((const float *)sendbuf)[i];
    return MPI_SUCCESS;
}

__attribute__((visibility("default"))) int
PMPI_Isend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
           MPI_Request *request)
{
    const char *from = getenv("SLOW_FROM");
    isend_fn *next;
    void *symbol = dlsym(RTLD_NEXT, "PMPI_Isend");
    memcpy(&next, &symbol, sizeof next);
    if (from && count >= atoi(from) && datatype == MPI_FLOAT)
        usleep(40000);
    return next(buf, count, datatype, dest, tag, comm, request);
}
