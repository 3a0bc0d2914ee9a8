/* Butterfly allreduce (recursive doubling): partners at distance 1, 2, 4, ...
 * exchange and combine all they have.
 *
 * Partners exchange (parameter exchange)
 *   whole   all they have, and both combine all of it
 *   halves  first the half that the other combines, then what they have combined:
 *           twice as many messages of half the length, and half of the arithmetic
 *
 * Rounds log2 p (halves: twice that), and 2 more where p is not a power of two (pairs of
 * neighbours fold first); sent per rank n log2 p elements; no scratch.
 * Any op: operands are combined in rank order; any p >= 1 and any n >= 0.
 * Source: Thakur, Rabenseifner & Gropp, Int. J. High Perform. Comput. Appl.
 * 19(1):49-66, 2005; halves: a course on allreduce.
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

int
ar_butterfly(struct ar_schedule *s, int rank, int nranks, size_t count,
             const struct ar_params *params)
{
    const struct ar_core core = ar_core_make(nranks);
    const int me = ar_core_index(core, rank);
    (void)count;

    enum ar_buffer have = ar_core_fold(s, core);
    for (int distance = 1; me >= 0 && distance < core.size; distance *= 2) {
        meet(s, ar_core_rank(core, me ^ distance), have, params->exchange);
        have = AR_OUT;
    }
    ar_core_unfold(s, core);
    return ar_schedule_finish(s);
}
