/* BlueConnect: reduce-scatter round rings along each dimension of a grid in turn,
 * then allgather along them in reverse.
 *
 * Each dimension works on the part that the one before left, so that the first
 * ones, which should be the fastest links, carry the most; with three dimensions
 * it is the 3-D torus.  Grid and ranks left over: cart.h.
 *
 * Rounds 2 sum (d_i - 1); sent per rank 2n(q-1)/q elements with q = product d_i; no
 * scratch.  Ranks left over fold first and unfold last: 2 rounds where there is at
 * most one per place, and n elements sent more, for the ranks concerned.
 * Needs a commutative op; any p >= 1 and any n >= 0.
 * Source: Cho, Finkler & Kung, BlueConnect: novel hierarchical all-reduce on
 * multi-tiered network for deep learning, MLSys 2019.
 */
#include "algorithms/algorithms.h"
#include "algorithms/cart.h"

static void
on_cart(struct ar_schedule *s, const struct ar_cart *cart, struct ar_span all, enum ar_buffer have)
{
    struct ar_loop loops[AR_DIMS_MAX] = {0};
    struct ar_span spans[AR_DIMS_MAX + 1] = {all}; /* dimension i works on spans[i] */

    for (int i = 0; i < cart->ndims; i++) {
        loops[i] = ar_cart_loop(cart, i);
        spans[i + 1] = ar_subspan(spans[i], loops[i].size, loops[i].me);
        have = ar_ring_reduce_scatter(s, loops[i], spans[i], have);
    }
    for (int i = cart->ndims - 1; i >= 0; i--)
        ar_ring_allgather(s, loops[i], spans[i]);
}

int
ar_blueconnect(struct ar_schedule *s, int rank, int nranks, size_t count,
               const struct ar_params *params)
{
    const struct ar_cart cart = ar_cart_make(rank, nranks, params, 3, AR_DIMS_MAX);

    const enum ar_buffer have = ar_cart_fold(s, &cart);
    if (rank == cart.first)
        on_cart(s, &cart, ar_whole(count), have);
    ar_cart_unfold(s, &cart);
    return ar_schedule_finish(s);
}
