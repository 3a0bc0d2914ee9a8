#include "algorithms/nodes.h"

#include <stdlib.h>
#include <string.h>

int
ar_nodes_count(const int *node_of, int nranks)
{
    int nodes = 0;

    for (int r = 0; r < nranks; r++)
        nodes = node_of[r] >= nodes ? node_of[r] + 1 : nodes;
    return nodes;
}

/* Nodes are numbered by their first ranks. */
bool
ar_nodes_are_blocks(const int *node_of, int nranks)
{
    for (int r = 1; r < nranks; r++)
        if (node_of[r] < node_of[r - 1])
            return false;
    return true;
}

int
ar_node_index_init(struct ar_node_index *index, const int *node_of, int nranks)
{
    const int count = ar_nodes_count(node_of, nranks);

    *index = (struct ar_node_index){.count = count};
    index->first = calloc((size_t)count + 1, sizeof *index->first);
    index->ranks = malloc((size_t)nranks * sizeof *index->ranks);
    index->local_rank = malloc((size_t)nranks * sizeof *index->local_rank);
    if (!index->first || !index->ranks || !index->local_rank) {
        ar_node_index_fini(index);
        return AR_ERR_MEMORY;
    }

    /* Each node's ranks follow, in order, those of the nodes before. */
    int *const first = index->first;
    for (int r = 0; r < nranks; r++)
        index->local_rank[r] = first[node_of[r] + 1]++;
    index->least = nranks;
    for (int i = 1; i <= count; i++) {
        index->least = first[i] < index->least ? first[i] : index->least;
        index->most = first[i] > index->most ? first[i] : index->most;
        first[i] += first[i - 1];
    }
    for (int r = 0; r < nranks; r++)
        index->ranks[first[node_of[r]] + index->local_rank[r]] = r;
    return AR_OK;
}

void
ar_node_index_fini(struct ar_node_index *index)
{
    free(index->first);
    free(index->ranks);
    free(index->local_rank);
    *index = (struct ar_node_index){.count = 0};
}

static int
node_at(const struct ar_nodes *nodes, int rank)
{
    return nodes->node_of ? nodes->node_of[rank] : 0;
}

/* Number of rank among the ranks of its node. */
static int
local_rank(const struct ar_nodes *nodes, int rank)
{
    int before = 0;

    if (!nodes->node_of)
        return rank;
    if (nodes->index)
        return nodes->index->local_rank[rank];
    for (int r = 0; r < rank; r++)
        before += node_at(nodes, r) == node_at(nodes, rank);
    return before;
}

struct ar_nodes
ar_nodes_make(int rank, int nranks, const struct ar_params *params)
{
    const struct ar_node_index *const index = params->node_index;
    struct ar_nodes nodes = {.node_of = params->node_of, .index = index, .nranks = nranks};

    nodes.mine = node_at(&nodes, rank);
    if (index) {
        nodes.count = index->count;
        nodes.local_size = index->first[nodes.mine + 1] - index->first[nodes.mine];
    }
    for (int r = 0; r < nranks && !index; r++) {
        const int node = node_at(&nodes, r);
        nodes.count = node >= nodes.count ? node + 1 : nodes.count;
        nodes.local_size += node == nodes.mine;
    }
    nodes.local_rank = local_rank(&nodes, rank);
    return nodes;
}

#define NODES_AT_ONCE 256 /* that are counted in one pass over the ranks, where memory is short */

void
ar_nodes_sizes(const struct ar_nodes *nodes, int *least, int *most)
{
    int few[NODES_AT_ONCE]; /* not more: stacks may be small */
    const bool is_known = nodes->index;
    int *const all = is_known ? NULL : malloc((size_t)nodes->count * sizeof *all);
    int *const ranks = all ? all : few;
    const int at_once = all ? nodes->count : NODES_AT_ONCE;
    *least = is_known ? nodes->index->least : nodes->nranks;
    *most = is_known ? nodes->index->most : 0;
    for (int first = 0; first < nodes->count && !is_known; first += at_once) {
        memset(ranks, 0, (size_t)at_once * sizeof *ranks);
        for (int r = 0; r < nodes->nranks; r++) {
            const int node = node_at(nodes, r) - first;
            if (node >= 0 && node < at_once)
                ranks[node]++;
        }
        for (int node = 0; node < at_once && first + node < nodes->count; node++) {
            *least = ranks[node] < *least ? ranks[node] : *least;
            *most = ranks[node] > *most ? ranks[node] : *most;
        }
    }
    free(all);
}

