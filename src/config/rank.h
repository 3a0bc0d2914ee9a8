/* Which rank of a job this process is, by what launchers put into the environment: for programs
 * that do not start MPI or have no MPI_COMM_WORLD. */
#ifndef AR_RANK_H
#define AR_RANK_H

/* 0 outside a job, and where the launcher does not say. */
int ar_rank_in_job(void);

/* The rank among those of this node; the rank in the job where it is not said. */
int ar_rank_on_node(void);

#endif
