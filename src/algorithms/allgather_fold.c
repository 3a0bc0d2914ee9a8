/* Allgather and fold: every rank learns every vector and combines them itself.
 *
 * Rounds by the parameter allgather
 *   ring      p-1
 *   bruck     ceil(log2 p)
 *   doubling  ceil(log2 p), the ranks' ranges doubling in length; where two differ
 *             (by one), one rank of the shorter one teaches two
 * Sent per rank (p-1)n elements (doubling: less than twice that where p is not
 * a power of two); scratch p vectors.
 * Any op: each rank combines in rank order, as a plain loop over the ranks; any
 * p >= 1 and any n >= 0.
 * Source: Open MPI's allreduce 7; Bruck et al., IEEE Trans. Parallel Distrib.
 * Syst. 8(11):1143-1156, 1997; Thakur, Rabenseifner & Gropp 2005.
 */
#include "algorithms/algorithms.h"
#include "algorithms/patterns.h"
#include "algorithms/tree.h"

/* TMP as one block per rank. */
static struct ar_cut
vectors(const struct ar_schedule *s)
{
    return (struct ar_cut){s->count * (size_t)s->nranks, s->nranks};
}

static void
allgather_ring(struct ar_schedule *s)
{
    const int p = s->nranks, left = (s->rank + p - 1) % p, right = (s->rank + 1) % p;

    for (int k = 0; k < p - 1; k++) {
        ar_send(s, right, ar_tmp(ar_block(vectors(s), s->rank - k)));
        ar_recv(s, left, ar_tmp(ar_block(vectors(s), s->rank - k - 1)));
        ar_end_round(s);
    }
}

/* Block j is here the vector of rank+j. */
static void
allgather_bruck(struct ar_schedule *s)
{
    const struct ar_cut cut = vectors(s);
    const int p = s->nranks;

    for (int distance = 1; distance < p; distance *= 2) {
        const int n = distance < p - distance ? distance : p - distance;
        ar_send(s, (s->rank + p - distance) % p, ar_tmp(ar_blocks(cut, 0, n)));
        ar_recv(s, (s->rank + distance) % p, ar_tmp(ar_blocks(cut, distance, n)));
        ar_end_round(s);
    }
}

/* All ranks of the range learn its vectors. */
static void
allgather_doubling(struct ar_schedule *s, struct ar_range range)
{
    if (range.n == 1)
        return;

    const struct ar_cut cut = vectors(s);
    const struct ar_split halves = ar_split_make(range, 2, s->rank);
    const int theirs = 1 - halves.own;
    const struct ar_range mine = ar_split_part(&halves, halves.own);
    const struct ar_range other = ar_split_part(&halves, theirs);

    allgather_doubling(s, mine);
    ar_split_teach(s, &halves, theirs, ar_tmp(ar_blocks(cut, mine.first, mine.n)));
    ar_recv(s, ar_split_teacher(&halves, theirs, s->rank),
            ar_tmp(ar_blocks(cut, other.first, other.n)));
    ar_end_round(s);
}

int
ar_allgather_fold(struct ar_schedule *s, int rank, int nranks, size_t count,
                  const struct ar_params *params)
{
    const struct ar_span all = ar_whole(count);
    const int first = params->allgather == AR_ALLGATHER_BRUCK ? rank : 0; /* rank of block 0 */

    ar_copy(s, ar_tmp(ar_block(vectors(s), rank - first)), ar_in(all));
    ar_end_round(s);
    switch (params->allgather) {
    case AR_ALLGATHER_RING:
        allgather_ring(s);
        break;
    case AR_ALLGATHER_BRUCK:
        allgather_bruck(s);
        break;
    case AR_ALLGATHER_DOUBLING:
        allgather_doubling(s, (struct ar_range){0, nranks});
        break;
    }
    ar_reduce_vectors(s, first);
    return ar_schedule_finish(s);
}
