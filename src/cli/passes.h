/* Times of a contestant, one from each pass.  What passes differ by is the noise that counts: ranks
 * that share cores stay with each other for long, so that within a pass nothing seems to
 * change.  No MPI. */
#ifndef AR_PASSES_H
#define AR_PASSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AR_PASSES_MAX 32

struct ar_passes {
    double seconds[AR_PASSES_MAX]; /* in the order of the passes */
    int n;
};

/* Beyond AR_PASSES_MAX the first is forgotten. */
void ar_passes_add(struct ar_passes *passes, double seconds);

/* Of at least one pass.  The noise is half the distance of the quartiles, as a part of the median.
 */
double ar_passes_least(const struct ar_passes *passes);
double ar_passes_median(const struct ar_passes *passes);
double ar_passes_noise(const struct ar_passes *passes);

/* In which part of the passes, 0 to 1, a is faster than b by more than margin (0.05: b takes 1.05
 * times as long).  Both were in the same passes; else their last ones count. */
double ar_passes_won(const struct ar_passes *a, const struct ar_passes *b, double margin);

/* Fills order with 0 .. n-1, shuffled: the same for the same seed. */
void ar_shuffle(size_t *order, size_t n, uint64_t seed);

#endif
