/* Which rank of a job this process is, by what launchers put into the environment: for programs
 * that do not start MPI or have no MPI_COMM_WORLD. */
#ifndef AR_RANK_H
#define AR_RANK_H

#include <stdbool.h>
#include <stddef.h>

/* What has started this process, as far as its environment tells. */
struct ar_launcher {
    const char *title;    /* "mpirun of Open MPI" */
    const char *family;   /* as AR_MPI_FAMILY: the only one that it can start; NULL: not known */
    const char *variable; /* of the environment, that tells how many ranks it has started */
    int ranks;            /* 0: not told */
};

/* Where the variables of several are there, as in a job that was started from within another, that
 * of mpi_family (as AR_MPI_FAMILY; NULL: any) comes first.  False outside a job. */
bool ar_launcher_find(struct ar_launcher *launcher, const char *mpi_family);

/* Has the launcher started ranks that do not find each other, since it is not this MPI library's?
 * If so, text says this and what to type; else text is untouched.  mpi_family: as AR_MPI_FAMILY.
 * world: ranks of MPI_COMM_WORLD; 0 before MPI_Init, when only a launcher of another family is
 * told. */
bool ar_launcher_splits(const char *mpi_family, int world, char *text, size_t room);

/* 0 outside a job, and where the launcher does not say. */
int ar_rank_in_job(void);

/* The rank among those of this node; the rank in the job where it is not said. */
int ar_rank_on_node(void);

/* Is this the first of the job's ranks on this node that asks, among those that are still there?
 * For what each rank may notice, and one of them is to say.  Ask once; the process answers for the
 * node until it ends.  True outside a job, and where it cannot be told. */
bool ar_rank_is_first_on_node(void);

/* Is the connection to the launcher (Hydra's) that of a rank that has started this process, as by
 * system()?  Then this process is no rank: what it said there would be taken for the rank's words.
 * A script that the launcher has started is no rank either, since it has loaded no MPI library, and
 * what it starts is one. */
bool ar_launcher_is_a_rank_s(void);

/* Has the launcher end the job, which this process is about to leave with this status before
 * MPI_Init.  Most launchers end it by themselves; Hydra is asked to, by PMI-1's "abort", and would
 * otherwise let the other ranks wait in MPI_Init for ever. */
void ar_launcher_end_job(int status);

#endif
