/* What ALLREDUCE_DETERMINISM demands of a call, and which texts of other variables break it.
 * Pure. */
#ifndef AR_DETERMINISM_H
#define AR_DETERMINISM_H

#include <stdbool.h>

#include "select/select.h"

/* How far the bits of an op on a type depend on the order of the operands. */
enum ar_rounding {
    AR_ROUNDS_NOT, /* not at all: integers, logical and bitwise ops */
    AR_ROUNDS_SUM, /* only until sums are made exact: floats, doubles, and complex numbers of these
                    */
    AR_ROUNDS      /* always */
};
enum ar_rounding ar_rounding_of(enum ar_op op, enum ar_type_class type, size_t size_bytes);

/* What a call must keep under a level: NONE where every order gives the same bits, ORDER for sums
 * that must be exact, and at most SIZE for all others. */
enum ar_determinism ar_determinism_of_call(enum ar_determinism level, enum ar_op op,
                                           enum ar_type_class type, size_t size_bytes);

/* Is there a clause that names an algorithm which breaks the level?  If so, why tells its line
 * (unless that is the first), its column and what is allowed.  Under ORDER only native is refused:
 * sums are exact by any algorithm, and the clauses are not asked for other calls that round. */
bool ar_determinism_forbids(enum ar_determinism level, const struct ar_rules *rules,
                            struct ar_text *why);

/* Do all algorithms that the clauses and then auto select give the same bits?  Under SIZE they
 * must, since the size of a call selects among them; under PLACEMENT they must if a clause depends
 * on nodes; under other levels the answer is true.  rules: in the order in which they are asked,
 * NULL where there are none; allowed: as for auto.  If they do not, *at is the number of the rules
 * that are at fault, and why tells the rest. */
bool ar_determinism_mixes(enum ar_determinism level, struct ar_rules *const *rules, int n,
                          const bool *allowed, int *at, struct ar_text *why);

/* Does a list of the algorithms that auto may select hold one that keeps the level?  If not, why
 * tells which algorithms keep it. */
bool ar_determinism_allows(enum ar_determinism level, const bool *allowed, struct ar_text *why);

#endif
