/* What ALLREDUCE_DETERMINISM asks of a call, and what it forbids in the texts of
 * others.  Pure. */
#ifndef AR_DETERMINISM_H
#define AR_DETERMINISM_H

#include <stdbool.h>

#include "select/select.h"

/* How far the bits of an op on a type depend on the order of the operands. */
enum ar_rounding {
    AR_ROUNDS_NOT, /* integers, logical and bitwise ops: not at all */
    AR_ROUNDS_SUM, /* sums of floats and doubles, complex ones too: not where they are exact */
    AR_ROUNDS
};
enum ar_rounding ar_rounding_of(enum ar_op op, enum ar_type_class type, size_t size_bytes);

/* What a call must keep under a level: NONE where any order gives its bits, ORDER for
 * sums that are to be exact, and no more than SIZE else. */
enum ar_determinism ar_determinism_of_call(enum ar_determinism level, enum ar_op op,
                                           enum ar_type_class type, size_t size_bytes);

/* Is there a clause that may run what breaks the level?  Then why tells line (unless it is the
 * first), column and what is allowed.  Under ORDER only native is refused: sums are exact by any
 * algorithm, and other rounded calls do not ask the clauses. */
bool ar_determinism_forbids(enum ar_determinism level, const struct ar_rules *rules,
                            struct ar_text *why);

/* May what all clauses and then auto pick for different calls be mixed, where the level forbids
 * bits that depend on sizes (SIZE), or on nodes that clauses ask for (PLACEMENT)?  rules: in the
 * order in which they are asked, NULL where there are none; allowed: as for auto.  False with *at,
 * which of the rules, and why.  Under other levels true. */
bool ar_determinism_mixes(enum ar_determinism level, const struct ar_rules *const *rules, int n,
                          const bool *allowed, int *at, struct ar_text *why);

/* Does a list of what auto may pick leave it a row that keeps the level?  If not, why tells
 * which do. */
bool ar_determinism_allows(enum ar_determinism level, const bool *allowed, struct ar_text *why);

#endif
