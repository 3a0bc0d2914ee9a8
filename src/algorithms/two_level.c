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
 *
 * With levels=... the ranks of a node work in groups (grouping.h): the reduce-scatter goes up the
 * levels, and the allgather down.  On each level but the node's own, each rank of a group combines
 * a share of the vector, which is a part of its share on the level below, so that it exchanges with
 * one rank of each other group of that level.  Where groups are equal, that is as many elements as
 * without levels, in fewer messages, and most of them go between ranks that are near.  A lane
 * then belongs to a rank whose share lies in it, so that lanes are spread over the groups.  With
 * one lane each group has a leader, and the trees run among the leaders.
 */
#include "algorithms/algorithms.h"
#include "algorithms/nodes.h"
#include "algorithms/patterns.h"
#include "algorithms/phases.h"
#include "algorithms/shares.h"

/* What a rank sees of its node. */
struct view {
    const struct ar_nodes *nodes;
    struct ar_shares shares; /* flat: of this node alone */
    int top;                 /* the level of the nodes */
    int lanes;
    int level; /* of the group that group_of returns */
};

static struct view
look(const struct ar_nodes *nodes, int rank, size_t count, const struct ar_params *params)
{
    const struct ar_grouping *const g = params->grouping;
    const int least = ar_nodes_least(nodes), asked = params->lanes;
    return (struct view){
        .nodes = nodes,
        .shares = {g, ar_nodes_local(nodes), g ? g->at[rank] : nodes->local_rank, count},
        .top = g ? g->node_level : 0,
        .lanes = asked > 0 && asked < least ? asked : least};
}

/* --- lanes --- */

/* Which rank of a node of this size has the lane.  Ranks are numbered by the share of the vector
 * that each would have if all had one.  Flat, the first ranks have the lanes. */
static int
holder(const struct view *v, int size, int lane)
{
    if (!v->shares.grouping)
        return lane;
    return (int)((long long)lane * size / v->lanes) + lane % (size / v->lanes);
}

/* The lane of a place of this rank's node; -1: none. */
static int
lane_at(const struct view *v, int place)
{
    const struct ar_grouping *const g = v->shares.grouping;
    const int size = v->nodes->local_size;
    const int number = g ? g->level[v->top].lane[g->rank_at[place]] : place;
    const int lane = g ? (int)(((number + 1LL) * v->lanes - 1) / size) : place;
    return lane < v->lanes && holder(v, size, lane) == number ? lane : -1;
}

struct lane {
    const struct view *view;
    int number;
};

/* The rank of a node that has the lane. */
static int
rank_of_lane(const void *layout, int node)
{
    const struct lane *const lane = layout;
    const struct view *const v = lane->view;
    const struct ar_grouping *const g = v->shares.grouping;
    const int first = ar_nodes_rank(v->nodes, node, 0);
    if (!g)
        return ar_nodes_rank(v->nodes, node, lane->number);
    const int *const number_of = g->level[v->top].lane;
    const int begin = ar_shares_begin(&v->shares, v->top, g->at[first]);
    const int end = ar_shares_end(&v->shares, v->top, begin);
    const int number = holder(v, end - begin, lane->number);
    int place = begin;
    while (number_of[g->rank_at[place]] != number)
        place++;
    return g->rank_at[place];
}

/* --- shares --- */

/* What a place has of the vector on a level, combined of its group. */
static struct ar_span
share_of(const struct view *v, int level, int place)
{
    if (level < v->top)
        return ar_shares_span(&v->shares, level, place);
    const int lane = lane_at(v, place);
    return lane < 0 ? (struct ar_span){0, 0} : ar_share_cut(v->shares.count, v->lanes, lane);
}

/* A rank sends to each other of its group what it has of the other's share.  First the ranks of a
 * unit give each other what they miss of their shares: nothing where groups are equal.  Then come
 * the other units, one rank further in each round: a rank receives all of its share from one unit,
 * then from the next. */
