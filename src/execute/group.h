/* Groups of processes that outlive the communicator from which they came, and parts of
 * communicators. */
#ifndef AR_GROUP_H
#define AR_GROUP_H

#include <mpi.h>
#include <stdbool.h>

/* The group of comm's nranks ranks, for the caller to free.  MPI_GROUP_NULL if it could not
 * be kept: there is no MPI_COMM_WORLD, or comm reaches beyond it (MPI_Comm_spawn). */
MPI_Group ar_group_of(MPI_Comm comm, int nranks);

/* Is comm's group seen at a glance to be that of MPI_COMM_WORLD, in its order?  In Open MPI it is
 * if comm is the world or a copy of it, and in MPICH if it is the world. */
bool ar_comm_is_like_world(MPI_Comm comm);

/* Records that the program has merged an intercommunicator.  Only such a communicator, or what is
 * made from it, can have ranks of another MPI_COMM_WORLD (MPI_Comm_spawn, MPI_Comm_accept). */
void ar_comm_note_merge(void);

/* Has comm such ranks?  Those of another world may run without this library, and would never answer
 * a message.  Each rank finds the same alone. */
bool ar_comm_leaves_world(MPI_Comm comm);

/* Whether all of comm's nranks ranks are in group. */
bool ar_group_covers(MPI_Group group, MPI_Comm comm, int nranks);

/* Like PMPI_Allreduce in place, whose symbol is ours in Open MPI.  Collective over comm.  It blocks
 * inside MPI, like all collectives with which ranks set something up: they do so between runs, when
 * no message of a channel is under way.  MPI_SUCCESS or an MPI error. */
int ar_reduce_all(void *numbers, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm);

/* Like PMPI_Comm_split, by colour_of[rank], or all ranks if colour_of is NULL; ranks keep their
 * order.  Collective over comm.  MPI_SUCCESS or an MPI error; in Open MPI MPI_ERR_COMM, on all
 * ranks and without a message, if the program has had comm copied by MPI_Comm_idup. */
int ar_comm_split(MPI_Comm *part, MPI_Comm comm, const int *colour_of, int rank, int nranks);

/* Records that the program copies comm by MPI_Comm_idup, which may be under way at the next
 * split. */
void ar_comm_note_copy(MPI_Comm comm);

/* Makes *own, a communicator of the ranks of comm in their order, for the caller to free.  Messages
 * on comm itself might match the program's.  Collective over comm.  False, alike on all ranks, if
 * MPI has no communicator left. */
bool ar_comm_own(MPI_Comm *own, MPI_Comm comm);

/* Whether every rank of comm says yes.  False if MPI fails.  Collective over comm. */
bool ar_all(MPI_Comm comm, bool says_yes);

/* numbers gets the number in group of each of comm's nranks ranks.  False if one of them is not
 * in it, or if memory runs out. */
bool ar_group_number(int *numbers, MPI_Group group, MPI_Comm comm, int nranks);

/* Is there an MPI_COMM_WORLD?  Not with sessions alone, nor before MPI_Init.  True behind
 * MPI_Finalize, too. */
bool ar_world_is_there(void);

/* This process's rank in MPI_COMM_WORLD, and how many there are; neither is set where there is no
 * world: with sessions alone, before MPI_Init, and behind MPI_Finalize.  A program of sessions may
 * begin a world later, so that who found none asks again. */
void ar_world_find(int *rank, int *nranks);

/* The numbers of comm's nranks ranks in MPI_COMM_WORLD, for the caller to free; NULL if one of them
 * has none there, or if memory runs out. */
int *ar_world_ranks(MPI_Comm comm, int nranks);

#endif
