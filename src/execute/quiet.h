/* Disables the error handler of a communicator of the program while we call MPI on it for our own
 * purposes: an error is raised once, by the shim, or does not concern the program. */
#ifndef AR_QUIET_H
#define AR_QUIET_H

#include <mpi.h>

struct ar_quiet {
    MPI_Comm comm;
    MPI_Errhandler users;
};

/* Between begin and end, errors of MPI calls on comm are returned. */
static inline void
ar_quiet_begin(struct ar_quiet *quiet, MPI_Comm comm)
{
    quiet->comm = comm;
    PMPI_Comm_get_errhandler(comm, &quiet->users);
    PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
}

/* Another thread may have set a handler meanwhile, which stays. */
static inline void
ar_quiet_end(struct ar_quiet *quiet)
{
    MPI_Errhandler now;
    PMPI_Comm_get_errhandler(quiet->comm, &now);
    if (now == MPI_ERRORS_RETURN)
        PMPI_Comm_set_errhandler(quiet->comm, quiet->users);
    PMPI_Errhandler_free(&now);
    PMPI_Errhandler_free(&quiet->users);
}

#endif
