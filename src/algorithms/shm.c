/* Shared memory: the ranks of a node write their vectors where all can read them;
 * each combines its block of all vectors and fetches the others' results.
 *
 * What is emitted here says the same in messages: every rank sends every other
 * its block, combines, and sends the result to all.  The executor replaces the
 * messages by loads and stores where the ranks share memory.
 *
 * Rounds 2; sent per rank 2n(p-1)/p elements; scratch n.
 * Any op: operands are combined in rank order, from the last to the first, and
 * alike for every element: its sum depends neither on n nor on its place.  Any
 * p >= 1 and any n >= 0.
 * Source: the flat shared-memory collectives of Graham & Shipman, EuroPVM/MPI
 * 2008, LNCS 5205:130-140.
 */
#include "algorithms/algorithms.h"

/* Rank i's block that this rank combines: its own from IN, others' from TMP. */
static struct ar_region
operand(const struct ar_schedule *s, struct ar_span own, int i)
{
    if (i == s->rank)
        return ar_in(own);
    return ar_tmp((struct ar_span){(size_t)i * own.length, own.length});
}

/* From the last operand to the first; the running result replaces the last one's
 * place in TMP, and goes to OUT with the first one. */
static void
combine(struct ar_schedule *s, struct ar_span own)
{
    const int last = s->nranks - 1;
    const struct ar_region place = ar_tmp((struct ar_span){(size_t)last * own.length, own.length});
    for (int i = last - 1; i >= 0; i--)
        ar_reduce(s, i == 0 ? ar_out(own) : place, operand(s, own, i),
                  i == last - 1 ? operand(s, own, last) : place);
}

int
ar_shm(struct ar_schedule *s, int rank, int nranks, size_t count, const struct ar_params *params)
{
    const struct ar_cut cut = {count, nranks};
    const struct ar_span own = ar_block(cut, rank);
    (void)params;

    if (nranks == 1)
        ar_copy(s, ar_out(ar_whole(count)), ar_in(ar_whole(count)));

    for (int i = 1; i < nranks; i++) {
        const int other = (rank + i) % nranks;
        ar_send(s, other, ar_in(ar_block(cut, other)));
        ar_recv(s, other, operand(s, own, other));
    }
    combine(s, own);
    ar_end_round(s);

    for (int i = 1; i < nranks; i++) {
        const int other = (rank + i) % nranks;
        ar_send(s, other, ar_out(own));
        ar_recv(s, other, ar_out(ar_block(cut, other)));
    }
    return ar_schedule_finish(s);
}
