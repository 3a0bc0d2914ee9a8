/* Reduce-scatter, then allgather, each of a kind to choose: the parameters
 * reduce_scatter = pairwise | halving | ring and allgather = ring | bruck |
 * doubling; any of the one goes with any of the other.
 *
 * Halving and doubling need a power of two: with either, pairs of neighbours fold
 * where p is not one, for both phases.
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

/* The ranks of the core, of which the emitting one is number me, and the vector in as many blocks.
 */
struct members {
    struct ar_core core;
    int me;
    struct ar_cut cut;
};

static struct ar_loop
ring_of(const struct members *m)
{
    const int n = m->core.size;
    return (struct ar_loop){n, m->me, ar_core_rank(m->core, (m->me + n - 1) % n),
                            ar_core_rank(m->core, (m->me + 1) % n)};
}

/* Every member sends every other its block of the contribution, in each round to a member one
 * further away. */
static void
reduce_scatter_pairwise(struct ar_schedule *s, const struct members *m, enum ar_buffer have)
{
    const int n = m->core.size;
    const struct ar_span mine = ar_block(m->cut, m->me);

    for (int k = 1; k < n; k++) {
        const int to = (m->me + k) % n, from = (m->me + n - k) % n;
        ar_send(s, ar_core_rank(m->core, to), ar_region_in(have, ar_block(m->cut, to)));
        ar_recv_combine(s, ar_core_rank(m->core, from), mine, k == 1 ? have : AR_OUT,
                        AR_RECEIVED_FIRST);
        ar_end_round(s);
    }
}

/* Members at distance n/2, n/4, ..., 1 exchange the halves that they do not keep. */
static void
reduce_scatter_halving(struct ar_schedule *s, const struct members *m, enum ar_buffer have)
{
    for (int half = m->core.size / 2; half > 0; half /= 2) {
        const int other = m->me ^ half, peer = ar_core_rank(m->core, other);
        const struct ar_span kept = ar_blocks(m->cut, m->me & ~(half - 1), half);
        const struct ar_span given = ar_blocks(m->cut, other & ~(half - 1), half);

        ar_send(s, peer, ar_region_in(have, given));
        ar_recv_combine(s, peer, kept, have, ar_rank_order(s->rank, peer));
        ar_end_round(s);
        have = AR_OUT;
    }
}

/* Members at distance 1, 2, 4, ..., n/2 exchange what they have. */
static void
allgather_doubling(struct ar_schedule *s, const struct members *m)
{
    for (int half = 1; half < m->core.size; half *= 2) {
        const int other = m->me ^ half, peer = ar_core_rank(m->core, other);
        ar_send(s, peer, ar_out(ar_blocks(m->cut, m->me & ~(half - 1), half)));
        ar_recv(s, peer, ar_out(ar_blocks(m->cut, other & ~(half - 1), half)));
        ar_end_round(s);
    }
}

/* Every member fetches from the members 1, 2, 4, ... further on what they have. */
static void
allgather_bruck(struct ar_schedule *s, const struct members *m)
{
    const int n = m->core.size;

    for (int have = 1; have < n; have *= 2) {
        const int more = have < n - have ? have : n - have;
        const int ahead = (m->me + have) % n, behind = (m->me + n - have) % n;
        ar_send_blocks(s, ar_core_rank(m->core, behind), AR_OUT, m->cut, m->me, more);
        ar_recv_blocks(s, ar_core_rank(m->core, ahead), m->cut, ahead, more);
        ar_end_round(s);
    }
}

int
ar_reduce_scatter_allgather(struct ar_schedule *s, int rank, int nranks, size_t count,
                            const struct ar_params *params)
{
    const struct ar_span all = ar_whole(count);
    const bool folds = params->reduce_scatter == AR_REDUCE_SCATTER_HALVING ||
                       params->allgather == AR_ALLGATHER_DOUBLING;
    const struct ar_core core = folds ? ar_core_make(nranks) : (struct ar_core){nranks, nranks, 0};
    const struct members m = {core, ar_core_index(core, rank), {count, core.size}};

    const enum ar_buffer have = ar_core_fold(s, core);
    if (m.me >= 0) {
        if (params->reduce_scatter == AR_REDUCE_SCATTER_PAIRWISE)
            reduce_scatter_pairwise(s, &m, have);
        else if (params->reduce_scatter == AR_REDUCE_SCATTER_HALVING)
            reduce_scatter_halving(s, &m, have);
        else
            ar_ring_reduce_scatter(s, ring_of(&m), all, have);
        if (params->allgather == AR_ALLGATHER_BRUCK)
            allgather_bruck(s, &m);
        else if (params->allgather == AR_ALLGATHER_DOUBLING)
            allgather_doubling(s, &m);
        else
            ar_ring_allgather(s, ring_of(&m), all);
    }
    ar_core_unfold(s, core);
    return ar_schedule_finish(s);
}
