/* Operands for every rank, of any named type, and whether a result is their reduction.
 *
 * Operands are pseudo-random and repeat along the vector with a period that is prime, so that no
 * block and no segment fits it, and short, so that each rank computes the reduction by itself. */
#ifndef AR_JUDGE_H
#define AR_JUDGE_H

#include <stdbool.h>
#include <stddef.h>

#include "reduce/compare.h"

struct ar_judge;

/* For the operands of rank among nranks.  r is copied.  An enum ar_exit; rank 0 says why it failed:
 * no representation of the type is known here, or memory ran out. */
int ar_judge_create(struct ar_judge **made, const struct ar_reduction *r, int rank, int nranks);
void ar_judge_destroy(struct ar_judge *judge);

/* The rank's operands. */
void ar_judge_fill(const struct ar_judge *judge, void *elements, size_t count);

/* Are elements a reduction of all ranks' operands?  Rounded sums and products may differ from the
 * reduction in rank order by the bound that ALLREDUCE_VERIFY has (reduce/compare.h); all else,
 * complex products too, must be exact. */
bool ar_judge_is_right(struct ar_judge *judge, const void *elements, size_t count);

/* How far a is from b, or where that is NULL from a reduction in long double, at the worst element:
 * relative to the largest element of that reduction; INFINITY where there is a NaN.  0 for
 * integers. */
double ar_judge_distance(const struct ar_judge *judge, const void *a, const void *b, size_t count);

#endif
