/* Arenas of shared memory, cut into pieces that communicators borrow.
 *
 * Mapping memory costs tens of microseconds, so an arena outlives the
 * communicator that it was made for: the next communicator among its ranks
 * borrows a piece, for the price of one broadcast.
 */
#ifndef AR_ARENA_H
#define AR_ARENA_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ar_arena; /* mapped by this process */

/* What a piece is to be. */
struct ar_piece_wish {
    int kind;          /* any number: pieces of one kind replace each other */
    size_t slot_bytes; /* a multiple of 64 */
    int slots;         /* per rank */
    int pieces;        /* of an arena made for this wish */
    int neighbours;    /* ranks of the whole job on the node, where known */
    bool is_optional;  /* the ranks can do without: no new memory for it beyond what is kept */
};

/* A piece on loan to a communicator. */
struct ar_piece {
    struct ar_arena *arena;
    char *slots;       /* slot t of rank i is number t * stride + i */
    size_t slot_bytes; /* rank 0's wish counts */
    int stride;        /* ranks of the arena: at least the communicator's */
    int ranks;         /* that share the node's cores: of the arena, or of the job */
    int cpus;          /* that the arena's ranks may use together */
    uint64_t sequence; /* no number in the slots' headers is above this */
    int index;         /* in the arena */
};

/* Lends a piece to the nranks ranks of comm: one that is free in an arena that all of them
 * have mapped, or the first one of a new arena.  Collective over comm; rank 0's wish
 * counts.  New memory is zeroed; old slots hold what their last users left.  False, alike on
 * all ranks, where one of them fails: ranks on several nodes, no memory, ranks in containers
 * that share neither /proc nor a /dev/shm with room. */
bool ar_piece_borrow(struct ar_piece *piece, MPI_Comm comm, int rank, int nranks,
                     const struct ar_piece_wish *wish);

/* Gives it back; piece->sequence is the last number this rank has written, the same on all
 * ranks.  No MPI. */
void ar_piece_return(const struct ar_piece *piece);

/* Lets go of what MPI keeps for the arenas, for the last time that it can be called.  Their
 * memory stays, for communicators that go later. */
void ar_arenas_close(void);

/* How many CPUs the ranks of comm, all on one node, may use together.  Collective. */
int ar_cpus_together(MPI_Comm comm, int rank);

#endif
