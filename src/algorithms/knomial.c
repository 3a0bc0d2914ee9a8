/* K-nomial allreduce (recursive multiplying): groups of k partners exchange all
 * they have, each with each, then groups of k such groups, and so on.
 *
 * The ranks are cut into k ranges of nearly equal length, these again, down to
 * single ranks; on the way back each rank of a range learns from one rank of
 * each other range.  Where ranges differ in length (by one), the last rank of a
 * shorter range serves two, so that no rank has to wait for a fold.
 *
 * Rounds ceil(log_k p); sent per rank (k-1)n log_k p elements where p is a power
 * of k, less than twice that else; scratch k vectors.
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

    const int parts = radix < range.n ? radix : range.n;
    const int own = ar_range_part_of(range, parts, s->rank);
    const struct ar_range mine = ar_range_part(range, parts, own);
    const enum ar_buffer have = multiply(s, mine, radix);

    for (int i = 0; i < parts; i++) {
        const struct ar_range other = ar_range_part(range, parts, i);
        if (i != own)
            ar_range_teach(s, mine, other, ar_region_in(have, ar_whole(s->count)));
        ar_accumulate(s, have, own, i, ar_range_teacher(mine, other, s->rank));
    }
    ar_end_round(s);
    return AR_OUT;
}

int
ar_knomial(struct ar_schedule *s, int rank, int nranks, size_t count,
           const struct ar_params *params)
{
    const struct ar_span all = ar_whole(count);
    (void)rank;

    if (multiply(s, (struct ar_range){0, nranks}, params->radix) == AR_IN)
        ar_copy(s, ar_out(all), ar_in(all));
    return ar_schedule_finish(s);
}
