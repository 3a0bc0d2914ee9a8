#include "algorithms/patterns.h"

int
ar_pow2_floor(int n)
{
    int p = 1;
    while (p <= n / 2)
        p *= 2;
    return p;
}

struct ar_fold
ar_fold_make(int nranks)
{
    int core = ar_pow2_floor(nranks);
    return (struct ar_fold){nranks, core, nranks - core};
}

int
ar_fold_index(struct ar_fold fold, int rank)
{
    if (rank >= 2 * fold.pairs)
        return rank - fold.pairs;
    return rank % 2 ? rank / 2 : -1;
}

int
ar_fold_rank(struct ar_fold fold, int index)
{
    return index < fold.pairs ? 2 * index + 1 : index + fold.pairs;
}

enum ar_buffer
ar_fold_begin(struct ar_schedule *s, struct ar_fold fold)
{
    const struct ar_span all = ar_whole(s->count);
    if (s->rank >= 2 * fold.pairs)
        return AR_IN;
    if (s->rank % 2 == 0)
        ar_send(s, s->rank + 1, ar_in(all));
    else
        ar_recv_reduce(s, s->rank - 1, ar_out(all), ar_in(all), AR_RECEIVED_FIRST);
    ar_end_round(s);
    return s->rank % 2 ? AR_OUT : AR_IN;
}

void
ar_fold_end(struct ar_schedule *s, struct ar_fold fold)
{
    const struct ar_span all = ar_whole(s->count);
    if (s->rank >= 2 * fold.pairs)
        return;
    if (s->rank % 2 == 0)
        ar_recv(s, s->rank + 1, ar_out(all));
    else
        ar_send(s, s->rank - 1, ar_out(all));
    ar_end_round(s);
}

void
ar_accumulate(struct ar_schedule *s, enum ar_buffer have, int own, int i, int peer)
{
    const struct ar_span all = ar_whole(s->count);
    const struct ar_region mine = ar_region_in(have, all);

    if (i < own && i == 0)
        ar_recv(s, peer, ar_tmp(all));
    else if (i < own)
        ar_recv_reduce(s, peer, ar_tmp(all), ar_tmp(all), AR_LOCAL_FIRST);
    else if (i == own && i > 0)
        ar_reduce(s, ar_out(all), ar_tmp(all), mine);
    else if (i > own)
        ar_recv_reduce(s, peer, ar_out(all), i == 1 ? mine : ar_out(all), AR_LOCAL_FIRST);
}

void
ar_reduce_vectors(struct ar_schedule *s, int first)
{
    const int p = s->nranks;
    const struct ar_cut cut = {s->count * (size_t)p, p};
    const struct ar_region out = ar_out(ar_whole(s->count));
    struct ar_region have = ar_tmp(ar_block(cut, -first));

    for (int i = 1; i < p; i++) {
        ar_reduce(s, out, have, ar_tmp(ar_block(cut, i - first)));
        have = out;
    }
    ar_end_round(s);
}

struct ar_region
ar_region_in(enum ar_buffer buffer, struct ar_span span)
{
    return (struct ar_region){buffer, span.offset, span.length};
}
