/* The life of this process, as far as we are concerned. */
#ifndef AR_PROCESS_H
#define AR_PROCESS_H

#include <stdbool.h>

/* Sets up once; to be called before anything else, any number of times.  The first call comes from
 * inside an MPI_Allreduce, since Fortran and sessions do not call our MPI_Init. */
void ar_process_begin(void);

/* MPI is about to end.  is_together: all ranks of the world make this call, so that the statistics
 * can be gathered; otherwise each rank ends for itself.  Only the first call does anything, and
 * only where there was an allreduce. */
void ar_process_close(bool is_together);

#endif
