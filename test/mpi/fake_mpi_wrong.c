/* To be preloaded behind the library: an MPI library whose own allreduce is wrong for messages of
 * WRONG_FROM to WRONG_TO bytes: the result's last byte is inverted, or, with WRONG_HANGS, the call
 * never returns. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int allreduce_fn(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);

static long
number(const char *name)
{
    const char *text = getenv(name);
    return text ? atol(text) : -1;
}

__attribute__((visibility("default"))) int
MPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
              MPI_Comm comm)
{
    allreduce_fn *next;
    int size;
    void *symbol = dlsym(RTLD_NEXT, "MPI_Allreduce");
    memcpy(&next, &symbol, sizeof next);
    const int error = next(sendbuf, recvbuf, count, datatype, op, comm);
    PMPI_Type_size(datatype, &size);
    const long bytes = (long)count * size;
    const int is_wrong = bytes >= number("WRONG_FROM") && bytes <= number("WRONG_TO");
    while (is_wrong && number("WRONG_HANGS") > 0)
        sleep(1);
    if (is_wrong)
        ((unsigned char *)recvbuf)[bytes - 1] ^= 0x55;
    return error;
}
