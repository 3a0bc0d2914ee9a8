/* Dual root: each half of the ranks reduces up a binary tree, the two roots
 * exchange, and the result goes down both trees.
 *
 * Rounds 2 floor(log2 ceil(p/2)) + 1; sent per rank at most 3n elements; no
 * scratch but what two children send.  Pipelined by the executor's segments (see
 * its defaults), while some go up others come down.
 * Any op: the trees are in post-order, so operands are combined in rank order;
 * any p >= 1 and any n >= 0.
 * Source: Traff, A Doubly-pipelined, Dual-root Reduction-to-all Algorithm and
 * Implementation, arXiv 2109.12626, 2021.
 */
#include "algorithms/algorithms.h"
#include "algorithms/patterns.h"
#include "algorithms/tree.h"

int
ar_dual_root(struct ar_schedule *s, int rank, int nranks, size_t count,
             const struct ar_params *params)
{
    const struct ar_span all = ar_whole(count);
    const struct ar_split halves = ar_split_make((struct ar_range){0, nranks}, 2, rank);
    const struct ar_range other = ar_split_part(&halves, 1 - halves.own);
    const struct ar_binary node = ar_binary_postorder(rank, ar_split_part(&halves, halves.own));
    (void)params;

    const enum ar_buffer have = ar_binary_combine(s, node, all);
    ar_end_round(s);
    if (node.parent < 0) {
        const int root = other.first + other.n - 1;
        ar_send(s, root, ar_region_in(have, all));
        ar_recv_combine(s, root, all, have, ar_rank_order(rank, root));
        ar_end_round(s);
    } else {
        ar_send(s, node.parent, ar_region_in(have, all));
        ar_end_round(s);
        ar_recv(s, node.parent, ar_out(all));
        ar_end_round(s);
    }
    ar_binary_pass_down(s, node, all);
    return ar_schedule_finish(s);
}
