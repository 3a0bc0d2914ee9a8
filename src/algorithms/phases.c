#include "algorithms/phases.h"

#include <stdlib.h>

#include "algorithms/registry.h"
#include "schedule/walk.h"

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

/* Part j starts at member j+1 and is complete when it comes to member j. */
void
ar_ring_reduce_round(struct ar_schedule *s, struct ar_loop ring, struct ar_span span,
                     enum ar_buffer have, int k)
{
    const int n = ring.size, part = ring.me - k - 1 + n;
    const struct ar_span sent = ar_subspan(span, n, part % n);
    const struct ar_span got = ar_subspan(span, n, (part - 1) % n);
    ar_send(s, ring.right, ar_region_in(k == 0 ? have : AR_OUT, sent));
    ar_recv_combine(s, ring.left, got, have, AR_RECEIVED_FIRST);
}

void
ar_ring_gather_round(struct ar_schedule *s, struct ar_loop ring, struct ar_span span, int k)
{
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
            ar_recv_combine(s, ar_group_rank(group, me + distance), span, have, AR_LOCAL_FIRST);
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

/* --- a part of the work by another row --- */

/* What a step of the inner schedule means in the outer one. */
struct view {
    const struct ar_group *group;
    int *ranks; /* of the members; -1: not looked up yet, which may take long */
    struct ar_span span;
    enum ar_buffer have;
};

static int
rank_of(const struct view *view, int i)
{
    if (view->ranks[i] < 0)
        view->ranks[i] = ar_group_rank(view->group, i);
    return view->ranks[i];
}

static struct ar_region
region_of(const struct view *view, struct ar_region region)
{
    if (region.buffer == AR_IN)
        region.buffer = view->have;
    if (region.buffer != AR_TMP)
        region.offset += view->span.offset;
    return region;
}

static void
append(struct ar_schedule *s, const struct view *view, const struct ar_step *step)
{
    const struct ar_region dst = region_of(view, step->dst), a = region_of(view, step->a);
    switch (step->kind) {
    case AR_SEND:
        ar_send(s, rank_of(view, step->peer), a);
        break;
    case AR_RECV:
        ar_recv(s, rank_of(view, step->peer), dst);
        break;
    case AR_RECV_REDUCE:
        ar_recv_reduce(s, rank_of(view, step->peer), dst, a, step->order);
        break;
    case AR_COPY: /* what is IN there may be OUT here already */
        if (dst.buffer != a.buffer || dst.offset != a.offset)
            ar_copy(s, dst, a);
        break;
    case AR_REDUCE:
        ar_reduce(s, dst, a, region_of(view, step->b));
        break;
    }
}

void
ar_inner_allreduce(struct ar_schedule *s, const struct ar_algorithm *row,
                   const struct ar_group *group, struct ar_span span, enum ar_buffer have)
{
    struct view view = {group, NULL, span, have};
    struct ar_schedule inner;

    if (group->size == 1) {
        if (have == AR_IN)
            ar_copy(s, ar_out(span), ar_in(span));
        ar_end_round(s);
        return;
    }
    ar_end_round(s);
    view.ranks = malloc((size_t)group->size * sizeof *view.ranks);
    for (int i = 0; view.ranks && i < group->size; i++)
        view.ranks[i] = -1;
    const int error = view.ranks ? ar_algorithm_emit(row, &inner, group->me, group->size,
                                                     span.length, &row->defaults)
                                 : AR_ERR_MEMORY;
    if (error) {
        ar_schedule_fail(s, error);
    } else {
        for (size_t round = 0; round < inner.nrounds; round++) {
            for (size_t i = ar_round_begin(&inner, round); i < inner.round_end[round]; i++)
                append(s, &view, &inner.steps[i]);
            ar_end_round(s);
        }
        ar_schedule_fini(&inner);
    }
    free(view.ranks);
}
