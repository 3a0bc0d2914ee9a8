/* The schedule: what one rank does in an allreduce, as data.
 *
 * A schedule is a list of rounds, and a round is a list of steps.  A step works on
 * regions of three buffers: IN (the caller's contribution, read only), OUT (the
 * result) and TMP (scratch).  Offsets and lengths are in elements of the
 * reduced type, so that a schedule needs no types, no pointers and no MPI.
 *
 * A round has the same meaning for the executor and for the checker:
 *   - First all its sends and receives are posted, and all of them complete.
 *   - Then its local part (copy, reduce, and the folding of what recv_reduce
 *     received) runs, in the order of the steps.
 *   - Therefore no region that a recv writes is read by a send of the round or
 *     written by another recv.  The local part may overwrite what was sent and
 *     read what was received.
 *   - Messages between two ranks match in the order of their steps.
 * IN and OUT may be the same memory (MPI_IN_PLACE).
 */
#ifndef AR_SCHEDULE_H
#define AR_SCHEDULE_H

#include <stddef.h>

#include "schedule/error.h"

enum ar_buffer { AR_IN, AR_OUT, AR_TMP };

/* offset and length in elements, without a buffer. */
struct ar_span {
    size_t offset;
    size_t length;
};

/* length elements of one buffer from offset on.  Packed, and so is a step: a ring of 65,536 ranks
 * has 262,140 of them on each rank. */
struct ar_region {
    enum ar_buffer buffer : 2;
    size_t offset : 62;
    size_t length;
};

enum ar_step_kind {
    AR_SEND,        /* a -> peer */
    AR_RECV,        /* dst <- peer */
    AR_RECV_REDUCE, /* dst = a op received, or received op a: see order */
    AR_COPY,        /* dst = a */
    AR_REDUCE       /* dst = a op b */
};

/* Which operand is on the left of the op in a recv_reduce. */
enum ar_order { AR_LOCAL_FIRST, AR_RECEIVED_FIRST };

struct ar_step {
    enum ar_step_kind kind : 16;
    enum ar_order order : 16; /* recv_reduce only */
    int peer;                 /* rank; -1 for copy and reduce */
    struct ar_region dst;     /* unused regions have length 0 */
    struct ar_region a;
    struct ar_region b;
};

struct ar_schedule {
    int rank;
    int nranks;
    size_t count;          /* elements of IN and OUT */
    size_t tmp_length;     /* elements of TMP that the steps touch */
    struct ar_step *steps; /* owned */
    size_t nsteps;
    size_t *round_end; /* owned; round r is steps [round_end[r-1], round_end[r]) */
    size_t nrounds;
    size_t steps_room; /* of the builder */
    size_t rounds_room;
    int error; /* AR_OK, or the first error of an emitter */
};

/* Initialises s as an empty schedule for rank of nranks (0 <= rank < nranks) and count elements. */
void ar_schedule_init(struct ar_schedule *s, int rank, int nranks, size_t count);
void ar_schedule_fini(struct ar_schedule *s);

/* Frees those of nranks ranks with the array, which was allocated.  NULL is ignored. */
void ar_schedules_destroy(struct ar_schedule *schedules, int nranks);

/* Emitters append a step to the current round.  They return nothing: the first
 * error is kept, and ar_schedule_finish returns it.  Steps of length 0 are
 * dropped on the sender and on the receiver, so blocks may be empty.
 * Errors: AR_ERR_STEP if the peer is not another rank of the communicator, if a
 * region exceeds IN or OUT, if lengths differ, or if IN would be written;
 * AR_ERR_MEMORY. */
void ar_send(struct ar_schedule *s, int peer, struct ar_region a);
void ar_recv(struct ar_schedule *s, int peer, struct ar_region dst);
void ar_recv_reduce(struct ar_schedule *s, int peer, struct ar_region dst, struct ar_region a,
                    enum ar_order order);
void ar_copy(struct ar_schedule *s, struct ar_region dst, struct ar_region a);

/* dst = a op b.  If dst is a, b is undefined afterwards (so it must not be IN). */
void ar_reduce(struct ar_schedule *s, struct ar_region dst, struct ar_region a, struct ar_region b);

/* Ends the round; a round without steps is dropped. */
void ar_end_round(struct ar_schedule *s);

/* Keeps an error of the caller's, if it is the first error. */
void ar_schedule_fail(struct ar_schedule *s, int error);

/* Ends the last round and returns AR_OK or the first error. */
int ar_schedule_finish(struct ar_schedule *s);

/* Gives back the room of a finished schedule that is to be kept. */
void ar_schedule_trim(struct ar_schedule *s);

struct ar_region ar_in(struct ar_span span);
struct ar_region ar_out(struct ar_span span);
struct ar_region ar_tmp(struct ar_span span);

/* A vector of count elements cut into parts blocks whose lengths differ by at
 * most one, the longer ones first.  This is the only place with block arithmetic. */
struct ar_cut {
    size_t count;
    int parts; /* >= 1 */
};

/* Block i, taken modulo parts, so that i - 1 and i + 1 need no special care
 * (i > -parts). */
struct ar_span ar_block(struct ar_cut cut, int i);

/* Blocks first .. first+n-1, without wrapping: 0 <= first, first+n <= parts. */
struct ar_span ar_blocks(struct ar_cut cut, int first, int n);

/* All of 0..count-1. */
struct ar_span ar_whole(size_t count);

/* Part i of a span cut into parts. */
struct ar_span ar_subspan(struct ar_span span, int parts, int i);

#endif
