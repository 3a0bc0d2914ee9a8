/* The life of this process, as far as we are concerned. */
#ifndef AR_PROCESS_H
#define AR_PROCESS_H

#include <stdbool.h>

/* To be called before anything else, again and again: sets up once.  The first call comes from
 * inside an MPI_Allreduce: there is no depending on a hook in MPI_Init, which Fortran and sessions
 * pass by. */
void ar_process_begin(void);

/* MPI is about to end.  is_together: in a call that all ranks of the world make, so that the
 * statistics can be gathered; else each rank at a time of its own, which means nothing to the
 * others.  Only the first such call does anything, and where there was an allreduce. */
void ar_process_close(bool is_together);

#endif
