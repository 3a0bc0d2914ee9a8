/* Answers without a simulation: the rounds of some ranks added up, as if all ranks kept step and
 * none waited for another.  Pure. */
#ifndef AR_LOCKSTEP_H
#define AR_LOCKSTEP_H

#include "model/predict.h"

struct ar_lockstep {
    struct ar_moment segment; /* how long one takes */
    double busy;  /* how long of it the busiest rank, card or link is busy: segments end no closer
                     together */
    bool regular; /* the ranks send and receive in each round: so they do keep step */
    size_t ports; /* messages that a rank receives in one round, at most */
    size_t steps; /* of the ranks together */
};

/* Answers for a segment of count elements of so many bytes, by the ranks of a node in the middle,
 * then of the first and the last node.  A node is left out if with it all would probably make more
 * than most_steps steps.  AR_OK; AR_ERR_MEMORY; errors of the algorithm. */
int ar_lockstep(struct ar_lockstep *answer, const struct ar_question *question,
                const struct ar_network *network, size_t count, double element_bytes,
                size_t most_steps);

/* The same by one rank, in the middle of a node and of what its ranks share.  Its time is hardly
 * longer than that of all ranks. */
int ar_lockstep_rank(struct ar_lockstep *answer, const struct ar_question *question,
                     const struct ar_network *network, size_t count, double element_bytes);

#endif
