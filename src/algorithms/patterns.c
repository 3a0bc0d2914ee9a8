#include "algorithms/patterns.h"

int
ar_pow2_floor(int n)
{
    int p = 1;
    while (p <= n / 2)
        p *= 2;
    return p;
}

enum ar_order
ar_rank_order(int rank, int peer)
{
    return peer < rank ? AR_RECEIVED_FIRST : AR_LOCAL_FIRST;
}

void
ar_recv_combine(struct ar_schedule *s, int peer, struct ar_span span, enum ar_buffer have,
                enum ar_order order)
{
    ar_recv_reduce(s, peer, ar_out(span), ar_region_in(have, span), order);
}

struct ar_core
ar_core_make(int nranks)
{
    const int size = ar_pow2_floor(nranks);
    return (struct ar_core){nranks, size, nranks - size};
}

int
ar_core_index(struct ar_core core, int rank)
{
    if (rank >= 2 * core.pairs)
        return rank - core.pairs;
    return rank % 2 ? rank / 2 : -1;
}

int
ar_core_rank(struct ar_core core, int index)
{
    return index < core.pairs ? 2 * index + 1 : index + core.pairs;
}

enum ar_buffer
ar_core_fold(struct ar_schedule *s, struct ar_core core)
{
    const struct ar_span all = ar_whole(s->count);
    if (s->rank >= 2 * core.pairs)
        return AR_IN;
    if (s->rank % 2 == 0)
        ar_send(s, s->rank + 1, ar_in(all));
    else
        ar_recv_reduce(s, s->rank - 1, ar_out(all), ar_in(all), AR_RECEIVED_FIRST);
    ar_end_round(s);
    return s->rank % 2 ? AR_OUT : AR_IN;
}

void
ar_core_unfold(struct ar_schedule *s, struct ar_core core)
{
    const struct ar_span all = ar_whole(s->count);
    if (s->rank >= 2 * core.pairs)
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

/* How many of n blocks from first on come before the end. */
static int
before_end(struct ar_cut cut, int first, int n)
{
    return n < cut.parts - first ? n : cut.parts - first;
}

void
ar_send_blocks(struct ar_schedule *s, int peer, enum ar_buffer have, struct ar_cut cut, int first,
               int n)
{
    const int head = before_end(cut, first, n);
    ar_send(s, peer, ar_region_in(have, ar_blocks(cut, first, head)));
    ar_send(s, peer, ar_region_in(have, ar_blocks(cut, 0, n - head)));
}

void
ar_recv_blocks(struct ar_schedule *s, int peer, struct ar_cut cut, int first, int n)
{
    const int head = before_end(cut, first, n);
    ar_recv(s, peer, ar_out(ar_blocks(cut, first, head)));
    ar_recv(s, peer, ar_out(ar_blocks(cut, 0, n - head)));
}

void
ar_recv_reduce_blocks(struct ar_schedule *s, int peer, enum ar_buffer have, struct ar_cut cut,
                      int first, int n)
{
    const int head = before_end(cut, first, n);
    ar_recv_combine(s, peer, ar_blocks(cut, first, head), have, AR_RECEIVED_FIRST);
    ar_recv_combine(s, peer, ar_blocks(cut, 0, n - head), have, AR_RECEIVED_FIRST);
}

struct ar_region
ar_region_in(enum ar_buffer buffer, struct ar_span span)
{
    return (struct ar_region){buffer, span.offset, span.length};
}
