/* Topology-aware gather and scatter: reduce inside each node to its leader; gather
 * the leaders' vectors at the first, which folds them all and sends the result
 * back; broadcast inside each node.
 *
 * The first leader alone combines what comes from other nodes, in their order and
 * in one run; the vectors come and the result goes along a binomial tree.  So does it inside
 * nodes, or all at once there (parameter intra: binomial, flat).  Any placement of
 * ranks on nodes; without a node map there is one node.
 *
 * Rounds up to 2 ceil(log2 L) + 2 ceil(log2 N) with L ranks on a node and N nodes;
 * a leader sends the vectors of its subtree, up to nN/2 elements; scratch up to
 * n(N-1), at the first leader.
 * Needs a commutative op: it combines in rank order only where each node's ranks
 * are neighbours; any p >= 1 and any n >= 0.
 * Source: Karonis et al., Exploiting hierarchy in parallel computer networks to
 * optimize collective operation performance, IPDPS 2000 (the levels); Intel MPI's
 * allreduce 6, "topology aware binomial gather + scatter", by its name.
 */
#include "algorithms/algorithms.h"
#include "algorithms/nodes.h"
#include "algorithms/patterns.h"

/* n vectors of TMP from vector first on. */
static struct ar_region
vectors(const struct ar_schedule *s, int first, int n)
{
    return ar_tmp((struct ar_span){(size_t)first * s->count, (size_t)n * s->count});
}

/* Member me's subtree is members me .. me+distance-1; its own vector is in have and
 * those of the others follow each other in TMP. */
static void
gather(struct ar_schedule *s, const struct ar_group *group, enum ar_buffer have)
{
    const int n = group->size, me = group->me;
    int distance = 1;

    for (; distance < n && !(me & distance); distance *= 2) {
        const int child = me + distance;
        const int more = distance < n - child ? distance : n - child; /* vectors there */
        if (child >= n)
            continue;
        ar_recv(s, ar_group_rank(group, child), vectors(s, distance - 1, 1));
        ar_recv(s, ar_group_rank(group, child), vectors(s, distance, more - 1));
        ar_end_round(s);
    }
    if (me > 0) {
        const int mine = distance < n - me ? distance : n - me;
        ar_send(s, ar_group_rank(group, me - distance), ar_region_in(have, ar_whole(s->count)));
        ar_send(s, ar_group_rank(group, me - distance), vectors(s, 0, mine - 1));
        ar_end_round(s);
    }
}

int
ar_hier_gather_scatter(struct ar_schedule *s, int rank, int nranks, size_t count,
                       const struct ar_params *params)
{
    const struct ar_span all = ar_whole(count);
    const struct ar_nodes nodes = ar_nodes_make(rank, nranks, params);
    const struct ar_group local = ar_nodes_local(&nodes);

    enum ar_buffer have = ar_nodes_reduce(s, &local, params->intra);
    if (nodes.local_rank == 0) {
        const struct ar_group leaders = ar_nodes_lane(&nodes);
        gather(s, &leaders, have);
        for (int i = 0; nodes.mine == 0 && i < nodes.count - 1; i++) {
            ar_reduce(s, ar_out(all), ar_region_in(have, all), vectors(s, i, 1));
            have = AR_OUT;
        }
        ar_end_round(s);
        ar_binomial_broadcast(s, &leaders, all);
    }
    ar_nodes_broadcast(s, &local, params->intra);
    return ar_schedule_finish(s);
}
