#include "algorithms/phases.h"

#include "algorithms/patterns.h"

/* --- groups --- */

static int
identity(const void *layout, int i)
{
    (void)layout;
    return i;
}

struct ar_group
ar_group_all(const struct ar_schedule *s)
{
    return (struct ar_group){s->nranks, s->rank, identity, NULL};
}

int
ar_group_rank(const struct ar_group *group, int i)
{
    return group->rank_of(group->layout, i);
}

struct ar_loop
ar_group_loop(const struct ar_group *group)
{
    const int n = group->size, me = group->me;
    return (struct ar_loop){n, me, ar_group_rank(group, (me + n - 1) % n),
                            ar_group_rank(group, (me + 1) % n)};
}

struct ar_loop
ar_loop_all(const struct ar_schedule *s)
{
    const int n = s->nranks, next = (s->rank + 1) % n;
    return (struct ar_loop){n, next, (s->rank + n - 1) % n, next};
}

struct ar_loop
ar_loop_reversed(struct ar_loop loop)
{
    return (struct ar_loop){loop.size, loop.size - 1 - loop.me, loop.right, loop.left};
}

/* --- parts of a span --- */

/* Parts first .. first+n-1, without wrapping. */
static struct ar_span
parts_of(struct ar_span span, int parts, int first, int n)
{
    struct ar_span some = ar_blocks((struct ar_cut){span.length, parts}, first, n);
    some.offset += span.offset;
    return some;
}

/* How many of n parts from first on come before the end. */
static int
before_end(int parts, int first, int n)
{
    return n < parts - first ? n : parts - first;
}

void
ar_send_parts(struct ar_schedule *s, int peer, struct ar_span span, int parts, int first, int n,
              enum ar_buffer buffer)
{
    const int head = before_end(parts, first, n);
    ar_send(s, peer, ar_region_in(buffer, parts_of(span, parts, first, head)));
    ar_send(s, peer, ar_region_in(buffer, parts_of(span, parts, 0, n - head)));
}

void
ar_recv_parts(struct ar_schedule *s, int peer, struct ar_span span, int parts, int first, int n)
{
    const int head = before_end(parts, first, n);
    ar_recv(s, peer, ar_out(parts_of(span, parts, first, head)));
    ar_recv(s, peer, ar_out(parts_of(span, parts, 0, n - head)));
}

static void
recv_reduce(struct ar_schedule *s, int peer, struct ar_span span, enum ar_buffer have,
            enum ar_order order)
{
    ar_recv_reduce(s, peer, ar_out(span), ar_region_in(have, span), order);
}

void
ar_recv_reduce_parts(struct ar_schedule *s, int peer, struct ar_span span, int parts, int first,
                     int n, enum ar_buffer have)
{
    const int head = before_end(parts, first, n);
    recv_reduce(s, peer, parts_of(span, parts, first, head), have, AR_RECEIVED_FIRST);
    recv_reduce(s, peer, parts_of(span, parts, 0, n - head), have, AR_RECEIVED_FIRST);
}

void
ar_settle(struct ar_schedule *s, struct ar_span span, enum ar_buffer have)
{
    if (have == AR_IN)
        ar_copy(s, ar_out(span), ar_in(span));
    ar_end_round(s);
}

/* --- ring --- */

/* Part j starts at member j+1 and is complete when it comes to member j. */
void
ar_ring_reduce_round(struct ar_schedule *s, struct ar_loop ring, struct ar_span span,
                     enum ar_buffer have, int k)
{
    if (k >= ring.size - 1)
        return;
    const int n = ring.size, sent = ring.me - k - 1, got = ring.me - k - 2;
    const enum ar_buffer from = k == 0 ? have : AR_OUT;
    ar_send(s, ring.right, ar_region_in(from, ar_subspan(span, n, (sent + n) % n)));
    recv_reduce(s, ring.left, ar_subspan(span, n, (got + n) % n), have, AR_RECEIVED_FIRST);
}

