/* Segmented ring: the ring, run on segments of a long message.
 *
 * The executor cuts the message into segments of segment_bytes and keeps up to
 * window of them in flight; this is the schedule of one segment.  A block of a
 * segment stays in cache from its arrival to its departure, and while one segment
 * is reduced the next is under way.
 *
 * Rounds 2(p-1) a segment, those of a window overlapped; sent per rank
 * 2n(p-1)/p elements; no scratch.
 * Needs a commutative op; any p >= 1 and any n >= 0.
 * Source: Patarasuk & Yuan, J. Parallel Distrib. Comput. 69(2):117-124, 2009;
 * segments as in Open MPI's segmented ring and Intel MPI's Shumilin's ring.
 */
#include "algorithms/algorithms.h"
#include "algorithms/phases.h"

int
ar_segmented_ring(struct ar_schedule *s, int rank, int nranks, size_t count,
                  const struct ar_params *params)
{
    (void)rank;
    (void)nranks;
    (void)params;

    ar_ring_allreduce(s, ar_loop_all(s), ar_whole(count), AR_IN);
    return ar_schedule_finish(s);
}
