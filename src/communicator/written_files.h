/* Schedules that the settings name by their files. */
#ifndef AR_WRITTEN_FILES_H
#define AR_WRITTEN_FILES_H

#include "communicator/communicator.h"

/* Puts the row of the file that d's choice names in its place, or native with d's reason.  The
 * reason is that the file is not there, or not for these ranks, or not proved, or that what was
 * proved does not serve the call.  It is read at the first decision of c that names it, by rank
 * 0 or else by the lowest rank that has it.  All others get its text from there.  Collective
 * over comm then.  MPI_SUCCESS, MPI_ERR_NO_MEM or an error of MPI's. */
int ar_written_settle(struct ar_communicator *c, MPI_Comm comm, struct ar_decision *d);

/* Frees what c has of them. */
void ar_written_forget(struct ar_communicator *c);

#endif
