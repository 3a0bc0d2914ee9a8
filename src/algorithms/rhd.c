/* Recursive halving-doubling (Rabenseifner): reduce-scatter by halving what
 * partners exchange, then allgather by doubling it.
 *
 * The nearest partner comes first and the furthest last, contrary to the usual
 * text: then the longest messages, n/2, go between neighbours, which often share
 * a node, and what a rank combines always is a run of neighbours, so that the
 * operands stay in rank order.  The price: rank r's block is at the place whose
 * number is r's bits reversed.
 *
 * With halvings=h (parameter; all: as many as there are) runs of 2^h neighbours halve,
 * and ranks that then have the same part, one of each run, exchange all of it, as the
 * butterfly does: rounds are saved where messages are short by then.
 *
 * Rounds 2 log2 p, sent per rank 2n(p-1)/p elements; with h halvings log2 p + h and
 * 2n(1 - 2^-h) + n 2^-h (log2 p - h); no scratch.  Where p is no power of two, pairs of
 * neighbours fold first and unfold last: 2 rounds and n elements sent more, for the
 * ranks of those pairs.
 * Any op: operands are combined in rank order; any p >= 1 and any n >= 0.
 * Source: Rabenseifner, Optimization of collective reduction operations,
 * ICCS 2004, LNCS 3036:1-9; Barnett et al., Interprocessor collective communication library
 * (InterCom), SHPCC 1994 (long vectors within, short ones across).
 */
#include "algorithms/algorithms.h"
#include "algorithms/patterns.h"
#include "algorithms/phases.h"

/* The active ranks as runs of neighbours, and where the emitting one is. */
struct runs {
    struct ar_fold fold;
    int length; /* of a run, a power of two */
    int run;
    int place; /* in its run */
};

/* The bits of i < size, a power of two, in reverse order. */
static int
reverse_bits(int i, int size)
{
    int reversed = 0;
    for (int bit = 1; bit < size; bit *= 2)
        reversed = 2 * reversed + ((i & bit) != 0);
    return reversed;
}

static int
rank_at(const struct runs *runs, int run, int place)
{
    return ar_fold_rank(runs->fold, run * runs->length + place);
}

/* With reversed numbers the phase that begins with the furthest member begins
 * with the nearest rank. */
static int
rank_in_run(const void *layout, int i)
{
    const struct runs *runs = layout;
    return rank_at(runs, runs->run, reverse_bits(i, runs->length));
}

static int
rank_across(const void *layout, int i)
{
    const struct runs *runs = layout;
    return rank_at(runs, i, runs->place);
}

static void
on_core(struct ar_schedule *s, const struct runs *runs, enum ar_buffer have)
{
    const struct ar_span all = ar_whole(s->count);
    const int part = reverse_bits(runs->place, runs->length);
    const struct ar_group along = {runs->length, part, rank_in_run, runs};
    const struct ar_group across = {runs->fold.core / runs->length, runs->run, rank_across, runs};

    have = ar_halving_reduce_scatter(s, &along, all, have);
    have = ar_exchange(s, &across, ar_subspan(all, runs->length, part), have);
    ar_settle(s, all, have);
    ar_doubling_allgather(s, &along, all);
}

int
ar_rhd(struct ar_schedule *s, int rank, int nranks, size_t count, const struct ar_params *params)
{
    const struct ar_fold fold = ar_fold_make(nranks);
    const int me = ar_fold_index(fold, rank), halvings = params->halvings;
    (void)count;

    const enum ar_buffer have = ar_fold_begin(s, fold);
    if (me >= 0) {
        const int length = halvings > 0 && fold.core >> halvings > 0 ? 1 << halvings : fold.core;
        const struct runs runs = {fold, length, me / length, me % length};
        on_core(s, &runs, have);
    }
    ar_fold_end(s, fold);
    return ar_schedule_finish(s);
}
