/* Where there are too many ranks to simulate: the rounds of some nodes' ranks, added up as if all
 * ranks kept step.  Pure. */
#ifndef AR_INSTEP_H
#define AR_INSTEP_H

#include "model/predict.h"

struct ar_instep {
    struct ar_moment segment; /* the time of one */
    double busy;  /* of it a rank, a card or a link: the least between the ends of two segments */
    bool regular; /* the ranks looked at send and receive in each round: they do keep step */
    size_t ports; /* messages that a rank receives in one round, at most */
    size_t steps; /* of the ranks looked at */
};

/* Segments of count elements of so many bytes.  AR_OK, AR_ERR_MEMORY, errors of the algorithm. */
int ar_instep(struct ar_instep *answer, const struct ar_question *question,
              const struct ar_network *network, size_t count, double element_bytes);

/* The same of a single rank amid a node in the middle, which hardly takes longer than all do. */
int ar_instep_rank(struct ar_instep *answer, const struct ar_question *question,
                   const struct ar_network *network, size_t count, double element_bytes);

#endif
