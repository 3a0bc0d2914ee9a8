/* The shares of a vector that the ranks of groups have, level by level.  Pure.
 *
 * Places count the ranks group after group.  Levels are those of struct ar_grouping, and a group of
 * level -1 is a rank, whose share is the whole vector.  On each level a rank's share is a part of
 * its share on the level below where the groups are equal. */
#ifndef AR_SHARES_H
#define AR_SHARES_H

#include "algorithms/grouping.h"
#include "algorithms/phases.h"

/* What one rank sees of them. */
struct ar_shares {
    const struct ar_grouping *grouping; /* NULL: flat, one level with one group, that of flat */
    struct ar_group flat;               /* its places are the numbers of its members */
    int me;                             /* the rank's place */
    size_t count;
};

/* All ranks, flat or by a grouping (NULL). */
struct ar_shares ar_shares_of_all(const struct ar_grouping *grouping, int rank, int nranks,
                                  size_t count);

int ar_shares_rank(const struct ar_shares *v, int place);

/* Where the group of a place begins, and ends. */
int ar_shares_begin(const struct ar_shares *v, int level, int place);
int ar_shares_end(const struct ar_shares *v, int level, int place);

struct ar_span ar_shares_span(const struct ar_shares *v, int level, int place);

/* Part i of so many of a vector, cut so that the i-th of n parts is made of parts mi .. mi+m-1 of
 * mn. */
struct ar_span ar_share_cut(size_t count, int parts, int i);

/* What two spans have in common. */
struct ar_span ar_span_common(struct ar_span a, struct ar_span b);

#endif
