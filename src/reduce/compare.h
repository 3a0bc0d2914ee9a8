/* Comparing the results of two allreduces of the same operands, which combined them
 * in orders of their own.
 *
 * Integers, and logical and bitwise ops, give the same bits in any order.  Of rounded
 * ones the difference is bounded, for p operands x_i of unit roundoff u, with
 * g(k) = k u / (1 - k u):
 *   - a sum, in whatever order, errs by at most g(p-1) sum |x_i| (Higham, Accuracy and
 *     Stability of Numerical Algorithms, 2nd ed., section 4.2), so two of them differ by at
 *     most twice that.  The sum of magnitudes errs itself by a factor of 1 - g(p-1);
 *   - a product errs by a factor of at most 1 +- g(p-1) (section 3.1) as long as no partial
 *     product can leave the range of normal numbers, which the sum of |log2 |x_i|| tells;
 *   - maximum and minimum are exact, but for which of +0 and -0, and for what NaN does.
 * A sum or product may overflow on its way in one order and not in another.  For a sum, the sum of
 * magnitudes tells, held against the greatest number of the elements' own format.  There, and where
 * an infinity or NaN is among the operands, no difference is too large.  But of what kind a result
 * can be follows from the kinds of the operands: the sum of +inf and -inf is NaN in any order.
 */
#ifndef AR_COMPARE_H
#define AR_COMPARE_H

#include "reduce/kernels.h"

/* What may be said of two results that differ in a bit.  Where ranks have different types for the
 * same elements, the lowest of theirs holds for all. */
enum ar_comparable {
    AR_COMPARE_NOTHING, /* nothing is known: types without a kernel, complex products */
    AR_COMPARE_USERS,   /* a user's op may round, or leave bytes that mean nothing */
    AR_COMPARE_BOUNDED, /* see above */
    AR_COMPARE_EXACT    /* any order gives the same bits: a user's op on integers, too */
};

struct ar_comparison {
    enum ar_comparable kind;
    enum ar_class class; /* AR_NO_CLASS: of no kernel */
    enum ar_op op;       /* AR_OPS: a user's */
    size_t size;         /* bytes of a packed element */
    size_t numbers;      /* that an element has: 2 for complex sums */
    size_t number_bytes; /* of each, in the element from its beginning on; 0: they are integers */
};

void ar_comparison_init(struct ar_comparison *c, const struct ar_reduction *r);

/* What follows works on packed elements (see ar_reduction_pack) and neither traps nor
 * leaves a mark in the floating-point environment. */

/* Makes bits that mean nothing (the padding of long double) 0. */
void ar_packed_clean(const struct ar_comparison *c, void *packed, size_t count);

/* The floating-point number of so many bytes, those of a float, a double or a long double. */
long double ar_number_load(const void *at, size_t bytes);

/* What the bounds of numbers follow from, one entry each. */
struct ar_addends {
    double *magnitudes;   /* of the ranks' finite operands, summed */
    unsigned char *kinds; /* of the ranks' operands, joined: bits that compare.c knows */
};

/* Those of one rank, of count * c->numbers numbers. */
void ar_operands_get(const struct ar_comparison *c, struct ar_addends operands, const void *packed,
                     size_t count);

/* The first element in which a and b differ, where c is AR_COMPARE_BOUNDED by more than the bound
 * for these operands of nranks ranks; count if there is none. */
size_t ar_packed_differs(const struct ar_comparison *c, const void *a, const void *b,
                         struct ar_addends operands, int nranks, size_t count);

/* The element as a number, or as bytes; returns text. */
char *ar_packed_print(const struct ar_comparison *c, const void *element, char *text, size_t room);

#endif
