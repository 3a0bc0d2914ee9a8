/* What values that were measured tell: their median, an interval in which the true one is, and how
 * far they are spread.  Pure. */
#ifndef AR_ESTIMATE_H
#define AR_ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>

#define AR_INTERVAL_LEAST 6   /* values that have an interval; fewer have none */
#define AR_SPREAD_WIDE    0.3 /* the spread above which a median is worth a warning */

struct ar_estimate {
    double median;
    /* The interval: whatever their distribution, the values' true median is in it with a
     * probability of 95 % at least, if they are independent.  NAN, both, of fewer than
     * AR_INTERVAL_LEAST. */
    double low, high;
    double
        spread; /* half the distance of the quartiles, as a part of the median; NAN of one value */
};

/* The interval of the median of n values is that from number *low to number *high, counted from 0,
 * of the sorted values: the narrowest pair as far from the first as from the last that covers 95 %.
 * False where not even the first and the last do.
 *
 * The pair (k, n+1-k), counted from 1, has the median between them if k to n-k values are below it,
 * and each is with probability 1/2.  Source: David & Nagaraja, Order Statistics, 3rd ed., 7.1. */
bool ar_median_interval(size_t *low, size_t *high, size_t n);

/* Sorts the n >= 1 values. */
struct ar_estimate ar_estimate_make(double *values, size_t n);

/* Do both have an interval? */
bool ar_estimates_are_sure(const struct ar_estimate *a, const struct ar_estimate *b);

/* Do both have an interval, and do these overlap?  Then it is a tie. */
bool ar_estimates_tie(const struct ar_estimate *a, const struct ar_estimate *b);

#endif
