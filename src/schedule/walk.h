/* The walk over a schedule: where a round begins, and which receive a send meets.  Whoever runs
 * or measures schedules asks here.  Two do not, on purpose: the checker and the interpreter that
 * judges its mutants (test/unit/test_mutants.c).  A proof that shared its walk with what it proves
 * would share its mistake.  Pure. */
#ifndef AR_WALK_H
#define AR_WALK_H

#include <stdbool.h>
#include <stddef.h>

#include "schedule/schedule.h"

/* The first step of a round; its last one is before s->round_end[round].  0 <= round <= nrounds. */
static inline size_t
ar_round_begin(const struct ar_schedule *s, size_t round)
{
    return round ? s->round_end[round - 1] : 0;
}

static inline bool
ar_step_receives(const struct ar_step *step)
{
    return step->kind == AR_RECV || step->kind == AR_RECV_REDUCE;
}

/* A send or a receive, rather than a step that needs no other rank? */
static inline bool
ar_step_is_message(const struct ar_step *step)
{
    return step->kind == AR_SEND || ar_step_receives(step);
}

/* One side of a message between two ranks. */
struct ar_half {
    int from, to;
    size_t at; /* the caller's number for it, which grows in the order of the rank's steps */
};

/* Pairs messages: the k-th send from one rank to another meets the k-th receive of it there.
 * Sorts both arrays, after which sends[i] and receives[i] are one message.  AR_ERR_PROOF where
 * they do not pair. */
int ar_halves_pair(struct ar_half *sends, size_t nsends, struct ar_half *receives,
                   size_t nreceives);

#endif
