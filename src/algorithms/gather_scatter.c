/* Gather and scatter: the vectors of all ranks travel up a binomial tree as they
 * are, the root combines them, and the result goes back down the tree.
 *
 * Rounds 2 ceil(log2 p); sent: up, each rank the vectors of its subtree (a leaf
 * n, the largest child of the root n p/2); down, the root n ceil(log2 p).
 * Scratch: the vectors of the subtree, p at the root.
 * Any op: the root combines in rank order, so that the result is that of a plain
 * loop over the ranks whatever the root (parameter, modulo p); any p >= 1 and any
 * n >= 0.
 * Source: Intel MPI's allreduce 5, "binomial gather + scatter".  Intel publishes
 * no more than this name; what it means is our reading.
 */
#include "algorithms/algorithms.h"
#include "algorithms/patterns.h"
#include "algorithms/tree.h"

/* The vectors of a range of ranks in this rank's scratch. */
static struct ar_region
vectors(const struct ar_schedule *s, const struct ar_tree *t, struct ar_range range)
{
    const struct ar_cut cut = {s->count * (size_t)t->range.n, t->range.n};
    return ar_tmp(ar_blocks(cut, range.first - t->range.first, range.n));
}

static void
gather(struct ar_schedule *s, const struct ar_tree *t)
{
    const struct ar_region own = ar_in(ar_whole(s->count));

    for (int i = 0; i < t->nchildren; i++)
        ar_recv(s, t->child[i], vectors(s, t, t->child_range[i]));
    if (t->nchildren > 0)
        ar_copy(s, vectors(s, t, (struct ar_range){s->rank, 1}), own);
    ar_end_round(s);
    if (t->parent >= 0)
        ar_send(s, t->parent, t->nchildren > 0 ? vectors(s, t, t->range) : own);
    ar_end_round(s);
}

int
ar_gather_scatter(struct ar_schedule *s, int rank, int nranks, size_t count,
                  const struct ar_params *params)
{
    const int root = params->root % nranks;
    struct ar_tree tree;
    (void)count;

    ar_tree_init(&tree, rank, nranks, root, AR_TREE_CUT_POW2);
    gather(s, &tree);
    if (rank == root)
        ar_reduce_vectors(s, 0);
    ar_tree_broadcast(s, &tree);
    return ar_schedule_finish(s);
}
