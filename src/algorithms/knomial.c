/* K-nomial allreduce (recursive multiplying): groups of k partners exchange all
 * they have, each with each, then groups of k such groups, and so on.
 *
 * The ranks are cut into at most k ranges of nearly equal length, these again,
 * down to single ranks; on the way back each rank of a range learns from one rank
 * of each other range.  Where a range is shorter than others (by one), some of its
 * ranks teach two, so that no rank has to wait for a fold.
 *
 * Rounds ceil(log_k p); sent per rank (k-1)n log_k p elements where p is a power
 * of k, and at most n more per round where it is not; scratch k vectors.
 * Any op: operands are combined in rank order; any p >= 1 and any n >= 0; radix k
 * (parameter) is cut to p.
 * Source: Ruefenacht, Bull & Booth, Parallel Computing 69:24-44, 2017.
 */
#include "algorithms/algorithms.h"
#include "algorithms/patterns.h"
#include "algorithms/tree.h"

/* All ranks of the range learn its sum; returns where it is. */
static enum ar_buffer
multiply(struct ar_schedule *s, struct ar_range range, int radix)
{
    if (range.n == 1)
        return AR_IN;

    const struct ar_split split = ar_split_make(range, ar_radix_parts(range.n, radix), s->rank);
    const enum ar_buffer have = multiply(s, ar_split_part(&split, split.own), radix);

    for (int i = 0; i < split.parts; i++) {
        if (i != split.own)
            ar_split_teach(s, &split, i, ar_region_in(have, ar_whole(s->count)));
        ar_accumulate(s, have, split.own, i, ar_split_teacher(&split, i, s->rank));
    }
    ar_end_round(s);
    return AR_OUT;
}

int
ar_knomial(struct ar_schedule *s, int rank, int nranks, size_t count,
           const struct ar_params *params)
{
    (void)rank;
    (void)count;

    multiply(s, (struct ar_range){0, nranks}, params->radix);
    return ar_schedule_finish(s);
}
