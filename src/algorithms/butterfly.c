/* Butterfly allreduce (recursive doubling): partners at distance 1, 2, 4, ...
 * exchange and combine all they have.
 *
 * Rounds log2 p, and 2 more where p is not a power of two (pairs of neighbours fold
 * first); sent per rank n log2 p elements; no scratch.
 * Any op: operands are combined in rank order; any p >= 1 and any n >= 0.
 * Source: Thakur, Rabenseifner & Gropp, Int. J. High Perform. Comput. Appl.
 * 19(1):49-66, 2005.
 */
#include "algorithms/algorithms.h"
#include "algorithms/patterns.h"

int
ar_butterfly(struct ar_schedule *s, int rank, int nranks, size_t count,
             const struct ar_params *params)
{
    const struct ar_span all = ar_whole(count);
    const struct ar_core core = ar_core_make(nranks);
    const int me = ar_core_index(core, rank);
    (void)params;

    enum ar_buffer have = ar_core_fold(s, core);
    for (int distance = 1; me >= 0 && distance < core.size; distance *= 2) {
        const int peer = ar_core_rank(core, me ^ distance);
        ar_send(s, peer, ar_region_in(have, all));
        ar_recv_combine(s, peer, all, have, ar_rank_order(rank, peer));
        ar_end_round(s);
        have = AR_OUT;
    }
    ar_core_unfold(s, core);
    return ar_schedule_finish(s);
}
