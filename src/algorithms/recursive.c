/* Recursive allreduce: halve the ranks, reduce each half to its first rank, combine the two; the
 * result goes back the same way.
 *
 * The tree (parameter distance)
 *   doubling  ranges of ranks are cut in the middle, down to single ranks: who combines
 *             is near first and far last.  Operands are combined in rank order, for any op
 *   halving   rank r's parent is r - 2^k, where 2^k is the largest power of two <= r, and the
 *             furthest combine first: a course's tree.  Of 6 ranks 4 sends to 0 and 5 to 1,
 *             then 2 to 0 and 3 to 1, then 1 to 0.  It needs a commutative op: rank 0 combines
 *             with rank 4 before it has anything of rank 1, and all of the first messages go
 *             half of the ranks far
 *
 * Rounds ceil(log2 p) up and floor(log2 p) down; sent: rank 0 n ceil(log2 p) elements, a leaf n; no
 * scratch.
 * Any p >= 1 and any n >= 0.
 * Source: divide and conquer over the ranks, as taught; halving: a course on allreduce.
 */
#include "algorithms/algorithms.h"
#include "algorithms/patterns.h"
#include "algorithms/tree.h"

static void
reduce_furthest_first(struct ar_schedule *s)
{
    const struct ar_span all = ar_whole(s->count);
    enum ar_buffer have = AR_IN;

    for (int distance = ar_pow2_floor(s->nranks - 1); distance > s->rank; distance /= 2)
        if (s->rank + distance < s->nranks) {
            ar_recv_combine(s, s->rank + distance, all, have, AR_LOCAL_FIRST);
            ar_end_round(s);
            have = AR_OUT;
        }
    if (s->rank > 0)
        ar_send(s, s->rank - ar_pow2_floor(s->rank), ar_region_in(have, all));
    ar_end_round(s);
}

static void
broadcast_nearest_first(struct ar_schedule *s)
{
    const struct ar_span all = ar_whole(s->count);
    const int parent_distance = s->rank > 0 ? ar_pow2_floor(s->rank) : 0;

    if (s->rank > 0)
        ar_recv(s, s->rank - parent_distance, ar_out(all));
    ar_end_round(s);
    for (int distance = s->rank > 0 ? 2 * parent_distance : 1; s->rank + distance < s->nranks;
         distance *= 2)
        ar_send(s, s->rank + distance, ar_out(all));
    ar_end_round(s);
}

int
ar_recursive(struct ar_schedule *s, int rank, int nranks, size_t count,
             const struct ar_params *params)
{
    struct ar_tree tree;
    (void)count;

    if (params->distance == AR_DISTANCE_HALVING) {
        reduce_furthest_first(s);
        broadcast_nearest_first(s);
        return ar_schedule_finish(s);
    }
    ar_tree_init(&tree, rank, nranks, 0, AR_TREE_CUT_MIDDLE);
    ar_tree_reduce(s, &tree);
    ar_tree_broadcast(s, &tree);
    return ar_schedule_finish(s);
}
