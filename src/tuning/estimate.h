/* What values that were measured tell: their median, an interval in which the true one is, and how
 * far they are spread.  Pure. */
#ifndef AR_ESTIMATE_H
#define AR_ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* --- the values of a candidate: the times that it was measured to take --- */

/* Those of two candidates are compared in pairs, each pair measured under the same conditions; what
 * pairs differ by is the noise that counts.  (Ranks that share cores stay with each other for long,
 * so that within a pass over all candidates nothing seems to change.) */

#define AR_VALUES_MAX 32

struct ar_values {
    double seconds[AR_VALUES_MAX]; /* or any other unit; in the order of measuring */
    int n;
};

/* Beyond AR_VALUES_MAX the first is forgotten. */
void ar_values_add(struct ar_values *values, double seconds);

/* Of at least one value. */
double ar_values_least(const struct ar_values *values);
double ar_values_median(const struct ar_values *values);
struct ar_estimate ar_values_estimate(const struct ar_values *values);

/* In which part of the pairs, 0 to 1, a is faster than b by more than margin (0.05: b takes 1.05
 * times as long).  Where one has more values than the other, its last ones count. */
double ar_values_won(const struct ar_values *a, const struct ar_values *b, double margin);

/* By how much a is faster than b in pairs, as above: NAN, all, where there is no pair. */
struct ar_estimate ar_values_gain(const struct ar_values *a, const struct ar_values *b);

/* Fills order with 0 .. n-1, shuffled: the same for the same seed. */
void ar_shuffle(size_t *order, size_t n, uint64_t seed);

#endif
