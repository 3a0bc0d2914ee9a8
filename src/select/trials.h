/* What is worth trying for a call, for those who measure.  Pure. */
#ifndef AR_TRIALS_H
#define AR_TRIALS_H

#include "select/select.h"

/* How many choices are tried. */
enum ar_trials {
    AR_TRIALS_FEW,     /* what tends to win somewhere: for those who try while a program runs */
    AR_TRIALS_ALL,     /* each algorithm with its defaults */
    AR_TRIALS_VARIANTS /* of one algorithm, the defaults apart: other segments, radices, ... */
};

struct ar_trial_list {
    struct ar_choice *choices; /* owned */
    size_t n;
};

/* Lists native and the algorithms that may serve the request (ar_auto_may_pick), in the order in
 * which to try them: what auto picks comes first.  row: whose variants; else NULL.  AR_OK,
 * the list the caller's to fini; or AR_ERR_MEMORY. */
int ar_trials_list(struct ar_trial_list *list, enum ar_trials which,
                   const struct ar_request *request, const bool *allowed,
                   const struct ar_algorithm *row);
void ar_trials_fini(struct ar_trial_list *list);

#endif
