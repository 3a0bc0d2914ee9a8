/* Advice: which algorithm for which size, by the model.  Pure. */
#ifndef AR_ADVISE_H
#define AR_ADVISE_H

#include "model/predict.h"

#define AR_ADVICE_MAX 32

/* Steps of a first guess, for one who starts a program and waits. */
#define AR_ADVISE_STEPS ((size_t)1 << 13)

struct ar_advice_request {
    const struct ar_machine *machine;
    const int *node_of; /* of each rank, as in struct ar_params */
    int nranks;
    const bool *allowed; /* as in ar_algo_list_parse; NULL: all */
    bool in_order;       /* only rows that combine in rank order */
    size_t scratch_bytes;
    size_t most_steps; /* of a first guess; those who seem to win get some 1000 times as many */
};

/* What messages of more than the entry before's bytes and up to these are best served by. */
struct ar_advice_entry {
    size_t bytes; /* SIZE_MAX: of the last */
    struct ar_choice choice;
    size_t at;      /* bytes for which */
    double time_ns; /* was predicted */
};

struct ar_advice {
    int n; /* 0: no row may serve */
    struct ar_advice_entry entries[AR_ADVICE_MAX];
};

/* One algorithm as it may be run. */
struct ar_candidate {
    struct ar_choice choice;
    size_t uncut; /* number of the same one with its default segments */
};

/* The rows that may serve, each with its defaults (those of two levels with some rows between
 * nodes), and with segments.  Malloced, *n of them; NULL without memory. */
struct ar_candidate *ar_candidates(const struct ar_advice_request *request, size_t *n);

/* AR_OK; errors of ar_predict. */
int ar_advise(struct ar_advice *advice, const struct ar_advice_request *request);

/* The advice as clauses that ar_rules_parse reads; "" for none.  Malloced; NULL without memory. */
char *ar_advice_rules(const struct ar_advice *advice);

#endif
