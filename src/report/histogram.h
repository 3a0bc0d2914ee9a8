/* Times on a logarithmic scale, in fixed memory: eight buckets between a power of two and the next.
 * So a bucket tells a time with an error of at most 1/16, and below 16 ns exactly. */
#ifndef AR_HISTOGRAM_H
#define AR_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

#define AR_HISTOGRAM_BITS    3  /* 2^BITS buckets between two powers of two */
#define AR_HISTOGRAM_OCTAVES 40 /* to 2^43 ns, two hours; the last bucket takes what is longer */
#define AR_HISTOGRAM_BUCKETS ((AR_HISTOGRAM_OCTAVES + 1) << AR_HISTOGRAM_BITS)

struct ar_histogram {
    uint64_t count[AR_HISTOGRAM_BUCKETS];
};

/* The bucket of a time. */
static inline unsigned
ar_histogram_bucket(uint64_t ns)
{
    if (ns < 1U << AR_HISTOGRAM_BITS)
        return (unsigned)ns;
    const unsigned octave = 63U - (unsigned)__builtin_clzll(ns) - AR_HISTOGRAM_BITS;
    if (octave >= AR_HISTOGRAM_OCTAVES)
        return AR_HISTOGRAM_BUCKETS - 1;
    return (octave << AR_HISTOGRAM_BITS) + (unsigned)(ns >> octave);
}

/* The time that stands for a bucket: its middle. */
uint64_t ar_histogram_ns(unsigned bucket);

/* The time that a fraction (0 to 1) of the calls did not exceed; 0 without calls. */
uint64_t ar_histogram_quantile(const struct ar_histogram *h, double fraction);

#endif
