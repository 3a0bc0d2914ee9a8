/* Circulant graph allreduce: reduce-scatter and allgather in ceil(log2 p) rounds
 * each, for any p, with the messages of the ring.
 *
 * The ranks stand round a circle; block r+i, for i = 0..reach-1, is what rank r
 * still has partial results of.  A round halves reach to skip = ceil(reach/2): the
 * blocks from skip on go to rank r+skip, whose first ones they are, and as many
 * come from rank r-skip.  The allgather runs the same rounds backwards.
 *
 * Rounds 2 ceil(log2 p); sent per rank exactly 2n(p-1)/p elements, in a message,
 * or in two where blocks wrap round the end of the vector; no scratch.
 * Needs a commutative op; any p >= 1 and any n >= 0.
 * Source: Träff, Optimal, non-pipelined reduce-scatter and allreduce algorithms,
 * arXiv 2410.14234, 2024.
 */
#include "algorithms/algorithms.h"
#include "algorithms/patterns.h"

int
ar_circulant(struct ar_schedule *s, int rank, int nranks, size_t count,
             const struct ar_params *params)
{
    const struct ar_cut cut = {count, nranks};
    const struct ar_span middle = ar_block(cut, rank + nranks / 2);
    int rounds = 0;
    (void)params;

    for (int reach = nranks, skip; reach > 1; reach = skip) {
        skip = (reach + 1) / 2;
        const int ahead = (rank + skip) % nranks, behind = (rank + nranks - skip) % nranks;
        const enum ar_buffer have = reach == nranks ? AR_IN : AR_OUT;

        ar_send_blocks(s, ahead, have, cut, ahead, reach - skip);
        ar_recv_reduce_blocks(s, behind, have, cut, rank, reach - skip);
        /* Of odd p the first round neither sends nor receives one block; later it is sent along
         * with blocks that are in OUT. */
        if (reach == nranks && nranks % 2)
            ar_copy(s, ar_out(middle), ar_in(middle));
        ar_end_round(s);
    }

    /* reach was p, ceil(p/2), ceil(p/4), ..., 2 (rounding up twice is once).  Of the blocks from
     * rank's own on the first skip are complete; those up to reach are fetched. */
    while (nranks > 1 << rounds)
        rounds++;
    for (int halvings = rounds - 1; halvings >= 0; halvings--) {
        const int reach = (nranks + (1 << halvings) - 1) >> halvings, skip = (reach + 1) / 2;
        const int ahead = (rank + skip) % nranks, behind = (rank + nranks - skip) % nranks;

        ar_send_blocks(s, behind, AR_OUT, cut, rank, reach - skip);
        ar_recv_blocks(s, ahead, cut, ahead, reach - skip);
        ar_end_round(s);
    }
    return ar_schedule_finish(s);
}
