/* The program's other communication, which must go on while a rank waits in shared memory. */
#ifndef AR_PROGRESS_H
#define AR_PROGRESS_H

#include <mpi.h>

/* Lets the MPI library make progress.  comm: any intracommunicator of this rank; nothing is
 * received there.  Fails as PMPI_Iprobe does.
 *
 * In MPICH a probe that finds a message returns at once, without any progress.  So this asks for a
 * message that hardly any program sends: from this rank to itself, with the highest tag that every
 * MPI library supports.  If there is such a message, it asks for another tag from then on. */
int ar_progress(MPI_Comm comm);

#endif
