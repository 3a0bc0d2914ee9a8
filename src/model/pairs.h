/* The levels inside a node that a measurement writes: between which pairs of ranks it measures, and
 * what follows from their times.  Pure. */
#ifndef AR_PAIRS_H
#define AR_PAIRS_H

#include "algorithms/domains.h"
#include "model/machine.h"

#define AR_PAIRS_MOST   3 /* of a level */
#define AR_READERS_MOST 8 /* of a line */

/* The pairs of a level: their ranks share it, and nothing that is further inside. */
struct ar_pairs_level {
    char name[AR_MACHINE_NAME];
    int ranks; /* of each of its groups */
    int n;
    int ranks_of[AR_PAIRS_MOST][2];
    int unit; /* ranks of a group of the level below; 1 on the innermost */
    /* Who read a line of rank 0 at once: they share the level with it, and nothing further inside
     * with it or with each other. */
    int nreaders; /* 0 where there would be fewer than 2 */
    int readers[AR_READERS_MOST];
    /* For the measurement to set, 0: not measured: */
    double latency[AR_PAIRS_MOST]; /* ns of a cache line, from one's cache to the other's core */
    double per_byte;               /* ns of lines, where each rank reads another one's at once */
    double serve;                  /* ns between two of these readers */
    double memory_per_byte;        /* ns, of what all ranks of the first group read at once */
};

struct ar_pairs {
    int nlevels;                                     /* 0: there is one rank */
    struct ar_pairs_level level[AR_MACHINE_DOMAINS]; /* the innermost first; the last is the node */
    bool shares_cache; /* the ranks of each group of the first level share a cache of level 3 */
};

/* The first pair of the first level is ranks 0 and 1, between which messages are measured, too.  A
 * machine file says of messages in a node what they take there.
 *
 * Finds the pairs of so many ranks on a node: of each level of what they share that a machine file
 * can have, in the first, the middle and the last of its groups; where there is one group, of its
 * first rank with the next one, the middle one and the last one of those that share no more with
 * it.  A machine file has levels whose groups have equally many ranks that follow each other.
 * Where those here are different, all ranks are one level, "node".  AR_OK; AR_ERR_MEMORY. */
int ar_pairs_find(struct ar_pairs *pairs, const struct ar_domains *domains, int nranks);

/* From whom a rank reads lines while all ranks read: from the rank with its place in the next group
 * of the level below. */
int ar_pairs_partner(const struct ar_pairs_level *level, int rank);

/* Sets the machine's levels by the medians of their pairs' latencies, and by what else was measured
 * of them. cache_bytes: of a cache of level 3; 0: unknown.  False, with the machine as it was,
 * where a time is missing, where the machine has not as many ranks on a node as the pairs are of,
 * or where ranks share cores. */
bool ar_pairs_set_levels(struct ar_machine *machine, const struct ar_pairs *pairs,
                         size_t cache_bytes);

#endif
