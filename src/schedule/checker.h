/* The checker: proves the schedules of all ranks of one communicator together,
 * in one process, without MPI. */
#ifndef AR_CHECKER_H
#define AR_CHECKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schedule/queues.h"
#include "schedule/schedule.h"

#define AR_VERDICT_TEXT 256

/* What was refuted, in words: rank, round, step, region.  Rounds and steps are counted from 1. */
struct ar_verdict {
    char text[AR_VERDICT_TEXT]; /* "" when proved */
    int rank;                   /* whose schedule was refuted, at which step; AR_NO_STEP: as a */
    size_t step;                /* whole.  Only when refuted */
    bool in_rank_order;         /* every result combines ranks 0, 1, ..., nranks-1 in this order */
    bool alike;                 /* all elements are combined by the same expression: an element's
                                 * bits do not depend on its place in the vector */
    uint32_t depth;             /* of the deepest expression: the most ops that a contribution
                                 * goes through, each of which may round */
    uint64_t expression;        /* a hash of what element 0 is combined by: equal hashes, equal
                                   expressions (but for one chance in 2^64) */
    uint64_t expressions;       /* the same of all elements in their order */
};

/* Proves nranks schedules, which may come from anywhere (schedules[r] is rank r's, all with the
 * same count):
 *   - sends match receives in size and order, and none is left over;
 *   - no deadlock, even if every send is synchronous;
 *   - no region in flight is read or written against the rules of a round;
 *   - nothing undefined is used;
 *   - each element of OUT of each rank ends as one expression in which every
 *     rank's element stands exactly once, the same expression on all ranks.
 * in_place: IN and OUT are the same memory.
 * Returns AR_OK, AR_ERR_PROOF (verdict->text says why), AR_ERR_MEMORY. */
int ar_check(struct ar_verdict *verdict, const struct ar_schedule *schedules, int nranks,
             bool in_place);

/* Both in place and apart, and that both ways combine each element by the same expression: ranks
 * may differ in what they pass. */
int ar_check_both(struct ar_verdict *verdict, const struct ar_schedule *schedules, int nranks);

/* The same of schedules whose recv_reduce steps combine what they receive as it comes where
 * folding[rank][step], an enum ar_folding, says so.  Proves besides that those steps may do so in
 * whatever order messages come: nothing else that is in flight touches what they write, or writes
 * what they read. */
int ar_check_folded(struct ar_verdict *verdict, const struct ar_schedule *schedules,
                    const unsigned char *const *folding, int nranks, bool in_place);

#endif