int
ar_nodes_least(const struct ar_nodes *nodes)
{
    int least, most;
    ar_nodes_sizes(nodes, &least, &most);
    return least;
}

/* No node has more than the average where none has fewer. */
int
ar_nodes_even(const struct ar_nodes *nodes)
{
    const int least = ar_nodes_least(nodes);
    return least * nodes->count == nodes->nranks ? least : 0;
}

int
ar_nodes_rank(const struct ar_nodes *nodes, int node, int i)
{
    int r = 0;

    if (!nodes->node_of)
        return i;
    if (nodes->index)
        return nodes->index->ranks[nodes->index->first[node] + i];
    while (node_at(nodes, r) != node || i-- > 0)
        r++;
    return r;
}

/* How many ranks the nodes before this one have. */
static int
ranks_before(const struct ar_nodes *nodes, int node)
{
    int n = 0;

    if (nodes->index)
        return nodes->index->first[node];
    for (int r = 0; r < nodes->nranks; r++)
        n += node_at(nodes, r) < node;
    return n;
}

struct ar_loop
ar_nodes_ring(int rank, int nranks, const struct ar_params *params)
{
    if (params->order == AR_RING_BY_RANK)
        return (struct ar_loop){nranks, rank, (rank + nranks - 1) % nranks, (rank + 1) % nranks};

    const struct ar_nodes at = ar_nodes_make(rank, nranks, params);
    const int i = at.local_rank;
    const int last = at.mine > 0 ? at.mine - 1 : at.count - 1;
    const int next = at.mine + 1 < at.count ? at.mine + 1 : 0;
    const int end = ranks_before(&at, last + 1) - ranks_before(&at, last) - 1;
    const int left = i > 0 ? ar_nodes_rank(&at, at.mine, i - 1) : ar_nodes_rank(&at, last, end);
    const int right =
        i + 1 < at.local_size ? ar_nodes_rank(&at, at.mine, i + 1) : ar_nodes_rank(&at, next, 0);
    return (struct ar_loop){nranks, ranks_before(&at, at.mine) + i, left, right};
}

static int
local_rank_of(const void *layout, int i)
{
    const struct ar_nodes *nodes = layout;
    return ar_nodes_rank(nodes, nodes->mine, i);
}

struct ar_group
ar_nodes_local(const struct ar_nodes *nodes)
{
    return (struct ar_group){nodes->local_size, nodes->local_rank, local_rank_of, nodes};
}

static int
lane_rank_of(const void *layout, int i)
{
    const struct ar_nodes *nodes = layout;
    return ar_nodes_rank(nodes, i, nodes->local_rank);
}

struct ar_group
ar_nodes_lane(const struct ar_nodes *nodes)
{
    return (struct ar_group){nodes->count, nodes->mine, lane_rank_of, nodes};
}

enum ar_buffer
ar_nodes_reduce(struct ar_schedule *s, const struct ar_group *local, enum ar_intra intra)
{
    const struct ar_span all = ar_whole(s->count);

    if (intra == AR_INTRA_BINOMIAL)
        return ar_binomial_reduce(s, local, all, AR_IN);
    if (local->me > 0)
        ar_send(s, ar_group_rank(local, 0), ar_in(all));
    for (int i = 1; local->me == 0 && i < local->size; i++)
        ar_recv_combine(s, ar_group_rank(local, i), all, i == 1 ? AR_IN : AR_OUT, AR_LOCAL_FIRST);
    ar_end_round(s);
    return local->me == 0 && local->size > 1 ? AR_OUT : AR_IN;
}

void
ar_nodes_broadcast(struct ar_schedule *s, const struct ar_group *local, enum ar_intra intra)
{
    const struct ar_span all = ar_whole(s->count);

    if (intra == AR_INTRA_BINOMIAL) {
        ar_binomial_broadcast(s, local, all);
        return;
    }
    if (local->me > 0)
        ar_recv(s, ar_group_rank(local, 0), ar_out(all));
    for (int i = 1; local->me == 0 && i < local->size; i++)
        ar_send(s, ar_group_rank(local, i), ar_out(all));
    ar_end_round(s);
}
