#include "report/histogram.h"

#define SUBS (1U << AR_HISTOGRAM_BITS)

uint64_t
ar_histogram_ns(unsigned bucket)
{
    if (bucket < 2 * SUBS)
        return bucket;
    const unsigned octave = bucket / SUBS - 1;
    const uint64_t low = (uint64_t)(bucket % SUBS + SUBS) << octave;
    return low + ((uint64_t)1 << octave >> 1);
}

uint64_t
ar_histogram_quantile(const struct ar_histogram *h, double fraction)
{
    uint64_t calls = 0, seen = 0;
    unsigned last = 0;
    for (unsigned i = 0; i < AR_HISTOGRAM_BUCKETS; i++)
        calls += h->count[i];
    for (unsigned i = 0; i < AR_HISTOGRAM_BUCKETS; i++) {
        if (h->count[i] == 0)
            continue;
        last = i;
        seen += h->count[i];
        if ((double)seen >= fraction * (double)calls)
            break;
    }
    return ar_histogram_ns(last);
}
