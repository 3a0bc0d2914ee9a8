#include "schedule/folding.h"

#include <stdbool.h>

#include "schedule/walk.h"

static bool
overlap(struct ar_region a, struct ar_region b, bool in_place)
{
    const bool same_memory =
        a.buffer == b.buffer || (in_place && a.buffer != AR_TMP && b.buffer != AR_TMP);
    return same_memory && a.offset < b.offset + b.length && b.offset < a.offset + a.length;
}

/* Longer rounds are not looked through: that takes the square of their length. */
#define LONGEST_ROUND 64

/* May step i, of a round with steps begin to end - 1, combine what it receives as it comes? */
static bool
may_fold(const struct ar_schedule *s, size_t begin, size_t end, size_t i, bool in_place)
{
    const struct ar_step *const step = &s->steps[i];
    if (step->kind != AR_RECV_REDUCE || end - begin > LONGEST_ROUND)
        return false;
    /* A region that lies in part on itself would be combined with what it became. */
    if (step->a.offset != step->dst.offset && overlap(step->a, step->dst, in_place))
        return false;
    for (size_t j = begin; j < end; j++) {
        const struct ar_step *const other = &s->steps[j];
        if (j != i &&
            (overlap(other->a, step->dst, in_place) || overlap(other->b, step->dst, in_place) ||
             overlap(other->dst, step->dst, in_place) || overlap(other->dst, step->a, in_place)))
            return false;
    }
    return true;
}

void
ar_folding_find(unsigned char *folding, const struct ar_schedule *s)
{
    for (size_t round = 0; round < s->nrounds; round++) {
        const size_t begin = ar_round_begin(s, round), end = s->round_end[round];
        for (size_t i = begin; i < end; i++)
            folding[i] = may_fold(s, begin, end, i, true)    ? AR_FOLD_AT_ONCE
                         : may_fold(s, begin, end, i, false) ? AR_FOLD_UNLESS_IN_PLACE
                                                             : AR_FOLD_LATE;
    }
}
