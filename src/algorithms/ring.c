/* Ring allreduce: reduce-scatter, then allgather, both round a ring.
 *
 * Also segmented_ring, on segments of a long message: while the executor keeps a window of them in
 * flight, one segment is combined as the next is under way, and a block stays in cache from its
 * arrival to its departure.  This is the schedule of one segment, then.
 *
 * With order=node the ring goes from node to node and visits all ranks of one before the next, so
 * that neighbours share a node wherever the ranks are: with N nodes only N messages of a round
 * cross the network, where with order=rank and ranks placed cyclically all p do.  Rounds and bytes
 * of a rank are the same.
 *
 * Rounds 2(p-1); sent per rank 2n(p-1)/p elements; no scratch.
 * Needs a commutative op; any p >= 1 and any n >= 0.
 * Source: Patarasuk & Yuan, J. Parallel Distrib. Comput. 69(2):117-124, 2009; segments as in
 * Open MPI's segmented ring and Intel MPI's Shumilin's ring.
 */
#include "algorithms/algorithms.h"
#include "algorithms/nodes.h"

int
ar_ring(struct ar_schedule *s, int rank, int nranks, size_t count, const struct ar_params *params)
{
    const struct ar_cut cut = {count, nranks};
    const struct ar_loop ring = ar_nodes_ring(rank, nranks, params);
    const int me = ring.me, left = ring.left, right = ring.right;

    /* Reduce-scatter.  After round k, block me-k-1 has k+2 addends. */
    for (int k = 0; k < nranks - 1; k++) {
        const struct ar_span sent = ar_block(cut, me - k), got = ar_block(cut, me - k - 1);
        ar_send(s, right, k == 0 ? ar_in(sent) : ar_out(sent));
        ar_recv_reduce(s, left, ar_out(got), ar_in(got), AR_RECEIVED_FIRST);
        ar_end_round(s);
    }

    /* Allgather.  Block me+1 is complete. */
    for (int k = 0; k < nranks - 1; k++) {
        ar_send(s, right, ar_out(ar_block(cut, me + 1 - k)));
        ar_recv(s, left, ar_out(ar_block(cut, me - k)));
        ar_end_round(s);
    }
    return ar_schedule_finish(s);
}
