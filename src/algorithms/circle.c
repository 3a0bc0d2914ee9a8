/* Circle allreduce (chain): the sum grows from rank 0 up to rank p-1, and the
 * result walks back down.
 *
 * Rounds 2(p-1); sent per rank 2n elements (n at the ends); no scratch.
 * Any op: operands are combined in rank order; any p >= 1 and any n >= 0.
 * Long messages are pipelined by the executor's segments: see its defaults.
 * Source: flat chain; pipelined: Worringen, Pipelining and Overlapping for MPI
 * Collective Operations, LCN 2003.
 */
#include "algorithms/algorithms.h"
#include "algorithms/patterns.h"

int
ar_circle(struct ar_schedule *s, int rank, int nranks, size_t count, const struct ar_params *params)
{
    const struct ar_span all = ar_whole(count);
    (void)params;

    if (rank > 0)
        ar_recv_reduce(s, rank - 1, ar_out(all), ar_in(all), AR_RECEIVED_FIRST);
    ar_end_round(s);
    if (rank < nranks - 1) {
        ar_send(s, rank + 1, ar_region_in(rank == 0 ? AR_IN : AR_OUT, all));
        ar_end_round(s);
        ar_recv(s, rank + 1, ar_out(all));
        ar_end_round(s);
    }
    if (rank > 0)
        ar_send(s, rank - 1, ar_out(all));
    return ar_schedule_finish(s);
}
