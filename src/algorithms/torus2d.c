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

int
ar_torus2d(struct ar_schedule *s, int rank, int nranks, size_t count,
           const struct ar_params *params)
{
    const struct ar_cart cart = ar_cart_make(rank, nranks, params, 2, 2);
    (void)count;

    ar_cart_rings(s, &cart);
    return ar_schedule_finish(s);
}