static enum ar_buffer
reduce_scatter(struct ar_schedule *s, const struct view *v, int level, enum ar_buffer have)
{
    const struct ar_shares *const shares = &v->shares;
    const int me = shares->me;
    const int begin = ar_shares_begin(shares, level, me), end = ar_shares_end(shares, level, me);
    const int own_begin = ar_shares_begin(shares, level - 1, me);
    const int own_end = ar_shares_end(shares, level - 1, me);
    const int before = own_begin > begin ? own_begin - 1 : end - 1; /* in the first unit to come */
    const int first = ar_shares_begin(shares, level - 1, before);
    const struct ar_span held = share_of(v, level - 1, me), mine = share_of(v, level, me);

    for (int i = own_begin; i < own_end; i++)
        if (i != me) {
            const struct ar_span wanted = share_of(v, level, i), theirs = share_of(v, level - 1, i);
            ar_send(s, ar_shares_rank(shares, i), ar_region_in(have, ar_span_common(held, wanted)));
            ar_recv(s, ar_shares_rank(shares, i), ar_out(ar_span_common(theirs, mine)));
        }
    ar_end_round(s);
    for (int k = 1; k < end - begin; k++) {
        const int to = begin + (me - begin + k) % (end - begin);
        const int from = begin + (end - begin + me - begin - k) % (end - begin);
        const bool is_first = ar_shares_begin(shares, level - 1, from) == first;
        if (to < own_begin || to >= own_end)
            ar_send(s, ar_shares_rank(shares, to),
                    ar_region_in(have, ar_span_common(held, share_of(v, level, to))));
        if (from < own_begin || from >= own_end)
            ar_recv_combine(s, ar_shares_rank(shares, from),
                            ar_span_common(share_of(v, level - 1, from), mine),
                            is_first ? have : AR_OUT, AR_RECEIVED_FIRST);
        ar_end_round(s);
    }
    return end - begin > own_end - own_begin ? AR_OUT : have;
}

/* One round: none of these messages waits for another. */
static void
allgather(struct ar_schedule *s, const struct view *v, int level)
{
    const struct ar_shares *const shares = &v->shares;
    const int me = shares->me;
    const int begin = ar_shares_begin(shares, level, me);
    const int size = ar_shares_end(shares, level, me) - begin;
    const struct ar_span held = share_of(v, level - 1, me), mine = share_of(v, level, me);

    for (int k = 1; k < size; k++) {
        const int to = begin + (me - begin + k) % size,
                  from = begin + (size + me - begin - k) % size;
        ar_send(s, ar_shares_rank(shares, to),
                ar_out(ar_span_common(mine, share_of(v, level - 1, to))));
        ar_recv(s, ar_shares_rank(shares, from),
                ar_out(ar_span_common(share_of(v, level, from), held)));
    }
    ar_end_round(s);
}

/* --- leaders --- */

/* The leader of unit i of this rank's group, its first rank. */
static int
rank_of_unit(const void *layout, int i)
{
    const struct view *const v = layout;
    int place = ar_shares_begin(&v->shares, v->level, v->shares.me);
    while (i-- > 0)
        place = ar_shares_end(&v->shares, v->level - 1, place);
    return ar_shares_rank(&v->shares, place);
}

/* The leaders of the units of this rank's group on v->level; of no size where it is none of them.
 */
static struct ar_group
leaders_of(const struct view *v)
{
    const int me = v->shares.me, level = v->level;
    const int end = ar_shares_end(&v->shares, level, me);
    struct ar_group leaders = {.rank_of = rank_of_unit, .layout = v};
    if (ar_shares_begin(&v->shares, level - 1, me) != me)
        return leaders;
    for (int place = ar_shares_begin(&v->shares, level, me); place < end; leaders.size++) {
        leaders.me += place < me;
        place = ar_shares_end(&v->shares, level - 1, place);
    }
    return leaders;
}

/* --- up and down --- */

static enum ar_buffer
go_up(struct ar_schedule *s, struct view *v)
{
    const struct ar_span all = ar_whole(s->count);
    enum ar_buffer have = AR_IN;
    for (v->level = 0; v->level <= v->top; v->level++) {
        const struct ar_group leaders = leaders_of(v);
        have = v->lanes > 1 ? reduce_scatter(s, v, v->level, have)
                            : ar_binomial_reduce(s, &leaders, all, have);
    }
    return have;
}

static void
go_down(struct ar_schedule *s, struct view *v)
{
    for (v->level = v->top; v->level >= 0; v->level--) {
        const struct ar_group leaders = leaders_of(v);
        if (v->lanes > 1)
            allgather(s, v, v->level);
        else if (leaders.size > 0)
            ar_binomial_broadcast(s, &leaders, ar_whole(s->count));
    }
}

int
ar_two_level(struct ar_schedule *s, int rank, int nranks, size_t count,
             const struct ar_params *params)
{
    const struct ar_nodes nodes = ar_nodes_make(rank, nranks, params);
    struct view v = look(&nodes, rank, count, params);
    const struct lane lane = {&v, lane_at(&v, v.shares.me)};

    const enum ar_buffer have = go_up(s, &v);
    if (lane.number >= 0) {
        const struct ar_group others = {nodes.count, nodes.mine, rank_of_lane, &lane};
        ar_inner_allreduce(s, ar_params_inter(params), &others, share_of(&v, v.top, v.shares.me),
                           have);
    }
    go_down(s, &v);
    return ar_schedule_finish(s);
}
