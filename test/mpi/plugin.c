/* What an interpreter loads: a module that is linked to MPI, and runs a program in it. */
#include "mpi_check.h"

__attribute__((visibility("default"))) int plugin_main(int argc, char **argv);

int
plugin_main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    check_ping(MPI_COMM_WORLD, "a call from a module");
#if MPI_VERSION >= 4 /* as mpi4py 4 does it */
    int one = 1, sum = 0, nranks;
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    check_true(MPI_Allreduce_c(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS);
    check_true(sum == nranks);
#endif
    return check_end();
}
