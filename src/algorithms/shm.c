/* Shared memory: the ranks of a node write their vectors where all can read them.
 * A short vector is combined by every rank, all of it.  Of a long one each rank
 * combines its block of all vectors, and fetches the others' results.
 *
 * What is emitted here says the same in messages: every rank sends every other
 * what that one combines, combines, and, of a long vector, sends the result to
 * all.  The executor (execute/node.c) replaces the messages by loads and stores
 * where the ranks share memory.  Short are up to whole_bytes; a schedule knows no
 * types, so that here an element counts as a byte.
 *
 * Rounds 2, short 1; sent per rank 2n(p-1)/p elements, short (p-1)n; scratch n,
 * short pn.
 * Any op: operands are combined in rank order, from the last to the first, and
 * alike for every element in either form: its sum depends neither on n nor on its
 * place.  Any p >= 1 and any n >= 0.
 * Source: the flat shared-memory collectives of Graham & Shipman, EuroPVM/MPI
 * 2008, LNCS 5205:130-140.
 */
#include "algorithms/algorithms.h"

#include <stdbool.h>

/* The slot of rank i: what this rank combines of that one's vector. */
static struct ar_region
slot(struct ar_span mine, int i)
{
    return ar_tmp((struct ar_span){(size_t)i * mine.length, mine.length});
}

int
ar_shm(struct ar_schedule *s, int rank, int nranks, size_t count, const struct ar_params *params)
{
    const struct ar_cut cut = {count, nranks};
    const bool is_short = count <= params->whole_bytes;
    const struct ar_span all = ar_whole(count), mine = is_short ? all : ar_block(cut, rank);
    const int last = nranks - 1;

    if (nranks == 1)
        ar_copy(s, ar_out(all), ar_in(all));

    for (int i = 1; i < nranks; i++) {
        const int other = (rank + i) % nranks;
        ar_send(s, other, ar_in(is_short ? all : ar_block(cut, other)));
        ar_recv(s, other, slot(mine, other));
    }
    /* From the last operand to the first.  The running result replaces the last one's slot, and
     * goes to OUT with the first one. */
    for (int i = last - 1; i >= 0; i--)
        ar_reduce(s, i == 0 ? ar_out(mine) : slot(mine, last),
                  i == rank ? ar_in(mine) : slot(mine, i),
                  i == last - 1 && rank == last ? ar_in(mine) : slot(mine, last));
    ar_end_round(s);

    for (int i = 1; i < nranks && !is_short; i++) {
        const int other = (rank + i) % nranks;
        ar_send(s, other, ar_out(mine));
        ar_recv(s, other, ar_out(ar_block(cut, other)));
    }
    return ar_schedule_finish(s);
}
