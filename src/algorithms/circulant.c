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
#include "algorithms/phases.h"

/* The block that the first round, of odd p, neither sends nor receives: later it
 * is sent along with blocks that are in OUT. */
static void
copy_middle_block(struct ar_schedule *s, int rank, int nranks, struct ar_span all)
{
    const struct ar_span middle = ar_subspan(all, nranks, (rank + nranks / 2) % nranks);
    if (nranks % 2)
        ar_copy(s, ar_out(middle), ar_in(middle));
}

static void
reduce_scatter(struct ar_schedule *s, int rank, int nranks, struct ar_span all)
{
    for (int reach = nranks, skip; reach > 1; reach = skip) {
        skip = (reach + 1) / 2;
        const int ahead = (rank + skip) % nranks, behind = (rank + nranks - skip) % nranks;
        const enum ar_buffer have = reach == nranks ? AR_IN : AR_OUT;

        ar_send_parts(s, ahead, all, nranks, ahead, reach - skip, have);
        ar_recv_reduce_parts(s, behind, all, nranks, rank, reach - skip, have);
        if (reach == nranks)
            copy_middle_block(s, rank, nranks, all);
        ar_end_round(s);
    }
}

/* The first skip blocks, from rank's own on, are here; fetch those up to reach,
 * where skip = ceil(reach/2) and the last reach is nranks. */
static void
allgather_round(struct ar_schedule *s, int rank, int nranks, struct ar_span all, int reach)
{
    const int skip = (reach + 1) / 2;
    const int ahead = (rank + skip) % nranks, behind = (rank + nranks - skip) % nranks;

    ar_send_parts(s, behind, all, nranks, rank, reach - skip, AR_OUT);
    ar_recv_parts(s, ahead, all, nranks, ahead, reach - skip);
    ar_end_round(s);
}

int
ar_circulant(struct ar_schedule *s, int rank, int nranks, size_t count,
             const struct ar_params *params)
{
    const struct ar_span all = ar_whole(count);
    int rounds = 0;
    (void)params;

    if (nranks == 1)
        ar_settle(s, all, AR_IN);
    reduce_scatter(s, rank, nranks, all);

    /* reach was p, ceil(p/2), ceil(p/4), ..., 2 (rounding up twice is once). */
    while (nranks > 1 << rounds)
        rounds++;
    for (int halvings = rounds - 1; halvings >= 0; halvings--)
        allgather_round(s, rank, nranks, all, (nranks + (1 << halvings) - 1) >> halvings);
    return ar_schedule_finish(s);
}
