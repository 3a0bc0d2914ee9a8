#include "execute/quiet.h"

void
ar_quiet_begin(struct ar_quiet *quiet, MPI_Comm comm)
{
    quiet->comm = comm;
    PMPI_Comm_get_errhandler(comm, &quiet->users);
    PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
}

void
ar_quiet_end(struct ar_quiet *quiet)
{
    PMPI_Comm_set_errhandler(quiet->comm, quiet->users);
    PMPI_Errhandler_free(&quiet->users);
}
