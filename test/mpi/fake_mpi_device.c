/* Preloaded behind the library, this stands for an MPI library that takes device memory: it copies
 * that to the host by what test/mpi/fake_accelerator.c offers, and back. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "accelerator.h"

typedef int allreduce_fn(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
typedef enum runtime_kind kind_fn(const void *);
typedef void copy_fn(void *, const void *, size_t);

static void
find(void *function, void *where, const char *name)
{
    void *const symbol = dlsym(where, name);
    memcpy(function, &symbol, sizeof symbol);
}

static void *
fetch(copy_fn *copy, const void *from, size_t bytes)
{
    void *const room = malloc(bytes);
    if (!room)
        abort();
    copy(room, from, bytes);
    return room;
}

__attribute__((visibility("default"))) int
MPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
              MPI_Comm comm)
{
    const void *in_place = MPI_IN_PLACE;
    void *host_in = NULL, *host_out = NULL;
    allreduce_fn *next;
    kind_fn *kind;
    copy_fn *copy;
    MPI_Aint lb, extent;
    find(&next, RTLD_NEXT, "MPI_Allreduce");
    find(&kind, RTLD_DEFAULT, "runtime_kind");
    find(&copy, RTLD_DEFAULT, "runtime_copy");
    PMPI_Type_get_extent(datatype, &lb, &extent);
    const size_t bytes = (size_t)count * (size_t)extent;
    if (kind && sendbuf != in_place && kind(sendbuf) == RUNTIME_DEVICE)
        host_in = fetch(copy, sendbuf, bytes);
    if (kind && kind(recvbuf) == RUNTIME_DEVICE)
        host_out = fetch(copy, recvbuf, bytes);
    const int error =
        next(host_in ? host_in : sendbuf, host_out ? host_out : recvbuf, count, datatype, op, comm);
    if (host_out)
        copy(recvbuf, host_out, bytes);
    free(host_in);
    free(host_out);
    return error;
}
