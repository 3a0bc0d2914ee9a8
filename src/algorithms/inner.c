#include "algorithms/inner.h"

#include "schedule/embed.h"

void
ar_inner_allreduce(struct ar_schedule *s, const struct ar_algorithm *row,
                   const struct ar_group *group, struct ar_span span, enum ar_buffer have)
{
    const struct ar_place place = {group->rank_of, group->layout, have, span};
    struct ar_schedule inner;

    if (group->size == 1) {
        ar_settle(s, span, have);
        return;
    }
    const int error =
        ar_algorithm_emit(row, &inner, group->me, group->size, span.length, &row->defaults);
    if (error) {
        ar_schedule_fail(s, error);
        return;
    }
    ar_embed(s, &inner, place);
    ar_schedule_fini(&inner);
}
