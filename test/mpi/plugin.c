/* What an interpreter loads: a module that is linked to MPI, and runs a program in it. */
#include "mpi_check.h"

__attribute__((visibility("default"))) int plugin_main(int argc, char **argv);

int
plugin_main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    check_ping(MPI_COMM_WORLD, "a call from a module");
    return check_end();
}
