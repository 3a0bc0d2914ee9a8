/* Calls a function that the MPI library has not, or, if it has it, ends with 77. */
#include <dlfcn.h>
#include <mpi.h>
#include <stddef.h>
#include <string.h>

int
main(int argc, char **argv)
{
    int (*call)(const void *, void *, MPI_Count, MPI_Datatype, MPI_Op, MPI_Comm);
    int in = 1, out = 0;
    void *const symbol = dlsym(RTLD_DEFAULT, "MPI_Allreduce_c");
    MPI_Init(&argc, &argv);
    if (dlsym(RTLD_DEFAULT, "PMPI_Allreduce_c"))
        return 77;
    memcpy(&call, &symbol, sizeof call);
    call(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
