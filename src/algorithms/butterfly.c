/* Butterfly allreduce (recursive doubling): partners at distance 1, 2, 4, ...
 * exchange and combine all they have.
 *
 * Rounds log2 p, and 2 more where p is no power of two (pairs of neighbours fold
 * first); sent per rank n log2 p elements; no scratch.
 * Any op: operands are combined in rank order; any p >= 1 and any n >= 0.
 * Source: Thakur, Rabenseifner & Gropp, Int. J. High Perform. Comput. Appl.
 * 19(1):49-66, 2005.
 */
#include "algorithms/algorithms.h"
#include "algorithms/patterns.h"
#include "algorithms/phases.h"

static int
rank_of_core(const void *layout, int i)
{
    const struct ar_fold *fold = layout;
    return ar_fold_rank(*fold, i);
}

int
ar_butterfly(struct ar_schedule *s, int rank, int nranks, size_t count,
             const struct ar_params *params)
{
    const struct ar_span all = ar_whole(count);
    const struct ar_fold fold = ar_fold_make(nranks);
    const struct ar_group core = {fold.core, ar_fold_index(fold, rank), rank_of_core, &fold};
    (void)params;

    const enum ar_buffer have = ar_fold_begin(s, fold);
    if (core.me >= 0)
        ar_settle(s, all, ar_exchange(s, &core, all, have));
    ar_fold_end(s, fold);
    return ar_schedule_finish(s);
}
