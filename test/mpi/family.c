/* A program that says to run with another MPI library than it does.
 *
 * usage: family VERSION   VERSION: what MPI_Get_library_version is to say
 *
 * It is linked so that the library preloaded finds this PMPI_Get_library_version. */
#include <stdio.h>
#include <string.h>

#include "mpi_check.h"

static const char *pretended = "";

__attribute__((visibility("default"))) int
PMPI_Get_library_version(char *version, int *resultlen)
{
    *resultlen = (int)strlen(pretended);
    memcpy(version, pretended, (size_t)*resultlen + 1);
    return MPI_SUCCESS;
}

int
main(int argc, char **argv)
{
    if (argc > 1)
        pretended = argv[1];
    check_begin(&argc, &argv);
    check_ping(MPI_COMM_WORLD, "the first call");
    return check_end();
}
