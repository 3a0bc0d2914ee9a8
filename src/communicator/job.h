/* What concerns the whole job: which MPI it runs with, and how it ends when something is wrong. */
#ifndef AR_JOB_H
#define AR_JOB_H

#include <mpi.h>
#include <stdbool.h>

/* Says why and ends the process where it runs with an MPI library of another family than this build
 * is for: every handle would be misread. */
void ar_job_check_family(void);

/* Ends the job after one of its ranks, the speaker, has said why.  The others wait for the end: to
 * go on would be wrong, and to end it as well would only be noise. */
void ar_job_end(MPI_Comm comm, bool is_speaker) __attribute__((noreturn));

#endif
