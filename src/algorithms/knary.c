/* K-ary tree: every rank combines its own vector with those of its children, at most k, and passes
 * the sum to its parent; the root's result goes the same way back.
 *
 * The first rank of a range is the root of its tree; the others are cut into at most k ranges of
 * nearly equal length, the longer ones first, whose first ranks are its children.
 *
 * Rounds 2h with h the height of the tree, the least for which a full one has p ranks; a rank sends
 * n elements up and n to each child; scratch a vector for each child.
 * Any op: operands are combined in rank order; any p >= 1 and any n >= 0; radix k (parameter) is
 * cut to p.
 * Source: MPICH's trees of type kary (src/mpi/coll/algorithms/treealgo), which it numbers level by
 * level; Intel MPI's allreduce 12, "knary", by its name.
 */
#include "algorithms/algorithms.h"
#include "algorithms/patterns.h"
#include "algorithms/tree.h"

/* Part i of the range behind its root. */
static struct ar_range
child_range(struct ar_range range, int radix, int i)
{
    const struct ar_range rest = {range.first + 1, range.n - 1};
    return ar_range_part(rest, radix < rest.n ? radix : rest.n, i);
}

int
ar_knary(struct ar_schedule *s, int rank, int nranks, size_t count, const struct ar_params *params)
{
    const struct ar_span all = ar_whole(count);
    const int radix = params->radix;
    struct ar_range range = {0, nranks};
    int parent = -1;

    for (int i = 0; range.first != rank;) {
        const struct ar_range part = child_range(range, radix, i++);
        if (rank < part.first + part.n) {
            parent = range.first;
            range = part;
            i = 0;
        }
    }
    const int children = radix < range.n - 1 ? radix : range.n - 1;
    for (int i = 0; i < children; i++)
        ar_accumulate(s, AR_IN, 0, i + 1, child_range(range, radix, i).first);
    ar_end_round(s);

    if (parent >= 0) {
        ar_send(s, parent, children > 0 ? ar_out(all) : ar_in(all));
        ar_end_round(s);
        ar_recv(s, parent, ar_out(all));
        ar_end_round(s);
    }
    for (int i = 0; i < children; i++)
        ar_send(s, child_range(range, radix, i).first, ar_out(all));
    return ar_schedule_finish(s);
}
