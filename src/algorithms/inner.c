#include "algorithms/inner.h"

#include <stdlib.h>

#include "schedule/walk.h"

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
