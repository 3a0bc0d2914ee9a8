/* Ring allreduce: reduce-scatter, then allgather, both round a ring.
 *
 * Rounds 2(p-1); sent per rank 2n(p-1)/p elements; no scratch.
 * Needs a commutative op; any p >= 1 and any n >= 0.
 * Source: Patarasuk & Yuan, J. Parallel Distrib. Comput. 69(2):117-124, 2009.
 */
#include "algorithms/algorithms.h"
#include "algorithms/phases.h"

int
ar_ring(struct ar_schedule *s, int rank, int nranks, size_t count, const struct ar_params *params)
{
    (void)rank;
    (void)nranks;
    (void)params;

    ar_ring_allreduce(s, ar_loop_all(s), ar_whole(count), AR_IN);
    return ar_schedule_finish(s);
}
