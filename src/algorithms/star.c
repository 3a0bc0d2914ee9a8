/* Star allreduce (parameter server): the root takes all vectors, combines them
 * and sends the result to each.
 *
 * Rounds 2; sent: the root (p-1)n elements, the others n; scratch p-1 vectors at
 * the root.  With serve=one_by_one the root takes one vector after another and
 * sends to one rank after another: rounds 2(p-1), scratch one vector, or two where
 * rank 0 is not the root.
 * Any op: the root combines in rank order, so that the result is that of a plain
 * loop over the ranks whatever the root (parameter, modulo p); any p >= 1 and any
 * n >= 0.
 * Source: flat reduce and broadcast; as parameter server: Li et al., Scaling
 * Distributed Machine Learning with the Parameter Server, OSDI 2014.
 */
#include "algorithms/algorithms.h"
#include "algorithms/patterns.h"

int
ar_star(struct ar_schedule *s, int rank, int nranks, size_t count, const struct ar_params *params)
{
    const struct ar_span all = ar_whole(count);
    const int root = params->root % nranks;
    const bool in_turn = params->serve == AR_SERVE_ONE_BY_ONE;

    for (int i = 0; rank == root && i < nranks; i++) {
        ar_accumulate(s, AR_IN, root, i, i);
        if (in_turn && i + 1 != root) /* what the root has itself takes no round */
            ar_end_round(s);
    }
    if (rank != root)
        ar_send(s, root, ar_in(all));
    ar_end_round(s);

    for (int i = 0; rank == root && i < nranks; i++)
        if (i != root) {
            ar_send(s, i, ar_out(all));
            if (in_turn)
                ar_end_round(s);
        }
    if (rank != root)
        ar_recv(s, root, ar_out(all));
    return ar_schedule_finish(s);
}