void
ar_ring_gather_round(struct ar_schedule *s, struct ar_loop ring, struct ar_span span, int k)
{
    if (k >= ring.size - 1)
        return;
    ar_send(s, ring.right, ar_out(ar_subspan(span, ring.size, ring.me - k)));
    ar_recv(s, ring.left, ar_out(ar_subspan(span, ring.size, ring.me - k - 1)));
}

enum ar_buffer
ar_ring_reduce_scatter(struct ar_schedule *s, struct ar_loop ring, struct ar_span span,
                       enum ar_buffer have)
{
    for (int k = 0; k < ring.size - 1; k++) {
        ar_ring_reduce_round(s, ring, span, have, k);
        ar_end_round(s);
    }
    return ring.size > 1 ? AR_OUT : have;
}

void
ar_ring_allgather(struct ar_schedule *s, struct ar_loop ring, struct ar_span span)
{
    for (int k = 0; k < ring.size - 1; k++) {
        ar_ring_gather_round(s, ring, span, k);
        ar_end_round(s);
    }
}

void
ar_ring_allreduce(struct ar_schedule *s, struct ar_loop ring, struct ar_span span,
                  enum ar_buffer have)
{
    ar_settle(s, span, ar_ring_reduce_scatter(s, ring, span, have));
    ar_ring_allgather(s, ring, span);
}

/* --- line --- */

/* Rightwards member i sends part j > i, with the contributions of members 0..i,
 * in round i + (size-1-j): the furthest first, and all parts arrive in the last
 * round.  Leftwards the mirror image. */
void
ar_line_reduce_round(struct ar_schedule *s, struct ar_loop line, struct ar_span span,
                     enum ar_buffer have, int k)
{
    const int n = line.size, me = line.me, last = n - 1;
    const int right = me + last - k, left = me - last + k; /* what it sends there */
    if (k >= last)
        return;
    if (right <= last)
        ar_send(s, line.right, ar_region_in(me == 0 ? have : AR_OUT, ar_subspan(span, n, right)));
    if (left >= 0)
        ar_send(s, line.left, ar_region_in(me == last ? have : AR_OUT, ar_subspan(span, n, left)));
    if (me > 0 && right - 1 <= last)
        recv_reduce(s, line.left, ar_subspan(span, n, right - 1), have, AR_RECEIVED_FIRST);
    if (me < last && left + 1 >= 0)
        recv_reduce(s, line.right, ar_subspan(span, n, left + 1),
                    me > 0 && left + 1 == me ? AR_OUT : have, AR_LOCAL_FIRST);
}

/* Parts leave in the order of their distance. */
void
ar_line_gather_round(struct ar_schedule *s, struct ar_loop line, struct ar_span span, int k)
{
    const int n = line.size, me = line.me, last = n - 1;
    if (k >= last)
        return;
    if (me < last && me - k >= 0)
        ar_send(s, line.right, ar_out(ar_subspan(span, n, me - k)));
    if (me > 0 && me + k <= last)
        ar_send(s, line.left, ar_out(ar_subspan(span, n, me + k)));
    if (me - k - 1 >= 0)
        ar_recv(s, line.left, ar_out(ar_subspan(span, n, me - k - 1)));
    if (me + k + 1 <= last)
        ar_recv(s, line.right, ar_out(ar_subspan(span, n, me + k + 1)));
}

/* --- pairs --- */

enum ar_buffer
ar_pairwise_reduce_scatter(struct ar_schedule *s, const struct ar_group *group, struct ar_span span,
                           enum ar_buffer have)
{
    const int n = group->size, me = group->me;
    const struct ar_span mine = ar_subspan(span, n, me);

    for (int k = 1; k < n; k++) {
        const int to = (me + k) % n, from = (me + n - k) % n;
        ar_send(s, ar_group_rank(group, to), ar_region_in(have, ar_subspan(span, n, to)));
        recv_reduce(s, ar_group_rank(group, from), mine, k == 1 ? have : AR_OUT, AR_RECEIVED_FIRST);
        ar_end_round(s);
    }
    return n > 1 ? AR_OUT : have;
}

