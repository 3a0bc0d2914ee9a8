#include "schedule/embed.h"

#include <stdlib.h>

#include "schedule/walk.h"

/* What a step of the inner schedule means in the outer one.  Ranks are looked up once each: it may
 * take long, and an inner rank sends to few others again and again. */
struct view {
    struct ar_place place;
    int *ranks; /* -1: not looked up yet */
};

static int
rank_of(const struct view *view, int i)
{
    if (view->ranks[i] < 0)
        view->ranks[i] = view->place.rank_of(view->place.layout, i);
    return view->ranks[i];
}

static struct ar_region
region_of(const struct view *view, struct ar_region region)
{
    if (region.buffer == AR_IN)
        region.buffer = view->place.have;
    if (region.buffer != AR_TMP)
        region.offset += view->place.span.offset;
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
ar_embed(struct ar_schedule *s, const struct ar_schedule *inner, struct ar_place place)
{
    struct view view = {place, malloc((size_t)inner->nranks * sizeof *view.ranks)};

    ar_end_round(s);
    if (!view.ranks)
        ar_schedule_fail(s, AR_ERR_MEMORY);
    else if (inner->count != place.span.length)
        ar_schedule_fail(s, AR_ERR_STEP);
    for (int i = 0; view.ranks && i < inner->nranks; i++)
        view.ranks[i] = -1;
    for (size_t round = 0; round < inner->nrounds && !s->error; round++) {
        for (size_t i = ar_round_begin(inner, round); i < inner->round_end[round]; i++)
            append(s, &view, &inner->steps[i]);
        ar_end_round(s);
    }
    free(view.ranks);
}
