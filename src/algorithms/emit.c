/* From a row to the schedule of a rank. */
#include "algorithms/cart.h"
#include "algorithms/nodes.h"
#include "algorithms/registry.h"

/* Parameters of rows that ask which ranks are on which node. */
#define ASKS_NODES (AR_TAKES_DIMS | AR_TAKES_INTER | AR_TAKES_INTRA | AR_TAKES_ORDER)

bool
ar_algorithm_has_levels_in_nodes(const struct ar_algorithm *row)
{
    return row->takes & AR_TAKES_LEVELS && row->takes & ASKS_NODES;
}

/* Can the row's groups be anything but flat? */
static bool
may_group(const struct ar_algorithm *row, const struct ar_params *params)
{
    if (ar_algorithm_has_levels_in_nodes(row) && params->levels.kind == AR_LEVELS_AUTO)
        return false;
    return ar_levels_may_group(&params->levels, params->domains);
}

int
ar_algorithm_group(struct ar_grouping *grouping, struct ar_levels *found,
                   const struct ar_algorithm *row, const struct ar_params *params, int nranks)
{
    static const struct ar_levels flat = {.kind = AR_LEVELS_FLAT};
    return ar_levels_group_nodes(
        grouping, found, may_group(row, params) ? &params->levels : &flat, params->domains,
        ar_algorithm_has_levels_in_nodes(row) ? params->node_of : NULL, nranks);
}

/* With the groups that the levels give, made for this emission alone where the caller has none. */
static int
emit_by_levels(const struct ar_algorithm *row, struct ar_schedule *s, int rank, int nranks,
               size_t count, const struct ar_params *params)
{
    const struct ar_grouping *const given = params->grouping;
    const bool is_given = given && given->nranks == nranks;
    const bool makes = !is_given && may_group(row, params);
    struct ar_params with = *params;
    struct ar_grouping own;
    if (makes && ar_algorithm_group(&own, NULL, row, params, nranks)) {
        ar_schedule_fail(s, AR_ERR_MEMORY);
        return ar_schedule_finish(s);
    }
    with.grouping = makes ? &own : is_given ? given : NULL;
    if (with.grouping && with.grouping->node_level == 0)
        with.grouping = NULL;
    const int error = row->emit(s, rank, nranks, count, &with);
    if (makes)
        ar_grouping_fini(&own);
    return error;
}

static int
emit(const struct ar_algorithm *row, struct ar_schedule *s, int rank, int nranks, size_t count,
     const struct ar_params *params)
{
    return row->takes & AR_TAKES_LEVELS ? emit_by_levels(row, s, rank, nranks, count, params)
                                        : row->emit(s, rank, nranks, count, params);
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
    const int error = emit(row, s, rank, nranks, count, &with);
    ar_node_index_fini(&own);
    return error;
}

const char *
ar_algorithm_fit(const struct ar_algorithm *row, struct ar_params *params, int nranks)
{
    if (params->root >= nranks) {
        params->root %= nranks;
        return "root is not of these ranks: another";
    }
    if (params->ndims > 0 && ar_cart_fit(params, nranks, row->dims_most))
        return "dims do not fit these ranks: cut";
    return NULL;
}

int
ar_algorithm_emit(const struct ar_algorithm *row, struct ar_schedule *s, int rank, int nranks,
                  size_t count, const struct ar_params *params)
{
    const struct ar_params *const with = params ? params : &row->defaults;
    ar_schedule_init(s, rank, nranks, count);
    int error;
    if (nranks > 1 && row->takes & ASKS_NODES && with->node_of && !with->node_index) {
        error = emit_by_nodes(row, s, rank, nranks, count, with);
    } else if (nranks > 1) {
        error = emit(row, s, rank, nranks, count, with);
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

/* --- what a row promises with its parameters --- */

bool
ar_algorithm_keeps_order(const struct ar_algorithm *row, const struct ar_params *params)
{
    const bool is_scattered = params->grouping && !params->grouping->ordered;
    return row->keeps_order && params->distance == AR_DISTANCE_DOUBLING && !is_scattered;
}

enum ar_family
ar_algorithm_family(const struct ar_algorithm *row, const struct ar_params *params)
{
    return params->unpaired == AR_UNPAIRED_FOLD ? row->family : AR_FAMILY_OWN;
}

enum ar_determinism
ar_levels_keep(const struct ar_levels *levels)
{
    return levels->kind == AR_LEVELS_NAMES ? AR_DETERMINISM_NONE : AR_DETERMINISM_SIZE;
}

enum ar_determinism
ar_algorithm_keeps(const struct ar_algorithm *row, const struct ar_params *params)
{
    const bool asks_nodes = params && params->order == AR_RING_BY_NODE;
    const enum ar_determinism keeps = row->keeps && !asks_nodes ? row->keeps : AR_DETERMINISM_RUN;
    const enum ar_determinism of_levels =
        params ? ar_levels_keep(&params->levels) : AR_DETERMINISM_SIZE;
    return of_levels < keeps ? of_levels : keeps;
}
