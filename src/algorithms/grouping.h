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
    int given[AR_GROUPING_LEVELS]; /* for each level, its number among those it was made from;
                                      for the last, how many these are */
    int *rank_at; /* owned: the ranks, group after group on every level, each group's units in the
                     order of their first ranks */
    int *at;      /* owned: where each rank is in rank_at */
    /* For each level.  begin[i], end[i]: where in rank_at the group of place i begins and ends.
     * lane[r]: the number of rank r in its group, in the order of the shares of a vector that ranks
     * have there: first by lane in its unit, as a part of all lanes there, then by unit. */
    struct ar_grouping_level {
        int *begin, *end, *lane;
    } level[AR_GROUPING_LEVELS];
};

/* Makes a grouping of nranks ranks.  domain[i][r] is the domain of rank r on level i, of nlevels
 * levels, the innermost first: equal for ranks that share it, negative where it is not known.  The
 * group of all ranks is added as the last level.  Levels that would change nothing are left out:
 * those whose groups have one unit each, and those with one group of all ranks.  Ranks without a
 * domain are grouped by the levels above.  A domain that is spread over several of the level above
 * is cut by it.  AR_OK; AR_ERR_MEMORY.  0 <= nlevels < AR_GROUPING_LEVELS. */
int ar_grouping_init(struct ar_grouping *grouping, int nranks, int nlevels,
                     const int *const domain[]);

/* Have the groups of each level as many ranks?  Then a rank's share on a level is a part of its
 * share on the level below. */
bool ar_grouping_is_even(const struct ar_grouping *grouping);

/* The same of the levels below that one, 0 to nlevels. */
bool ar_grouping_is_even_below(const struct ar_grouping *grouping, int level);

void ar_grouping_fini(struct ar_grouping *grouping);

#endif
