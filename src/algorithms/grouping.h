/* Groups of ranks inside a node, level by level: those that share a cache, a NUMA node, a socket.
 * Of ranks on several nodes those inside each node, then the nodes.  Pure.
 *
 * Level 0 is the innermost.  Groups nest: each group of a level is made of whole groups of the
 * level below, its units; the units of level 0 are the ranks.  The last level has one group, of all
 * ranks; a grouping of one level is flat. */
#ifndef AR_GROUPING_H
#define AR_GROUPING_H

#include <stdbool.h>

#define AR_LEVELS_MAX      5                   /* that can be asked for */
#define AR_GROUPING_LEVELS (AR_LEVELS_MAX + 2) /* at most, with nodes and all ranks */

struct ar_grouping {
    int nranks;
    int nlevels;                   /* >= 1 */
    int node_level;                /* whose groups are the nodes: the last, unless there are several
                                      nodes and levels */
    bool ordered;                  /* the ranks of each group follow each other */
    bool one_domain;               /* all ranks are in one domain of each level that is known; false
                                      where none is, or on several nodes */
    int given[AR_GROUPING_LEVELS]; /* the number of each level among those that it was made of;
                                      of the last level theirs, which is past them */
    int *rank_at; /* owned: the ranks, group after group on every level, each group's units in the
                     order of their first ranks */
    int *at;      /* owned: where each rank is in rank_at */
    /* Of each level; begin and end: of the place i in rank_at, where its group begins and ends.
     * lane: of a rank, its number in its group by the share of a vector that it has there: first
     * by its lane in its unit, as a part of all lanes, then by unit. */
    struct ar_grouping_level {
        int *begin, *end, *lane;
    } level[AR_GROUPING_LEVELS];
};

/* Makes a grouping of nranks ranks.  domain[i][r] is the domain of rank r on level i, of nlevels
 * levels, the innermost first: equal for ranks that share it, negative where it is not known.  The
 * group of all ranks is added.  Levels that would change nothing are left out: where each group
 * has one unit only, or, of the last, is all ranks.  Ranks without a domain are grouped by the
 * levels above.  A domain that is spread over several of the level above is cut by it.  AR_OK;
 * AR_ERR_MEMORY.  0 <= nlevels < AR_GROUPING_LEVELS. */
int ar_grouping_init(struct ar_grouping *grouping, int nranks, int nlevels,
                     const int *const domain[]);

/* Have the groups of each level as many ranks?  Then a rank's share on a level is a part of its
 * share on the level below. */
bool ar_grouping_is_even(const struct ar_grouping *grouping);

/* The same of the levels below that one, 0 to nlevels. */
bool ar_grouping_is_even_below(const struct ar_grouping *grouping, int level);

void ar_grouping_fini(struct ar_grouping *grouping);

#endif
