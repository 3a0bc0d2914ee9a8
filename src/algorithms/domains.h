/* Levels inside a node: which of them are asked for, and which ranks share what.  Pure. */
#ifndef AR_DOMAINS_H
#define AR_DOMAINS_H

#include <stdbool.h>
#include <stddef.h>

#include "algorithms/grouping.h"

/* What ranks of a node may share. */
enum ar_domain_kind {
    AR_DOMAIN_L3, /* a cache of level 3, or a cluster of cores where there is none */
    AR_DOMAIN_NUMA,
    AR_DOMAIN_SOCKET,
    AR_DOMAINS
};
extern const char *const ar_domain_names[]; /* index = value; NULL-terminated */

/* of[d][r] is the domain of rank r, equal for ranks that share it, and only for these; negative:
 * rank r is not bound to one, or it is not known; of[d] NULL: it is known of no rank.  Borrowed. */
struct ar_domains {
    int nranks;
    const int *of[AR_DOMAINS];
};

/* Makes the domains of nranks ranks, which may be on several nodes.  own[r * AR_DOMAINS + d] is the
 * domain that rank r gives for itself, by a name that is unique only on its node.  of: AR_DOMAINS *
 * nranks entries, which *domains borrows.  node_of as in struct ar_params; NULL: one node.  AR_OK;
 * AR_ERR_MEMORY. */
int ar_domains_of_nodes(struct ar_domains *domains, int *of, const int *own, const int *node_of,
                        int nranks);

enum ar_levels_kind {
    AR_LEVELS_AUTO, /* what ar_levels_auto says for a vector; without a vector, all names */
    AR_LEVELS_FLAT, /* none */
    AR_LEVELS_NAMES,
    AR_LEVELS_SIZES
};

/* The levels that are asked for, but for that of all ranks. */
struct ar_levels {
    enum ar_levels_kind kind;
    int n; /* of value; 0 with AUTO and FLAT */
    /* NAMES: different values of enum ar_domain_kind, in any order.  SIZES: the sizes of groups of
     * consecutive ranks, >= 2, ascending; the last group may be smaller. */
    int value[AR_LEVELS_MAX];
    int sizes; /* NAMES: the first so many values are sizes, of groups inside the innermost domain;
                  fewer than n */
};

bool ar_levels_equal(const struct ar_levels *a, const struct ar_levels *b);

/* Sets *levels to what AUTO is for a vector of so many bytes: as NAMES, all names that are known.
 * Short vectors do without outer levels where the domains inside are few enough to exchange at
 * once; they may be more where the outer ones are unequal.  Few ranks go flat where the innermost
 * domains are unequal (short vectors) or differ much in size (long ones, or two domains).  Where
 * all ranks are bound, large domains are cut into groups: of about four ranks for short vectors, of
 * about eight for longer ones.  A lone domain is cut in fours for longer ones, too, and not at all
 * for the shortest of few ranks.  FLAT where no level is left.  The bounds are from measurements
 * where all ranks are in one domain, else from the model (doc/scale.md).  AR_OK; AR_ERR_MEMORY. */
int ar_levels_auto(struct ar_levels *levels, const struct ar_domains *domains, size_t bytes);

/* Can these levels be anything but flat?  domains NULL: nothing is known. */
bool ar_levels_may_group(const struct ar_levels *levels, const struct ar_domains *domains);

/* Makes the grouping of nranks ranks that the levels ask for.  Of two levels with names the one
 * with fewer domains is the outer one, since a NUMA node may be part of a socket or have several.
 * Domains of another number of ranks are ignored.  Groups of a size are cut anew in each group of
 * the next larger size.  *found gets the levels that the grouping has, in value[l] that of its
 * level l; FLAT where it has only the one of all ranks.  found may be NULL.  AR_OK;
 * AR_ERR_MEMORY. */
int ar_levels_group(struct ar_grouping *grouping, struct ar_levels *found,
                    const struct ar_levels *levels, const struct ar_domains *domains, int nranks);

/* The same inside each node: node_of as in struct ar_params; sizes, too, are cut anew in each node.
 * With several nodes the groups of grouping->node_level are these, and *found has the levels inside
 * them. */
int ar_levels_group_nodes(struct ar_grouping *grouping, struct ar_levels *found,
                          const struct ar_levels *levels, const struct ar_domains *domains,
                          const int *node_of, int nranks);

#endif
