/* Butterfly allreduce (recursive doubling): partners at distance 1, 2, 4, ...
 * exchange and combine all they have.
 *
 * Partners exchange (parameter exchange)
 *   whole   all they have, and both combine all of it
 *   halves  first the half that the other combines, then what they have combined:
 *           twice as many messages of half the length, and half of the arithmetic
 *
 * Where p is not a power of two (parameter unpaired)
 *   fold  pairs of neighbours fold first, and unfold last
 *   copy  in steps of m = 2, 4, 8, ... up to p rounded up, ranks at distance m/2 in
 *         blocks of m exchange.  Only the last block may be short; who has no partner
 *         there gets the result from the block's first rank, once that has it: the
 *         rule of a course on allreduce, which counts ceil(log2 p) rounds for it
 *
 * Rounds log2 p (halves: twice that).  Where p is not a power of two: fold, 2 more than for the
 * power below; copy, 1 more than for the power above.  Sent per rank n log2 p elements; fold, n
 * more; copy, the first rank sends 2^ceil(log2 p) - p vectors behind its last exchange, and what
 * those who get them have combined before is for nothing.  No scratch.
 * Any op: operands are combined in rank order; any p >= 1 and any n >= 0.
 * Source: Thakur, Rabenseifner & Gropp, Int. J. High Perform. Comput. Appl.
 * 19(1):49-66, 2005; halves and copy: a course on allreduce.
 */
#include "algorithms/algorithms.h"
#include "algorithms/patterns.h"

/* Both have the result in OUT then. */
static void
meet(struct ar_schedule *s, int peer, enum ar_buffer have, enum ar_exchange exchange)
{
    const bool is_whole = exchange == AR_EXCHANGE_WHOLE;
    const int half = s->rank > peer; /* that this rank combines */
    const struct ar_span all = ar_whole(s->count);
    const struct ar_span mine = is_whole ? all : ar_subspan(all, 2, half);
    const struct ar_span theirs = is_whole ? all : ar_subspan(all, 2, 1 - half);

    ar_send(s, peer, ar_region_in(have, theirs));
    ar_recv_combine(s, peer, mine, have, ar_rank_order(s->rank, peer));
    ar_end_round(s);
    if (!is_whole) {
        ar_send(s, peer, ar_out(mine));
        ar_recv(s, peer, ar_out(theirs));
        ar_end_round(s);
    }
}

/* Step of blocks of 2 half ranks.  Only the last block may have fewer; of its first half those
 * whose partner does not exist get the result from the block's first rank.  That rank sends it with
 * what it sends next, and waits for nothing. */
static enum ar_buffer
meet_in_block(struct ar_schedule *s, int half, enum ar_buffer have, enum ar_exchange exchange)
{
    const int first = s->rank - s->rank % (2 * half), partner = s->rank ^ half;
    const int n = s->nranks - first; /* ranks of the block, if it is the last */

    if (n <= half) /* all of them have what the block has */
        return have;
    if (partner < s->nranks) {
        meet(s, partner, have, exchange);
        for (int i = n - half; s->rank == first && i < half; i++)
            ar_send(s, first + i, ar_out(ar_whole(s->count)));
    } else {
        ar_recv(s, first, ar_out(ar_whole(s->count)));
        ar_end_round(s);
    }
    return AR_OUT;
}

static void
on_blocks(struct ar_schedule *s, enum ar_exchange exchange)
{
    enum ar_buffer have = AR_IN;

    for (int half = 1; half < s->nranks; half *= 2)
        have = meet_in_block(s, half, have, exchange);
}

static void
on_core(struct ar_schedule *s, enum ar_exchange exchange)
{
    const struct ar_core core = ar_core_make(s->nranks);
    const int me = ar_core_index(core, s->rank);
    enum ar_buffer have = ar_core_fold(s, core);

    for (int distance = 1; me >= 0 && distance < core.size; distance *= 2) {
        meet(s, ar_core_rank(core, me ^ distance), have, exchange);
        have = AR_OUT;
    }
    ar_core_unfold(s, core);
}

int
ar_butterfly(struct ar_schedule *s, int rank, int nranks, size_t count,
             const struct ar_params *params)
{
    (void)rank;
    (void)nranks;
    (void)count;

    if (params->unpaired == AR_UNPAIRED_COPY)
        on_blocks(s, params->exchange);
    else
        on_core(s, params->exchange);
    return ar_schedule_finish(s);
}
