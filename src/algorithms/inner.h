/* Algorithms inside algorithms: what lets one leave a part of its work to any row of the
 * registry.  Pure. */
#ifndef AR_INNER_H
#define AR_INNER_H

#include "algorithms/phases.h"
#include "algorithms/registry.h"

/* Emits row, with its defaults, for the members of the group and the span of the vector, which is
 * a vector of its own to row: each member's contribution is in its have (IN or OUT), the result in
 * the OUT of all.  Begins with a round of its own; row's TMP lies at the beginning of s's.  A
 * group of one copies what is not in OUT yet. */
void ar_inner_allreduce(struct ar_schedule *s, const struct ar_algorithm *row,
                        const struct ar_group *group, struct ar_span span, enum ar_buffer have);

#endif
