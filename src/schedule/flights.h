/* What the messages of a round use while they are in flight, for the checker.  Pure. */
#ifndef AR_FLIGHTS_H
#define AR_FLIGHTS_H

#include <stdbool.h>
#include <stddef.h>

/* Memory that a step uses: not empty. */
struct ar_flight {
    const void *begin, *end;
    bool is_written;
    size_t step;
};

/* Does a step write what another one uses?  Then which ones.  Sorts the flights. */
bool ar_flights_collide(struct ar_flight *flights, size_t n, size_t *writer, size_t *other);

#endif
