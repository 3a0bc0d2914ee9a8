/* Arenas of shared memory, cut into pieces that communicators borrow.
 *
 * Mapping memory costs tens of microseconds, so an arena outlives the
 * communicator for which it was made: the next communicator among its ranks
 * borrows a piece, at the cost of one broadcast.
 */
#ifndef AR_ARENA_H
#define AR_ARENA_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "execute/crowd.h"

struct ar_arena; /* mapped by this process */

/* Of the arenas that nobody uses, a node keeps at most so many bytes: enough for that of the long
 * messages of all its ranks, and some smaller ones.  Those that were used least recently go first.
 * A process of which communicators in use have so many bytes as their rank 0 makes further arenas
 * only for as long as a communicator lives.  So it does for ranks that are not of one
 * MPI_COMM_WORLD. */
#define AR_ARENAS_KEPT_BYTES ((size_t)128 << 20)

/* The piece that a communicator needs. */
struct ar_piece_needs {
    int kind;          /* any number; pieces of one kind are interchangeable */
    size_t slot_bytes; /* a multiple of 64 */
    int slots;         /* per rank */
    int pieces;        /* of an arena that is made for it */
    bool is_optional;  /* not required: no arena is made that would not be kept */
    bool is_futile;    /* the ranks cannot share memory: none is made */
};

/* A piece on loan to a communicator. */
struct ar_piece {
    struct ar_arena *arena;
    char *slots;           /* slot t of rank i is number t * stride + i */
    size_t slot_bytes;     /* as rank 0 needs them */
    int stride;            /* ranks of the arena: at least the communicator's */
    struct ar_crowd crowd; /* of the arena's ranks, when it was mapped */
    uint64_t sequence;     /* no number in the slots' headers is higher */
    int index;             /* in the arena */
};

/* Lends a piece to the nranks ranks of comm: one that is free in an arena that all of them
 * have mapped, or the first one of a new arena.  Collective over comm; the needs of rank 0
 * apply.  New memory is zeroed; old slots hold what their last users left.  False, alike on
 * all ranks, if one of them fails: the ranks are on several nodes, memory ran out, or the ranks
 * are in containers that share neither /proc nor a /dev/shm with room. */
bool ar_piece_borrow(struct ar_piece *piece, MPI_Comm comm, int rank, int nranks,
                     const struct ar_piece_needs *needs);

/* Sets domain[d * nranks + r] to domain d (algorithms/domains.h) of rank r of comm, as of the time
 * when the arena was mapped.  The ranks wrote it into the arena then, so this is not
 * collective.  False if memory runs out. */
bool ar_piece_domains(const struct ar_piece *piece, int *domain, MPI_Comm comm, int nranks);

/* Returns the piece; piece->sequence is the last number that this rank has written, the same on
 * all ranks.  Calls no MPI. */
void ar_piece_return(const struct ar_piece *piece);

/* No piece is lent any more: MPI ends.  Memory stays, for communicators that are freed later. */
void ar_arenas_close(void);

#endif
