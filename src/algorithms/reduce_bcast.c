/* Reduce and broadcast: a binomial tree to the root, then a broadcast of choice.
 *
 * Rounds ceil(log2 p) up; down (parameter broadcast)
 *   flat               1                 the root sends (p-1)n elements
 *   binomial           ceil(log2 p)      the root sends n ceil(log2 p)
 *   scatter_allgather  ceil(log2 p)+p-1  the root sends 2n(p-1)/p
 * and a leaf of the tree sends n up.  No scratch.
 * Any op: operands are combined in rank order and with the same bits whatever the
 * root (parameter, modulo p); any p >= 1 and any n >= 0.
 * Source: Thakur, Rabenseifner & Gropp, Int. J. High Perform. Comput. Appl.
 * 19(1):49-66, 2005; scatter and allgather: Barnett et al., InterCom, 1994.
 */
#include "algorithms/algorithms.h"
#include "algorithms/phases.h"
#include "algorithms/tree.h"

static void
broadcast_flat(struct ar_schedule *s, int root)
{
    const struct ar_span all = ar_whole(s->count);

    if (s->rank != root)
        ar_recv(s, root, ar_out(all));
    for (int i = 0; s->rank == root && i < s->nranks; i++)
        if (i != root)
            ar_send(s, i, ar_out(all));
    ar_end_round(s);
}

int
ar_reduce_bcast(struct ar_schedule *s, int rank, int nranks, size_t count,
                const struct ar_params *params)
{
    const int root = params->root % nranks;
    const struct ar_loop ring = {nranks, rank, (rank + nranks - 1) % nranks, (rank + 1) % nranks};
    struct ar_tree tree;

    ar_tree_init(&tree, rank, nranks, root, AR_TREE_CUT_POW2);
    ar_tree_reduce(s, &tree);
    switch (params->broadcast) {
    case AR_BROADCAST_FLAT:
        broadcast_flat(s, root);
        break;
    case AR_BROADCAST_BINOMIAL:
        ar_tree_broadcast(s, &tree);
        break;
    case AR_BROADCAST_SCATTER_ALLGATHER:
        ar_tree_scatter(s, &tree);
        ar_ring_allgather(s, ring, ar_whole(count));
        break;
    }
    return ar_schedule_finish(s);
}
