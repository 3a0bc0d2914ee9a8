/* Two levels: reduce-scatter inside each node, any other algorithm between nodes, allgather
 * inside each node.
 *
 * The vector is cut into lanes, one for each of the first ranks of every node (lanes=all, as many
 * as the smallest node has ranks; lanes=N at most N of them; lanes=one a leader).  The rank of a
 * lane combines its node's contributions to it, runs inter=ROW with the same lane's ranks of the
 * other nodes, and hands the result to its node.  So all ranks of a node share the work of its
 * network interface, and each byte crosses it as often as ROW says, not once for each rank.  Any
 * placement of ranks on nodes; without a node map there is one node.
 *
 * With L ranks on a node, N nodes and K lanes: rounds L plus those of ROW on N ranks; each node
 * sends what ROW sends of n, and each rank sends n(L-1)/L inside its node twice.  With one lane and
 * L > 2, binomial trees: 2 ceil(log2 L) rounds inside.  Scratch: ROW's. Needs a commutative op; any
 * p >= 1 and any n >= 0. Source: Traff & Hunold, Decomposing MPI collectives for exploiting
 * multi-lane communication, IEEE CLUSTER 2020.
 */
#include "algorithms/algorithms.h"
#include "algorithms/inner.h"
#include "algorithms/nodes.h"
#include "algorithms/patterns.h"

/* Members 0 .. lanes-1 of the node hold a lane each. */
struct lanes {
    struct ar_group node;
    struct ar_span all;
    int count;
};

static struct ar_span
lane(const struct lanes *lanes, int i)
{
    return ar_subspan(lanes->all, lanes->count, i);
}

/* A rank sends each lane to its rank, one more member away in each round. */
static enum ar_buffer
reduce_scatter(struct ar_schedule *s, const struct lanes *lanes)
{
    const int n = lanes->node.size, me = lanes->node.me;
    enum ar_buffer have = AR_IN;

    if (lanes->count == 1)
        return ar_binomial_reduce(s, &lanes->node, lanes->all, AR_IN);
    for (int k = 1; k < n; k++) {
        const int to = (me + k) % n, from = (me + n - k) % n;
        if (to < lanes->count)
            ar_send(s, ar_group_rank(&lanes->node, to), ar_in(lane(lanes, to)));
        if (me < lanes->count)
            ar_recv_combine(s, ar_group_rank(&lanes->node, from), lane(lanes, me), have,
                            AR_RECEIVED_FIRST);
        ar_end_round(s);
        have = AR_OUT;
    }
    return have;
}

/* All at once: nothing of it waits for anything else. */
static void
allgather(struct ar_schedule *s, const struct lanes *lanes)
{
    const int n = lanes->node.size, me = lanes->node.me;

    if (lanes->count == 1) {
        ar_binomial_broadcast(s, &lanes->node, lanes->all);
        return;
    }
    for (int k = 1; k < n; k++) {
        const int to = (me + k) % n, from = (me + n - k) % n;
        if (me < lanes->count)
            ar_send(s, ar_group_rank(&lanes->node, to), ar_out(lane(lanes, me)));
        if (from < lanes->count)
            ar_recv(s, ar_group_rank(&lanes->node, from), ar_out(lane(lanes, from)));
    }
    ar_end_round(s);
}

int
ar_two_level(struct ar_schedule *s, int rank, int nranks, size_t count,
             const struct ar_params *params)
{
    const struct ar_nodes nodes = ar_nodes_make(rank, nranks, params);
    const int least = ar_nodes_least(&nodes), asked = params->lanes;
    const struct lanes lanes = {ar_nodes_local(&nodes), ar_whole(count),
                                asked > 0 && asked < least ? asked : least};

    const enum ar_buffer have = reduce_scatter(s, &lanes);
    if (nodes.local_rank < lanes.count) {
        const struct ar_group others = ar_nodes_lane(&nodes);
        ar_inner_allreduce(s, ar_params_inter(params), &others, lane(&lanes, nodes.local_rank),
                           have);
    }
    allgather(s, &lanes);
    return ar_schedule_finish(s);
}