enum ar_buffer
ar_halving_reduce_scatter(struct ar_schedule *s, const struct ar_group *group, struct ar_span span,
                          enum ar_buffer have)
{
    const int n = group->size, me = group->me;

    for (int half = n / 2; half > 0; half /= 2) {
        const int other = me ^ half, peer = ar_group_rank(group, other);
        const struct ar_span kept = parts_of(span, n, me & ~(half - 1), half);
        const struct ar_span given = parts_of(span, n, other & ~(half - 1), half);
        const enum ar_order order = peer < s->rank ? AR_RECEIVED_FIRST : AR_LOCAL_FIRST;

        ar_send(s, peer, ar_region_in(have, given));
        recv_reduce(s, peer, kept, have, order);
        ar_end_round(s);
        have = AR_OUT;
    }
    return have;
}

enum ar_buffer
ar_exchange(struct ar_schedule *s, const struct ar_group *group, struct ar_span span,
            enum ar_buffer have)
{
    for (int distance = 1; distance < group->size; distance *= 2) {
        const int peer = ar_group_rank(group, group->me ^ distance);
        ar_send(s, peer, ar_region_in(have, span));
        recv_reduce(s, peer, span, have, peer < s->rank ? AR_RECEIVED_FIRST : AR_LOCAL_FIRST);
        ar_end_round(s);
        have = AR_OUT;
    }
    return have;
}

void
ar_doubling_allgather(struct ar_schedule *s, const struct ar_group *group, struct ar_span span)
{
    const int n = group->size, me = group->me;

    for (int half = 1; half < n; half *= 2) {
        const int other = me ^ half, peer = ar_group_rank(group, other);
        ar_send(s, peer, ar_out(parts_of(span, n, me & ~(half - 1), half)));
        ar_recv(s, peer, ar_out(parts_of(span, n, other & ~(half - 1), half)));
        ar_end_round(s);
    }
}

void
ar_bruck_allgather(struct ar_schedule *s, const struct ar_group *group, struct ar_span span)
{
    const int n = group->size, me = group->me;

    for (int have = 1; have < n; have *= 2) {
        const int more = have < n - have ? have : n - have;
        const int ahead = (me + have) % n, behind = (me + n - have) % n;
        ar_send_parts(s, ar_group_rank(group, behind), span, n, me, more, AR_OUT);
        ar_recv_parts(s, ar_group_rank(group, ahead), span, n, ahead, more);
        ar_end_round(s);
    }
}

/* --- binomial tree --- */

enum ar_buffer
ar_binomial_reduce(struct ar_schedule *s, const struct ar_group *group, struct ar_span span,
                   enum ar_buffer have)
{
    const int n = group->size, me = group->me;

    for (int distance = 1; distance < n; distance *= 2) {
        if (me & distance) {
            ar_send(s, ar_group_rank(group, me - distance), ar_region_in(have, span));
            ar_end_round(s);
            return have;
        }
        if (me + distance < n) {
            recv_reduce(s, ar_group_rank(group, me + distance), span, have, AR_LOCAL_FIRST);
            ar_end_round(s);
            have = AR_OUT;
        }
    }
    return have;
}

void
ar_binomial_broadcast(struct ar_schedule *s, const struct ar_group *group, struct ar_span span)
{
    const int n = group->size, me = group->me;
    int distance = 1; /* from the parent; of member 0, past the furthest child */

    while (distance < n && !(me & distance))
        distance *= 2;
    if (me > 0) {
        ar_recv(s, ar_group_rank(group, me - distance), ar_out(span));
        ar_end_round(s);
    }
    for (distance /= 2; distance > 0; distance /= 2) {
        if (me + distance < n)
            ar_send(s, ar_group_rank(group, me + distance), ar_out(span));
    }
    ar_end_round(s);
}
