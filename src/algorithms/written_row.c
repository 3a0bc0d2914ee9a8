#include "algorithms/written_row.h"

#include <stdio.h>
#include <stdlib.h>

#include "schedule/written_print.h"

/* Makes elements of units of so many; false where a region begins or ends inside a unit. */
static bool
shorten(struct ar_region *region, size_t unit)
{
    if (region->offset % unit || region->length % unit)
        return false;
    region->offset /= unit;
    region->length /= unit;
    return true;
}

/* Emits all ranks' schedules for that many units.  *made is NULL where they are not made of
 * units. */
static int
emit_units(struct ar_schedule **made, const struct ar_emission *e, size_t units, size_t unit)
{
    struct ar_emission of = *e;
    bool is_even = true;
    int error = AR_OK;
    struct ar_schedule *const schedules = calloc((size_t)e->nranks, sizeof *schedules);
    *made = NULL;
    if (!schedules)
        return AR_ERR_MEMORY;
    of.count = units * unit;
    for (int r = 0; r < e->nranks && is_even && !error; r++) {
        error = ar_algorithm_source(&of, &schedules[r], r);
        for (size_t i = 0; !error && is_even && i < schedules[r].nsteps; i++) {
            struct ar_step *const step = &schedules[r].steps[i];
            is_even =
                shorten(&step->dst, unit) && shorten(&step->a, unit) && shorten(&step->b, unit);
        }
        schedules[r].count = units;
        schedules[r].tmp_length /= unit;
    }
    if (error || !is_even)
        ar_schedules_destroy(schedules, e->nranks);
    else
        *made = schedules;
    return error;
}

/* Blocks of one element would not show where the row cuts: each has two or more. */
int
ar_written_row_make(struct ar_written *w, const struct ar_emission *emission)
{
    struct ar_schedule *schedules = NULL;
    size_t blocks = 0;
    int error = AR_OK;
    while (!error && !schedules && blocks < AR_WRITTEN_BLOCKS_MAX) {
        const size_t unit = emission->count / ++blocks;
        error = emit_units(&schedules, emission, blocks, unit > 2 ? unit : 2);
    }
    if (error || !schedules)
        return error ? error : AR_ERR_PARAM;
    error = ar_written_make(w, schedules, emission->nranks, (int)blocks);
    ar_schedules_destroy(schedules, emission->nranks);
    if (!error)
        snprintf(w->name, sizeof w->name, "%s", emission->row->name);
    return error;
}
