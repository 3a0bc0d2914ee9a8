#include "schedule/flights.h"

#include <stdlib.h>

static int
by_begin(const void *a, const void *b)
{
    const struct ar_flight *const x = a, *const y = b;
    if (x->begin != y->begin)
        return (const char *)x->begin < (const char *)y->begin ? -1 : 1;
    return (x->step > y->step) - (x->step < y->step);
}

/* In the order of addresses, each flight is compared with the one before it that reaches farthest,
 * of those that are read, and of those that are written. */
bool
ar_flights_collide(struct ar_flight *flights, size_t n, size_t *writer, size_t *other)
{
    const struct ar_flight *farthest[2] = {NULL, NULL};
    if (n > 1)
        qsort(flights, n, sizeof *flights, by_begin);
    for (size_t i = 0; i < n; i++) {
        const struct ar_flight *const f = &flights[i];
        for (int is_written = 0; is_written < 2; is_written++) {
            const struct ar_flight *const before = farthest[is_written];
            if (!before || (const char *)f->begin >= (const char *)before->end ||
                (!is_written && !f->is_written))
                continue;
            *writer = f->is_written ? f->step : before->step;
            *other = f->is_written ? before->step : f->step;
            return true;
        }
        if (!farthest[f->is_written] ||
            (const char *)f->end > (const char *)farthest[f->is_written]->end)
            farthest[f->is_written] = f;
    }
    return false;
}
