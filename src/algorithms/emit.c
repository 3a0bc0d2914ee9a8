/* From a row to the schedule of a rank. */
#include "algorithms/nodes.h"
#include "algorithms/patterns.h"
#include "algorithms/registry.h"

/* Parameters of rows that ask which ranks are on which node. */
#define ASKS_NODES (AR_TAKES_DIMS | AR_TAKES_INTER | AR_TAKES_INTRA | AR_TAKES_ORDER)

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

/* A row asks for the rank of a node as often as it has steps, and without an index each question
 * goes through all ranks. */
static int
emit_by_nodes(const struct ar_algorithm *row, struct ar_schedule *s, int rank, int nranks,
              size_t count, const struct ar_params *params)
{
    struct ar_params with = *params;
    struct ar_node_index own;
    if (ar_node_index_init(&own, params->node_of, nranks)) {
        ar_schedule_fail(s, AR_ERR_MEMORY);
        return ar_schedule_finish(s);
    }
    with.node_index = &own;
    const int error = row->emit(s, rank, nranks, count, &with);
    ar_node_index_fini(&own);
    return error;
}

int
ar_algorithm_emit(const struct ar_algorithm *row, struct ar_schedule *s, int rank, int nranks,
                  size_t count, const struct ar_params *params)
{
    const struct ar_params *const with = params ? params : &row->defaults;
    ar_schedule_init(s, rank, nranks, count);
    int error;
    if (nranks > 1 && row->takes & AR_TAKES_LEVELS) {
        error = emit_by_levels(row, s, rank, nranks, count, with);
    } else if (nranks > 1 && row->takes & ASKS_NODES && with->node_of && !with->node_index) {
        error = emit_by_nodes(row, s, rank, nranks, count, with);
    } else if (nranks > 1) {
        error = row->emit(s, rank, nranks, count, with);
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
