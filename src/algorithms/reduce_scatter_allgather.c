/* Reduce-scatter, then allgather, each of a kind to choose: the parameters
 * reduce_scatter = pairwise | halving | ring and allgather = ring | bruck |
 * doubling; any of the one goes with any of the other.
 *
 * Halving and doubling need a power of two: with either, pairs of neighbours fold
 * where p is none, for both phases.
 *
 * Rounds p-1 (pairwise, ring) or log2 p (halving), and p-1 (ring), ceil(log2 p)
 * (bruck) or log2 p (doubling); sent per rank 2n(p-1)/p elements; no scratch.
 * With folding 2 rounds and n elements sent more, for the ranks of the pairs.
 * Needs a commutative op; any p >= 1 and any n >= 0.
 * Source: Thakur, Rabenseifner & Gropp, Int. J. High Perform. Comput. Appl.
 * 19(1):49-66, 2005 (the phases); Bruck et al., IEEE Trans. Parallel Distrib.
 * Syst. 8(11):1143-1156, 1997.
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

static enum ar_buffer
reduce_scatter(struct ar_schedule *s, enum ar_reduce_scatter kind, const struct ar_group *group,
               struct ar_span all, enum ar_buffer have)
{
    switch (kind) {
    case AR_REDUCE_SCATTER_PAIRWISE:
        return ar_pairwise_reduce_scatter(s, group, all, have);
    case AR_REDUCE_SCATTER_HALVING:
        return ar_halving_reduce_scatter(s, group, all, have);
    default:
        return ar_ring_reduce_scatter(s, ar_group_loop(group), all, have);
    }
}

static void
allgather(struct ar_schedule *s, enum ar_allgather kind, const struct ar_group *group,
          struct ar_span all)
{
    switch (kind) {
    case AR_ALLGATHER_BRUCK:
        ar_bruck_allgather(s, group, all);
        break;
    case AR_ALLGATHER_DOUBLING:
        ar_doubling_allgather(s, group, all);
        break;
    default:
        ar_ring_allgather(s, ar_group_loop(group), all);
    }
}

int
ar_reduce_scatter_allgather(struct ar_schedule *s, int rank, int nranks, size_t count,
                            const struct ar_params *params)
{
    const struct ar_span all = ar_whole(count);
    const bool folds = params->reduce_scatter == AR_REDUCE_SCATTER_HALVING ||
                       params->allgather == AR_ALLGATHER_DOUBLING;
    const struct ar_fold fold = folds ? ar_fold_make(nranks) : (struct ar_fold){nranks, nranks, 0};
    const struct ar_group core = {fold.core, ar_fold_index(fold, rank), rank_of_core, &fold};

    const enum ar_buffer have = ar_fold_begin(s, fold);
    if (core.me >= 0) {
        ar_settle(s, all, reduce_scatter(s, params->reduce_scatter, &core, all, have));
        allgather(s, params->allgather, &core, all);
    }
    ar_fold_end(s, fold);
    return ar_schedule_finish(s);
}
