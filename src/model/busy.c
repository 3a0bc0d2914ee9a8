#include "model/busy.h"

#include <math.h>
#include <string.h>

static void
forget(struct ar_busy *busy, size_t i)
{
    busy->n--;
    memmove(&busy->idle[i], &busy->idle[i + 1], (busy->n - i) * sizeof busy->idle[0]);
}

/* Cuts an idle time in two at a moment inside it; returns the number of the second part. */
static size_t
cut(struct ar_busy *busy, size_t i, double at)
{
    if (busy->n == AR_BUSY_IDLE && i == 0) {
        busy->idle[i].from = at;
        return i;
    }
    if (busy->n == AR_BUSY_IDLE) {
        forget(busy, 0);
        i--;
    }
    memmove(&busy->idle[i + 1], &busy->idle[i], (busy->n - i) * sizeof busy->idle[0]);
    busy->n++;
    busy->idle[i].to = at;
    busy->idle[i + 1].from = at;
    return i + 1;
}

double
ar_busy_take(struct ar_busy *busy, double at, double length)
{
    size_t i = 0;
    if (busy->n == 0)
        busy->idle[busy->n++].to = HUGE_VAL;
    while (busy->idle[i].to <= at)
        i++;
    if (busy->idle[i].from < at)
        i = cut(busy, i, at);
    while (busy->idle[i].to - busy->idle[i].from < length) {
        length -= busy->idle[i].to - busy->idle[i].from;
        forget(busy, i);
    }
    busy->idle[i].from += length;
    return busy->idle[i].from;
}
