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

int
ar_blueconnect(struct ar_schedule *s, int rank, int nranks, size_t count,
               const struct ar_params *params)
{
    const struct ar_cart cart = ar_cart_make(rank, nranks, params, 3, AR_DIMS_MAX);
    (void)count;

    ar_cart_rings(s, &cart);
    return ar_schedule_finish(s);
}
