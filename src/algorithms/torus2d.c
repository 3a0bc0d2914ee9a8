/* 2-D torus: reduce-scatter round the rows, allreduce round the columns,
 * allgather round the rows.
 *
 * With X ranks in a row and Y in a column, each ring step is shorter than on one
 * ring of XY; a row is a node where the node map makes a grid, so that only 1/X of
 * the vector per rank leaves the node.  Grid and ranks left over: cart.h.
 *
 * Rounds 2(X-1) + 2(Y-1); sent per rank 2n(XY-1)/(XY) elements; no scratch.  Ranks
 * left over fold first and unfold last: 2 rounds where there is at most one per
 * place, and n elements sent more, for the ranks concerned.
 * Needs a commutative op; any p >= 1 and any n >= 0.
 * Source: Mikami et al., Massively distributed SGD: ImageNet/ResNet-50 training in
 * a flash, arXiv 1811.05233, 2018.
 */
#include "algorithms/algorithms.h"
#include "algorithms/cart.h"

static void
on_cart(struct ar_schedule *s, const struct ar_cart *cart, struct ar_span all, enum ar_buffer have)
{
    const struct ar_loop row = ar_cart_loop(cart, 0), column = ar_cart_loop(cart, 1);
    const struct ar_span mine = ar_subspan(all, row.size, row.me);

    have = ar_ring_reduce_scatter(s, row, all, have);
    ar_ring_reduce_scatter(s, column, mine, have);
    ar_ring_allgather(s, column, mine);
    ar_ring_allgather(s, row, all);
}

int
ar_torus2d(struct ar_schedule *s, int rank, int nranks, size_t count,
           const struct ar_params *params)
{
    const struct ar_cart cart = ar_cart_make(rank, nranks, params, 2, 2);

    const enum ar_buffer have = ar_cart_fold(s, &cart);
    if (rank == cart.first)
        on_cart(s, &cart, ar_whole(count), have);
    ar_cart_unfold(s, &cart);
    return ar_schedule_finish(s);
}
