/* The life of this process, as far as we are concerned, and what concerns its whole job: which MPI
 * it runs with, and how it ends when something is wrong. */
#ifndef AR_PROCESS_H
#define AR_PROCESS_H

#include <mpi.h>
#include <stdbool.h>

/* Sets up once; to be called before anything else, any number of times.  The first call comes from
 * inside an MPI_Allreduce, since Fortran and sessions do not call our MPI_Init. */
void ar_process_begin(void);

/* MPI is about to end.  is_together: all ranks of the world make this call, so that the statistics
 * can be gathered; otherwise each rank ends for itself.  Only the first call does anything, and
 * only where there was an allreduce. */
void ar_process_close(bool is_together);

/* The process leaves by exit.  For programs that do so without MPI_Finalize, and for sessions,
 * whose end we cannot see.  False: there was no allreduce. */
bool ar_process_exit(void);

/* Says why and ends the process where it runs with an MPI library of another family than this build
 * is for: every handle would be misread. */
void ar_job_check_family(void);

/* May the program go on after a rank has died, in the way of ULFM?  Found by ar_process_begin.
 * Alike on all ranks: the job was started so, by Open MPI's mpirun --with-ft ulfm.  MPICH 4.0 has
 * the calls, but ends the job. */
bool ar_job_is_fault_tolerant(void);

/* Ends the job after one of its ranks, the speaker, has said why.  The others wait for the end: to
 * go on would be wrong, and to end it as well would only be noise. */
void ar_job_end(MPI_Comm comm, bool is_speaker) __attribute__((noreturn));

/* The same where this rank alone ran out of memory for something, such as "an allreduce", for which
 * the others wait: they cannot be told. */
void ar_job_end_without_memory(MPI_Comm comm, const char *something) __attribute__((noreturn));

#endif
