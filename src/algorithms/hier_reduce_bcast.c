/* Topology-aware reduce and broadcast: reduce inside each node to its leader, then
 * among the leaders to the first; back the same ways.
 *
 * All four trees are binomial, so that a vector crosses the network once per node
 * and direction.  With intra=flat (parameter) those inside nodes are flat: 1 round each, and the
 * leader receives, combines and sends as many vectors as its node has other ranks.  Any
 * placement of ranks on nodes; without a node map there is one node.
 *
 * Rounds up to 2 ceil(log2 L) + 2 ceil(log2 N) with L ranks on a node and N nodes;
 * a rank sends n elements up and n to each child; no scratch.
 * Needs a commutative op: it combines in rank order only where each node's ranks
 * are neighbours; any p >= 1 and any n >= 0.
 * Source: Karonis et al., Exploiting hierarchy in parallel computer networks to
 * optimize collective operation performance, IPDPS 2000 (the levels); Intel MPI's
 * allreduce 4, "topology aware reduce + bcast", by its name.
 */
#include "algorithms/algorithms.h"
#include "algorithms/nodes.h"

int
ar_hier_reduce_bcast(struct ar_schedule *s, int rank, int nranks, size_t count,
                     const struct ar_params *params)
{
    const struct ar_span all = ar_whole(count);
    const struct ar_nodes nodes = ar_nodes_make(rank, nranks, params);
    const struct ar_group local = ar_nodes_local(&nodes);

    const enum ar_buffer have = ar_nodes_reduce(s, &local, params->intra);
    if (nodes.local_rank == 0) {
        const struct ar_group leaders = ar_nodes_lane(&nodes);
        ar_binomial_reduce(s, &leaders, all, have);
        ar_binomial_broadcast(s, &leaders, all);
    }
    ar_nodes_broadcast(s, &local, params->intra);
    return ar_schedule_finish(s);
}
