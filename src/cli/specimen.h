/* Specimens: a vector a rank, of any named type, whose reduction is known, so that
 * every element of a result can be judged.
 *
 * Values are pseudo-random and repeat along the vector with a period that is prime,
 * so that no block and no segment fits it, and short, so that the reduction is
 * computed once. */
#ifndef AR_SPECIMEN_H
#define AR_SPECIMEN_H

#include <mpi.h>
#include <stddef.h>

#include "reduce/named.h"

enum ar_specimen_kind {
    AR_SPECIMEN_EXACT,   /* whole numbers and the like: any order of operands gives the result */
    AR_SPECIMEN_ROUNDED, /* as AR_SPECIMEN_EXACT, but sums and products of floating-point
                            numbers round: sums of 0..1, products of 0.75..1.25 */
    AR_SPECIMEN_KINDS
};

struct ar_specimen;

/* Of rank among nranks, for op on type, which takes it.  An enum ar_exit; rank 0 says why
 * it failed: no representation of type is known here, or memory ran out. */
int ar_specimen_create(struct ar_specimen **made, struct ar_named *type, enum ar_op op, int rank,
                       int nranks);
void ar_specimen_destroy(struct ar_specimen *s);

/* The rank's contribution. */
void ar_specimen_fill(const struct ar_specimen *s, enum ar_specimen_kind kind, void *elements,
                      size_t count);

/* How far elements are from the reduction, at the worst element: relative to the largest
 * element of the reduction; INFINITY where there is a NaN.  Floating-point sums and products
 * are known to twice the digits of long double, all else exactly. */
double ar_specimen_error(const struct ar_specimen *s, enum ar_specimen_kind kind,
                         const void *elements, size_t count);

/* The same between two vectors. */
double ar_specimen_distance(const struct ar_specimen *s, enum ar_specimen_kind kind, const void *a,
                            const void *b, size_t count);

#endif
