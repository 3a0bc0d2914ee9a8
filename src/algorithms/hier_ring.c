/* Hierarchical ring: reduce inside each node to its leader, a ring of the leaders,
 * broadcast inside each node.
 *
 * Only leaders use the network, and with N nodes instead of p ranks the ring has
 * fewer rounds.  Any placement of ranks on nodes; without a node map there is one
 * node.
 *
 * Inside the nodes (parameter intra), with L ranks on a node
 *   binomial  ceil(log2 L) rounds up and floor(log2 L) down
 *   flat      the leader receives all vectors at once, and sends all at once: 1 round each, as a
 *             history of allreduce has it.  That counts 2(a + S/B) + L S C for it, which takes a
 *             port of its own for every rank; through one port L-1 vectors follow each other
 *
 * 2(N-1) rounds more; a leader sends 2n(N-1)/N elements to other nodes and up to n ceil(log2 L)
 * (flat: (L-1)n) inside its own, other ranks up to that; scratch one vector (flat: L-1).
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

    const enum ar_buffer have = ar_nodes_reduce(s, &local, params->intra);
    if (nodes.local_rank == 0) {
        const struct ar_group leaders = ar_nodes_lane(&nodes);
        const struct ar_loop ring = ar_group_loop(&leaders);
        ar_ring_reduce_scatter(s, ring, all, have);
        ar_ring_allgather(s, ring, all);
    }
    ar_nodes_broadcast(s, &local, params->intra);
    return ar_schedule_finish(s);
}
