/* What concerns the whole job: which MPI it runs with, and how it ends when something is wrong. */
#ifndef AR_JOB_H
#define AR_JOB_H

#include <mpi.h>
#include <stdbool.h>

/* Ends the process, having said why, where it runs with an MPI library of another
 * family than this build is for: every handle would be misread. */
void ar_job_check_family(void);

/* Ends the job, of whose ranks one, the speaker, has said why; the others wait for the end, since
 * going on would be wrong, and ending it too only noise. */
void ar_job_end(MPI_Comm comm, bool is_speaker) __attribute__((noreturn));

#endif
