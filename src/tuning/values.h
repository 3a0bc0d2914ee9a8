/* The values of a candidate: the times that it was measured to take.  Those of two candidates are
 * compared in pairs, each pair measured under the same conditions; what pairs differ by is the
 * noise that counts.  (Ranks that share cores stay with each other for long, so that within a pass
 * over all candidates nothing seems to change.)  Pure. */
#ifndef AR_VALUES_H
#define AR_VALUES_H

#include <stddef.h>
#include <stdint.h>

#include "tuning/estimate.h"

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
