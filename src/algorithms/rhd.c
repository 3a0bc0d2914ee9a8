/* Recursive halving-doubling (Rabenseifner): reduce-scatter by halving what
 * partners exchange, then allgather by doubling it.
 *
 * The nearest partner comes first and the furthest last, contrary to the usual
 * text: then the longest messages, n/2, go between neighbours, which often share
 * a node, and what a rank combines always is a run of neighbours, so that the
 * operands stay in rank order.  The price: rank r's block is at the place whose
 * number is r's bits reversed.
 *
 * Rounds 2 log2 p; sent per rank 2n(p-1)/p elements; no scratch.  Where p is no
 * power of two, pairs of neighbours fold first and unfold last: 2 rounds and n
 * elements sent more, for the ranks of those pairs.
 * Any op: operands are combined in rank order; any p >= 1 and any n >= 0.
 * Source: Rabenseifner, Optimization of collective reduction operations,
 * ICCS 2004, LNCS 3036:1-9.
 */
#include "algorithms/algorithms.h"
#include "algorithms/patterns.h"
#include "algorithms/phases.h"

/* The bits of i < size, a power of two, in reverse order. */
static int
reverse_bits(int i, int size)
{
    int reversed = 0;
    for (int bit = 1; bit < size; bit *= 2)
        reversed = 2 * reversed + ((i & bit) != 0);
    return reversed;
}

/* With reversed numbers the phase that begins with the furthest member begins
 * with the nearest rank. */
static int
rank_of_reversed(const void *layout, int i)
{
    const struct ar_fold *fold = layout;
    return ar_fold_rank(*fold, reverse_bits(i, fold->core));
}

int
ar_rhd(struct ar_schedule *s, int rank, int nranks, size_t count, const struct ar_params *params)
{
    const struct ar_span all = ar_whole(count);
    const struct ar_fold fold = ar_fold_make(nranks);
    const int me = ar_fold_index(fold, rank);
    (void)params;

    const enum ar_buffer have = ar_fold_begin(s, fold);
    if (me >= 0) {
        const struct ar_group core = {fold.core, reverse_bits(me, fold.core), rank_of_reversed,
                                      &fold};
        ar_settle(s, all, ar_halving_reduce_scatter(s, &core, all, have));
        ar_doubling_allgather(s, &core, all);
    }
    ar_fold_end(s, fold);
    return ar_schedule_finish(s);
}
