/* What ALLREDUCE_DETERMINISM promises, held against the rest of a configuration.  No MPI. */
#ifndef AR_PROMISE_H
#define AR_PROMISE_H

#include "config/config.h"

/* Who says what would break the promise. */
enum ar_promise_breaker {
    AR_BREAKER_NONE,
    AR_BREAKER_ALGO, /* the clauses of ALLREDUCE_ALGO */
    AR_BREAKER_PROGRAM,
    AR_BREAKER_RULES,
    AR_BREAKER_LIST /* ALLREDUCE_ALGO_LIST */
};

/* With why telling the place and what is allowed. */
enum ar_promise_breaker ar_promise_check(const struct ar_config *config, struct ar_text *why);

#endif
