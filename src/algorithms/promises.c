/* What a row promises with its parameters. */
#include "algorithms/registry.h"

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
