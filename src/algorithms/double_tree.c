/* Double tree: two binary trees, each reduces and broadcasts half of the vector.
 *
 * Ranks with children in one tree (odd ranks in the one, even ranks in the other)
 * are leaves of the other, so that all links carry the same load: per rank and
 * tree one half up, and two halves down where it has two children.
 *
 * Rounds 2 floor(log2(p+1)); sent per rank 2n elements; no scratch but what two
 * children send.  Long messages are pipelined by the executor's segments: see its
 * defaults.
 * Any op: both trees are in-order, so operands are combined in rank order; any
 * p >= 1 and any n >= 0.
 * Source: Sanders, Speck & Traff, Parallel Computing 35(12):581-594, 2009; in
 * NCCL since 2.4.  Theirs shift or mirror the second tree; taking the other
 * parity for its inner ranks keeps the order.
 */
#include "algorithms/algorithms.h"
#include "algorithms/tree.h"

int
ar_double_tree(struct ar_schedule *s, int rank, int nranks, size_t count,
               const struct ar_params *params)
{
    const int parity = rank % 2;
    const struct ar_cut cut = {count, 2};
    const struct ar_binary inner = ar_binary_inorder(rank, nranks, parity);
    const struct ar_binary leaf = ar_binary_inorder(rank, nranks, 1 - parity);
    const struct ar_span mine = ar_block(cut, parity), other = ar_block(cut, 1 - parity);
    (void)params;

    ar_send(s, leaf.parent, ar_in(other));
    ar_binary_combine(s, inner, mine);
    ar_end_round(s);
    if (inner.parent >= 0) {
        ar_send(s, inner.parent, ar_out(mine));
        ar_end_round(s);
        ar_recv(s, inner.parent, ar_out(mine));
        ar_end_round(s);
    }
    ar_binary_pass_down(s, inner, mine);
    ar_recv(s, leaf.parent, ar_out(other));
    return ar_schedule_finish(s);
}
