/* From a row to the schedule of a rank. */
#include "algorithms/patterns.h"
#include "algorithms/registry.h"

/* With the groups that the levels give, made for this emission alone where the caller has none. */
static int
emit_by_levels(const struct ar_algorithm *row, struct ar_schedule *s, int rank, int nranks,
               size_t count, const struct ar_params *params)
{
    const struct ar_grouping *const given = params->grouping;
    const bool is_given = given && given->nranks == nranks;
    const bool makes = !is_given && ar_levels_may_group(&params->levels, params->domains);
    struct ar_params with = *params;
    struct ar_grouping own;
    if (makes && ar_levels_group(&own, NULL, &params->levels, params->domains, nranks)) {
        ar_schedule_fail(s, AR_ERR_MEMORY);
        return ar_schedule_finish(s);
    }
    with.grouping = makes ? &own : is_given ? given : NULL;
    if (with.grouping && with.grouping->nlevels == 1)
        with.grouping = NULL;
    const int error = row->emit(s, rank, nranks, count, &with);
    if (makes)
        ar_grouping_fini(&own);
    return error;
}

int
ar_algorithm_emit(const struct ar_algorithm *row, struct ar_schedule *s, int rank, int nranks,
                  size_t count, const struct ar_params *params)
{
    ar_schedule_init(s, rank, nranks, count);
    int error;
    if (nranks > 1 && row->takes & AR_TAKES_LEVELS) {
        error = emit_by_levels(row, s, rank, nranks, count, params ? params : &row->defaults);
    } else if (nranks > 1) {
        error = row->emit(s, rank, nranks, count, params ? params : &row->defaults);
    } else {
        ar_copy(s, ar_out(ar_whole(count)), ar_in(ar_whole(count)));
        error = ar_schedule_finish(s);
    }
    if (error)
        ar_schedule_fini(s);
    return error;
}

int
ar_algorithm_source(void *emission, struct ar_schedule *s, int rank)
{
    const struct ar_emission *const e = emission;
    return ar_algorithm_emit(e->row, s, rank, e->nranks, e->count, e->params);
}
