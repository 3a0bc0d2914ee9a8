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
 * 2n(1 - 2^-h) + n 2^-h (log2 p - h); no scratch.  Where p is not a power of two, pairs of
 * neighbours fold first and unfold last: 2 rounds and n elements sent more, for the
 * ranks of those pairs.
 * Any op: operands are combined in rank order; any p >= 1 and any n >= 0.
 * Source: Rabenseifner, Optimization of collective reduction operations,
 * ICCS 2004, LNCS 3036:1-9; Barnett et al., Interprocessor collective communication library
 * (InterCom), SHPCC 1994 (long vectors within, short ones across).
 */
#include "algorithms/algorithms.h"
#include "algorithms/patterns.h"

/* The bits of i < size, a power of two, in reverse order. */
static int
reverse_bits(int i, int size)
{
    int reversed = 0;
    for (int bit = 1; bit < size; bit *= 2)
        reversed = 2 * reversed + ((i & bit) != 0);
    return reversed;
}

/* The n of the cut's blocks around block whose numbers share all bits above n's. */
static struct ar_span
blocks_around(struct ar_cut cut, int block, int n)
{
    return ar_blocks(cut, block & ~(n - 1), n);
}

static void
exchange(struct ar_schedule *s, int peer, struct ar_span given, struct ar_span kept,
         enum ar_buffer have)
{
    ar_send(s, peer, ar_region_in(have, given));
    ar_recv_combine(s, peer, kept, have, ar_rank_order(s->rank, peer));
    ar_end_round(s);
}

/* The algorithm proper, for number me of the core.  Runs are of length ranks. */
static void
on_core(struct ar_schedule *s, struct ar_core core, int me, int length, enum ar_buffer have)
{
    const struct ar_cut cut = {s->count, length};
    const int block = reverse_bits(me % length, length);

    for (int distance = 1, half = length / 2; half > 0; distance *= 2, half /= 2) {
        exchange(s, ar_core_rank(core, me ^ distance), blocks_around(cut, block ^ half, half),
                 blocks_around(cut, block, half), have);
        have = AR_OUT;
    }
    for (int distance = length; distance < core.size; distance *= 2) {
        exchange(s, ar_core_rank(core, me ^ distance), ar_block(cut, block), ar_block(cut, block),
                 have);
        have = AR_OUT;
    }
    for (int distance = length / 2, half = 1; distance > 0; distance /= 2, half *= 2) {
        const int peer = ar_core_rank(core, me ^ distance);
        ar_send(s, peer, ar_out(blocks_around(cut, block, half)));
        ar_recv(s, peer, ar_out(blocks_around(cut, block ^ half, half)));
        ar_end_round(s);
    }
}

int
ar_rhd(struct ar_schedule *s, int rank, int nranks, size_t count, const struct ar_params *params)
{
    const struct ar_core core = ar_core_make(nranks);
    const int me = ar_core_index(core, rank), halvings = params->halvings;
    const int length = halvings > 0 && core.size >> halvings > 0 ? 1 << halvings : core.size;
    (void)count;

    const enum ar_buffer have = ar_core_fold(s, core);
    if (me >= 0)
        on_core(s, core, me, length, have);
    ar_core_unfold(s, core);
    return ar_schedule_finish(s);
}
