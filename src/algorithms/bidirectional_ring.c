/* Bidirectional ring: two rings at once, one half of the vector each way round.
 *
 * Rounds 2(p-1), each with half the ring's message to either side, so that links
 * which carry both directions at full speed take half the time; sent per rank
 * 2n(p-1)/p elements; no scratch.
 * order=node as in the ring: neighbours share a node wherever the ranks are.
 * Needs a commutative op; any p >= 1 and any n >= 0.
 * Source: the ring of Patarasuk & Yuan, J. Parallel Distrib. Comput.
 * 69(2):117-124, 2009, both ways; as a pair of rings in Jain & Sabharwal,
 * Optimal bucket algorithms for large MPI collectives on torus interconnects,
 * ICS 2010.
 */
#include "algorithms/algorithms.h"
#include "algorithms/nodes.h"
#include "algorithms/phases.h"

int
ar_bidirectional_ring(struct ar_schedule *s, int rank, int nranks, size_t count,
                      const struct ar_params *params)
{
    const struct ar_span all = ar_whole(count);
    const struct ar_span there = ar_subspan(all, 2, 0), back = ar_subspan(all, 2, 1);
    const struct ar_loop at = ar_nodes_ring(rank, nranks, params);
    /* Place i is member i+1, so that it begins with part i as in the ring. */
    const int me = (at.me + 1) % nranks;
    const struct ar_loop ring = {nranks, me, at.left, at.right};
    const struct ar_loop mirror = {nranks, nranks - 1 - me, at.right, at.left};

    for (int k = 0; k < nranks - 1; k++) {
        ar_ring_reduce_round(s, ring, there, AR_IN, k);
        ar_ring_reduce_round(s, mirror, back, AR_IN, k);
        ar_end_round(s);
    }
    for (int k = 0; k < nranks - 1; k++) {
        ar_ring_gather_round(s, ring, there, k);
        ar_ring_gather_round(s, mirror, back, k);
        ar_end_round(s);
    }
    return ar_schedule_finish(s);
}
