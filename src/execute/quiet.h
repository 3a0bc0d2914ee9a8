/* The error handler of a communicator of the program's, out of the way while we work there for
 * ourselves: an error is raised once, by the shim, or is none of the program's. */
#ifndef AR_QUIET_H
#define AR_QUIET_H

#include <mpi.h>

struct ar_quiet {
    MPI_Comm comm;
    MPI_Errhandler users;
};

/* Between these, errors of MPI calls on comm are returned. */
void ar_quiet_begin(struct ar_quiet *quiet, MPI_Comm comm);
void ar_quiet_end(struct ar_quiet *quiet);

#endif
