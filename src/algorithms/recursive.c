/* Recursive allreduce: halve the ranks, reduce each half to its first rank,
 * combine the two; the result goes back the same way.
 *
 * Rounds 2 ceil(log2 p); sent: rank 0 n ceil(log2 p) elements, a leaf n; no
 * scratch.
 * Any op: operands are combined in rank order; any p >= 1 and any n >= 0.
 * Source: divide and conquer over the ranks, as taught; a binomial tree where p
 * is a power of two.
 */
#include "algorithms/algorithms.h"
#include "algorithms/tree.h"

int
ar_recursive(struct ar_schedule *s, int rank, int nranks, size_t count,
             const struct ar_params *params)
{
    struct ar_tree tree;
    (void)count;
    (void)params;

    ar_tree_init(&tree, rank, nranks, 0, AR_TREE_CUT_MIDDLE);
    ar_tree_reduce(s, &tree);
    ar_tree_broadcast(s, &tree);
    return ar_schedule_finish(s);
}
