/* Hierarchical ring: reduce inside each node to its leader, a ring of the leaders,
 * broadcast inside each node.
 *
 * Only leaders use the network, and with N nodes instead of p ranks the ring has
 * fewer rounds.  Any placement of ranks on nodes; without a node map there is one
 * node.
 *
 * Rounds 2 ceil(log2 L) + 2(N-1) with L ranks on a node; a leader sends
 * 2n(N-1)/N elements to other nodes and up to n ceil(log2 L) inside its own, other
 * ranks up to that; no scratch.
 * Needs a commutative op; any p >= 1 and any n >= 0.
 * Source: Jia et al., Highly scalable deep learning training system with
 * mixed-precision: training ImageNet in four minutes, arXiv 1807.11205, 2018.
 */
#include "algorithms/algorithms.h"
#include "algorithms/nodes.h"

int
ar_hier_ring(struct ar_schedule *s, int rank, int nranks, size_t count,
             const struct ar_params *params)
{
    const struct ar_span all = ar_whole(count);
    const struct ar_nodes nodes = ar_nodes_make(rank, nranks, params);
    const struct ar_group local = ar_nodes_local(&nodes);

    const enum ar_buffer have = ar_binomial_reduce(s, &local, all, AR_IN);
    if (nodes.local_rank == 0) {
        const struct ar_group leaders = ar_nodes_lane(&nodes);
        const struct ar_loop ring = ar_group_loop(&leaders);
        ar_ring_reduce_scatter(s, ring, all, have);
        ar_ring_allgather(s, ring, all);
    }
    ar_binomial_broadcast(s, &local, all);
    return ar_schedule_finish(s);
}
