/* Predictions where ranks share memory: the time by what each rank stores, awaits and reads there.
 * Pure. */
#ifndef AR_NODE_PREDICT_H
#define AR_NODE_PREDICT_H

#include "model/node_bound.h"
#include "model/node_time.h"
#include "model/predict.h"

struct ar_node_prediction {
    struct ar_node_time end;
    struct ar_lines_count lines; /* of all chunks and meetings */
    bool in_place;               /* else through slots */
    /* ns, in place and from caches: for the lines of a rank's OUT in which others have stored, when
     * its program reads the result. */
    double later;
    struct ar_levels levels; /* by which the ranks are grouped */
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

/* In place if the choice's copy is AR_COPY_IN_PLACE and the groups of each level are equal, as
 * communicator/ways.h has it, with two meetings: of buffers that are used again.  Else through
 * slots. Ranks follow each other on the machine's cores; its levels l3, numa and socket are what
 * the choice's levels go by.  Chunks and short vectors are as the executor has them where a core's
 * cache has 512 KiB and no ranks share one.  The choice's node_of, domains and grouping, the
 * question's scratch_bytes, most_steps and limit do not matter.  AR_OK; AR_ERR_PARAM where the node
 * has fewer ranks; AR_ERR_MEMORY; errors of the algorithm and of ar_accesses_init. */
int ar_node_predict(struct ar_node_prediction *prediction, const struct ar_question *question);

#endif
