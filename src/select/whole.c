/* Choices for ops that need the whole vector. */
#include "select/select.h"

static bool
is_cut(const struct ar_choice *choice, int nranks, size_t count, size_t size, size_t scratch_bytes)
{
    return ar_algorithm_segment(choice->algorithm, &choice->params, nranks, count, size,
                                scratch_bytes) < count;
}

bool
ar_choice_make_whole(struct ar_choice *choice, int nranks, size_t count, size_t size,
                     size_t scratch_bytes)
{
    const struct ar_algorithm *const row = choice->algorithm;
    struct ar_params *const params = &choice->params;
    const bool has_lanes = row->takes & AR_TAKES_LANES;
    if (params->window == AR_WINDOW_AUTO)
        params->window = 1;
    const bool is_whole = has_lanes ? params->lanes == 1 && !ar_params_inter(params)->stand_in
                                    : !row->stand_in && params->exchange == AR_EXCHANGE_WHOLE;
    if (is_whole && !is_cut(choice, nranks, count, size, scratch_bytes))
        return false;
    if (has_lanes) {
        /* One leader per node, and between nodes an algorithm that does not cut either. */
        params->lanes = 1;
        params->inter = ar_algorithm_whole(ar_params_inter(params));
    } else if (!is_whole) {
        choice->algorithm = ar_algorithm_whole(row);
        if (choice->algorithm != row)
            *params = choice->algorithm->defaults;
        params->exchange = AR_EXCHANGE_WHOLE;
    }
    params->segment_bytes = 0;
    params->segments = 0;
    params->window = 1;
    if (is_cut(choice, nranks, count, size, scratch_bytes))
        *choice = (struct ar_choice){.kind = AR_CHOICE_NATIVE};
    return true;
}
