/* Disables the error handler of a communicator of the program while we call MPI on it for our own
 * purposes: an error is raised once, by the shim, or does not concern the program. */
#ifndef AR_QUIET_H
#define AR_QUIET_H

#include <mpi.h>

struct ar_quiet {
    MPI_Comm comm; /* whose handler is disabled */
    MPI_Errhandler users;
};

/* Between begin and end, errors of MPI calls on comm are returned. */
void ar_quiet_begin(struct ar_quiet *quiet, MPI_Comm comm);
void ar_quiet_end(struct ar_quiet *quiet);

#endif
