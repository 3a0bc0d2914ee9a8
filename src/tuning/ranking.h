/* The search by simulation: how the candidates for one size compare on a machine.  Bounded steps,
 * never a clock, so that the same question has the same answer.  Pure. */
#ifndef AR_RANKING_H
#define AR_RANKING_H

#include "tuning/advise.h"

struct ar_compared {
    struct ar_choice choice;
    struct ar_prediction prediction; /* an estimate where it takes more than thrice the best time */
};

/* The candidates for messages of so many bytes, the fastest first; variants of those that are much
 * slower than the best are left out.  AR_OK, with *rows malloced, *n of them; errors of ar_predict.
 */
int ar_compare(struct ar_compared **rows, size_t *n, const struct ar_advice_request *request,
               size_t bytes, size_t element_bytes);

#endif
