/* Groups of processes that outlive the communicator from which they came, parts of communicators,
 * and communicators of ours. */
#ifndef AR_GROUP_H
#define AR_GROUP_H

#include <mpi.h>
#include <stdbool.h>

/* Ranks of MPI_COMM_WORLD, which can be compared without MPI, and so under a lock. */
struct ar_members {
    int n;
    struct ar_member {
        int world, number; /* in MPI_COMM_WORLD, and among these */
    } sorted[];            /* by world */
};

/* Processes that set something up together.  With MPI's collectives these are all ranks of comm.
 * Otherwise they are some of the ranks of a communicator of ours: messages go to and from the first
 * one, and no other rank takes part. */
struct ar_circle {
    MPI_Comm comm;
    int rank, n;      /* of this process among them, and how many there are */
    const int *ranks; /* their ranks in comm; NULL: all of comm, by MPI's collectives */
    int tag;          /* of messages */
};

struct ar_circle ar_circle_of(MPI_Comm comm, int rank, int nranks);

/* All get the first one's bytes.  Collective over the circle.  MPI_SUCCESS or an MPI error. */
int ar_circle_tell(const struct ar_circle *circle, void *data, int bytes);

/* All get the bits that any of them has.  Likewise. */
int ar_circle_unite(const struct ar_circle *circle, void *bits, int bytes);

/* Whether every one says yes; false if MPI fails.  Collective over the circle. */
bool ar_circle_all(const struct ar_circle *circle, bool says_yes);

/* The ranks of the circle, numbered as there, for the caller to free.  NULL if there is no
 * MPI_COMM_WORLD, if comm reaches beyond it (MPI_Comm_spawn), or without memory. */
struct ar_members *ar_members_of(const struct ar_circle *circle);

/* Are all of some among all?  numbers, which may be NULL, then gets the number there of each.
 * False, too, where one of them is NULL. */
bool ar_members_number(int *numbers, const struct ar_members *all, const struct ar_members *some);

/* Records that the program has merged an intercommunicator.  Only such a communicator, or what is
 * made from it, can have ranks of another MPI_COMM_WORLD (MPI_Comm_spawn, MPI_Comm_accept). */
void ar_comm_note_merge(void);

/* Has comm such ranks?  Those of another world may run without this library, and would never answer
 * a message.  Each rank finds the same alone. */
bool ar_comm_leaves_world(MPI_Comm comm);

/* Has comm a rank with a lower number in MPI_COMM_WORLD than this one, or, where there is no world,
 * in comm?  Each rank finds out alone. */
bool ar_comm_has_lower(MPI_Comm comm);

/* Like PMPI_Allreduce in place, whose symbol is ours in Open MPI.  Collective over comm.  It blocks
 * inside MPI, like all collectives with which ranks set something up: they do so between runs, when
 * no message of a channel is under way.  MPI_SUCCESS or an MPI error. */
int ar_reduce_all(void *numbers, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm);

/* Like PMPI_Comm_split, by colour_of[rank], or all ranks if colour_of is NULL; ranks keep their
 * order, and errors on *part are returned.  Collective over comm.  MPI_SUCCESS or an MPI error; in
 * Open MPI MPI_ERR_COMM, on all ranks and without a message, if the program has had comm copied by
 * MPI_Comm_idup.
 *
 * That MPI has no communicator left calls no handler of the program: errors are returned during
 * this one call, and then the handler is the program's again.  Under MPI_THREAD_MULTIPLE MPICH has
 * two exceptions for a communicator that follows MPI_COMM_WORLD's handler.  If that is
 * MPI_ERRORS_ARE_FATAL, it becomes the communicator's own; otherwise it is called. */
int ar_comm_split(MPI_Comm *part, MPI_Comm comm, const int *colour_of, int rank);

/* Records that the program copies comm by MPI_Comm_idup, which may be under way at the next
 * split. */
void ar_comm_note_copy(MPI_Comm comm);

/* Makes *own, a communicator of the ranks of comm in their order, for the caller to free.  Messages
 * on comm itself might match the program's.  Collective over comm.  False, alike on all ranks, if
 * MPI has no communicator left. */
bool ar_comm_own(MPI_Comm *own, MPI_Comm comm);

/* A communicator of this process alone, on which errors are returned: for questions to MPI that it
 * answers by an error.  MPI_COMM_NULL if there is no world or MPI has none left.  Local,
 * thread-safe. */
MPI_Comm ar_comm_self(void);

/* Frees it, while MPI can still be called. */
void ar_comm_self_close(void);

/* Whether every rank of comm says yes.  False if MPI fails.  Collective over comm. */
bool ar_all(MPI_Comm comm, bool says_yes);

/* Is there an MPI_COMM_WORLD?  Not with sessions alone, nor before MPI_Init.  True behind
 * MPI_Finalize, too. */
bool ar_world_is_there(void);

/* Has MPI_Finalize returned?  Sessions may go on behind it, without us. */
bool ar_world_has_ended(void);

/* This process's rank in MPI_COMM_WORLD, and how many there are; neither is set where there is no
 * world: with sessions alone, before MPI_Init, and behind MPI_Finalize.  A program of sessions may
 * begin a world later, so that who found none asks again. */
void ar_world_find(int *rank, int *nranks);

/* The numbers of comm's nranks ranks in MPI_COMM_WORLD, for the caller to free; NULL if one of them
 * has none there, or if memory runs out. */
int *ar_world_ranks(MPI_Comm comm, int nranks);

#endif
