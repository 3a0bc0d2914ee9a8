/* Arenas of shared memory, cut into pieces that communicators borrow.
 *
 * Mapping memory costs tens of microseconds, so an arena outlives the communicator for which it
 * was made.  The next communicator among its ranks borrows a piece, at the cost of one
 * broadcast. */
#ifndef AR_ARENA_H
#define AR_ARENA_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "execute/crowd.h"

struct ar_arena; /* mapped by this process */

/* Of the arenas that may serve further communicators, a node has at most so many bytes.  They
 * are enough for that of the long messages of all its ranks, and some smaller ones.  Of those
 * that nobody uses the ones that were used least recently go first.  Where those in use take
 * all, further arenas are made only for as long as a communicator lives.  So they are for ranks
 * that are not of one MPI_COMM_WORLD. */
#define AR_ARENAS_KEPT_BYTES ((size_t)128 << 20)

/* The piece that a communicator needs. */
struct ar_piece_needs {
    int kind;          /* any number; pieces of one kind are interchangeable */
    size_t slot_bytes; /* a multiple of 64 */
    int slots;         /* per rank */
    int pieces;        /* of an arena that is made for it */
    bool is_optional;  /* not required: no arena is made that would not be kept */
};

/* A piece of an arena that rank 0 of a communicator has found and taken for all its ranks: what it
 * tells them.  Plain data. */
struct ar_piece_offer {
    uint64_t number; /* of the arena; 0: none was found */
    int index;
    struct ar_crowd crowd;
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

/* Finds a piece of this kind that is free in an arena that all the members have mapped, and
 * takes it for them.  It is lost unless each of them has it by ar_piece_take.  False if there is
 * none. */
bool ar_piece_find(struct ar_piece_offer *offer, const struct ar_members *members, int kind);

/* This rank's piece, from an offer that has one and that comes from one of its ranks. */
void ar_piece_take(struct ar_piece *piece, const struct ar_piece_offer *offer);

/* Lends a piece to the ranks of the circle: one that is free in an arena that all of them have
 * mapped, or the first one of a new arena.  Collective over it; the needs of rank 0 apply.  New
 * memory is zeroed; old slots hold what their last users left.  False, alike on all ranks, if one
 * of them fails: the ranks are on several nodes, memory ran out, or the ranks are in containers
 * that share neither /proc nor a /dev/shm with room. */
bool ar_piece_borrow(struct ar_piece *piece, const struct ar_circle *circle,
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
