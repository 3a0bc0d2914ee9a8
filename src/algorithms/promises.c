/* What a row promises with its parameters. */
#include "algorithms/registry.h"

bool
ar_algorithm_keeps_order(const struct ar_algorithm *row, const struct ar_params *params)
{
    return row->keeps_order && params->distance == AR_DISTANCE_DOUBLING;
}

enum ar_family
ar_algorithm_family(const struct ar_algorithm *row, const struct ar_params *params)
{
    return params->unpaired == AR_UNPAIRED_FOLD ? row->family : AR_FAMILY_OWN;
}

enum ar_determinism
ar_algorithm_keeps(const struct ar_algorithm *row, const struct ar_params *params)
{
    const bool asks_nodes = params && params->order == AR_RING_BY_NODE;
    return row->keeps && !asks_nodes ? row->keeps : AR_DETERMINISM_RUN;
}
