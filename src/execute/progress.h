/* The program's other communication, which must go on while a rank waits in shared memory. */
#ifndef AR_PROGRESS_H
#define AR_PROGRESS_H

#include <mpi.h>

/* Has the MPI library make progress.  comm: any intracommunicator of this rank; nothing is received
 * there.  Fails as PMPI_Iprobe does.
 *
 * A probe that finds a message returns at once in MPICH, and nothing has moved.  So it asks for a
 * message that hardly any program has: from this rank to itself, with the highest tag that every
 * MPI library has; and where there is one, for another tag from then on. */
int ar_progress(MPI_Comm comm);

#endif
