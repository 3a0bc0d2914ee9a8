/* Reduce and broadcast: a binomial tree to the root, then a broadcast of choice.
 *
 * Rounds ceil(log2 p) up; down (parameter broadcast)
 *   flat               1                 the root sends (p-1)n elements
 *   binomial           ceil(log2 p)      the root sends n ceil(log2 p)
 *   scatter_allgather  ceil(log2 p)+p-1  the root sends 2n(p-1)/p
 *   scatter_doubling   2 floor(log2 p)   the same of the largest power of two <= p;
 *                                        where that is not p one round, and n, more
 * and a leaf of the tree sends n up.  No scratch.
 *
 * The last two are van de Geijn's broadcast: a scatter down the tree, and an allgather of the
 * blocks, round a ring for long messages and by recursive doubling for shorter ones.
 *
 * Any op: operands are combined in rank order and with the same bits whatever the
 * root (parameter, modulo p); any p >= 1 and any n >= 0.
 * Source: Thakur, Rabenseifner & Gropp, Int. J. High Perform. Comput. Appl.
 * 19(1):49-66, 2005; scatter and allgather: Barnett et al., InterCom, 1994.
 */
#include "algorithms/algorithms.h"
#include "algorithms/patterns.h"
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

/* Ranks count from the root here.  As many as the largest power of two scatter down a binomial tree
 * and then double what they have; each rank beyond gets the result from one of them. */
static void
broadcast_by_doubling(struct ar_schedule *s, int root)
{
    const int p = s->nranks, size = ar_pow2_floor(p), me = (s->rank - root + p) % p;
    const struct ar_cut cut = {s->count, size};
    const int mine = me == 0 ? size : me & -me; /* blocks of this rank's subtree */

    if (me > 0 && me < size)
        ar_recv(s, (root + me - mine) % p, ar_out(ar_blocks(cut, me, mine)));
    ar_end_round(s);
    for (int n = mine / 2; me < size && n > 0; n /= 2)
        ar_send(s, (root + me + n) % p, ar_out(ar_blocks(cut, me + n, n)));
    ar_end_round(s);
    for (int n = 1; me < size && n < size; n *= 2) {
        const int partner = me ^ n;
        ar_send(s, (root + partner) % p, ar_out(ar_blocks(cut, me - me % n, n)));
        ar_recv(s, (root + partner) % p, ar_out(ar_blocks(cut, partner - partner % n, n)));
        ar_end_round(s);
    }
    if (me >= size)
        ar_recv(s, (root + me - size) % p, ar_out(ar_whole(s->count)));
    else if (me + size < p)
        ar_send(s, (root + me + size) % p, ar_out(ar_whole(s->count)));
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
    case AR_BROADCAST_SCATTER_DOUBLING:
        broadcast_by_doubling(s, root);
        break;
    }
    return ar_schedule_finish(s);
}
