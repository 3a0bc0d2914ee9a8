/* What this process keeps for all communicators. */
#ifndef AR_PROCESS_H
#define AR_PROCESS_H

#include <mpi.h>
#include <stdbool.h>

#include "config/config.h"

struct ar_process {
    struct ar_config *config; /* from this process's environment; NULL: no memory */
    int keyval;               /* of a communicator's state */
    int error;                /* MPI_SUCCESS, or why there is no keyval */
};

/* Set up at the first call, which comes from inside an MPI_Allreduce: there is
 * no depending on a hook in MPI_Init, which Fortran and sessions pass by. */
const struct ar_process *ar_process_get(void);

/* Ends the process, having said why, where it runs with an MPI library of another
 * family than this build is for: every handle would be misread. */
void ar_process_check_family(void);

/* MPI is about to end.  Together: in a call that all ranks of the world make, so that the
 * statistics can be gathered; alone: each rank at a time of its own, which means nothing to the
 * others.  Only the first such call does anything, and where there was an allreduce. */
enum ar_close { AR_CLOSE_TOGETHER, AR_CLOSE_ALONE };
void ar_process_close(enum ar_close how);

/* Ends the job, of whose ranks one, the speaker, has said why; the others wait for the end, since
 * going on would be wrong, and ending it too only noise. */
void ar_process_end_job(MPI_Comm comm, bool is_speaker) __attribute__((noreturn));

/* True from the moment MPI is being finalized. */
bool ar_process_is_closed(void);

#endif
