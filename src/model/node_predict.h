/* Predictions where ranks share memory: the time by what each rank stores, awaits and reads there.
 * Pure. */
#ifndef AR_NODE_PREDICT_H
#define AR_NODE_PREDICT_H

#include <stdbool.h>

#include "model/machine.h"
#include "model/node_time.h"
#include "model/predict.h"

/* --- the bound --- */

/* What an allreduce among ranks that share memory takes at least, whatever the algorithm.
 *
 * A rank reads elements of another, each of which is an operand or combines several.  Count each
 * read of an element as a message.  For each element and p ranks, two facts hold:
 * - There are at least 2(p - 1) messages.  When the first rank has the result, the messages that
 *   were needed for it connect all ranks: p - 1.  Each further rank needs another one to have it.
 * - Between G groups of ranks there are at least 2(G - 1), since a group can be seen as one rank.
 * (Patarasuk & Yuan, J. Parallel Distrib. Comput. 69(2):117-124, 2009, show it for messages.)
 *
 * From these follow five times, and the longest of them is the bound:
 * - Latency: a line between the ranks that are farthest apart.
 * - Own work: the first rank that has the result needs p - 1 combinations, of which all but the
 *   last make something else than a result.  Each rank makes its result by combining or copying:
 *   2(p - 1) operations, p - 1 of them combinations.  Each rank also stores in its slot at least
 *   once what the others are to know of its operand: p copies.  (Combinations store their result in
 *   the rank's own memory, as the executor's do.)  All of them are shared out among the ranks.
 * - Lines: of the 2(p - 1) elements that ranks read at least 2(G - 1) come into one of the G
 *   domains of a level from without, so that a rank takes them at the bandwidth of a level further
 *   out.  They are shared out among the ranks, too.
 * - Links: 2(G - 1) elements come by the links of the G domains of a level, one of which has its
 *   share at least.
 * - Memory: where the vectors do not fit into the cache (model/node_time.h), each is read, and its
 *   result is read and written.
 *
 * The five are not added up, since a rank may do them at the same time.  So the bound cannot be
 * reached where several are nearly as long. */
enum ar_node_limit {
    AR_NODE_LIMIT_LATENCY,
    AR_NODE_LIMIT_OWN,
    AR_NODE_LIMIT_LINES,
    AR_NODE_LIMIT_LINKS,
    AR_NODE_LIMIT_MEMORY, /* 0: the vectors are in caches */
    AR_NODE_LIMITS
};
extern const char *const ar_node_limit_names[];

struct ar_node_bound {
    double limits[AR_NODE_LIMITS]; /* ns */
    enum ar_node_limit most;       /* the one that is the bound */
};

/* Of nranks ranks (>= 2), which follow each other on the cores of a machine of at least one domain,
 * with vectors of so many bytes. */
struct ar_node_bound ar_node_bound_find(const struct ar_machine *machine, int nranks, double bytes);

/* --- the prediction --- */

struct ar_node_prediction {
    struct ar_node_time end;
    struct ar_lines_count lines; /* of all chunks */
    struct ar_levels levels;     /* by which the ranks are grouped */
    size_t nchunks;
    size_t simulated; /* chunks; the others go on as fast as the last of them */
    size_t nstages;   /* of a chunk */
    /* ns: a line up the levels by which the ranks are grouped, across, and down */
    double up_and_down;
    struct ar_node_bound bound;
};

/* Is this a question about ranks that share memory, of a machine that says what that takes?  The
 * row shares memory, the ranks are on one node. */
bool ar_node_knows(const struct ar_question *question);

/* Through slots, whatever the choice's copy is. Ranks follow each other on the machine's cores; its
 * levels l3, numa and socket are what the choice's levels go by.  Chunks and short vectors are as
 * the executor has them where a core's cache has 512 KiB and no ranks share one.  The choice's
 * node_of, domains and grouping, the question's scratch_bytes, most_steps and limit do not matter.
 * AR_OK; AR_ERR_PARAM where the node has fewer ranks; AR_ERR_MEMORY; errors of the algorithm and of
 * ar_accesses_init. */
int ar_node_predict(struct ar_node_prediction *prediction, const struct ar_question *question);

#endif
