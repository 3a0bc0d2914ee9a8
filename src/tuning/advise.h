/* The search by formulas: which algorithm is best for which size, on a machine whose messages and
 * ranks are known (model/predict.h).  No clock decides, so that the same question has the same
 * answer. Pure. */
#ifndef AR_ADVISE_H
#define AR_ADVISE_H

#include "model/predict.h"
#include "tuning/candidates.h"

#define AR_ADVICE_MAX 32

struct ar_advice_request {
    const struct ar_machine *machine;
    const int *node_of; /* of each rank, as in struct ar_params */
    int nranks;
    const bool *allowed; /* as in ar_algo_list_parse; NULL: all */
    bool in_order;       /* only rows that combine in rank order */
    bool
        shares_memory; /* ranks on one node may share memory, if the machine says what that takes */
    size_t scratch_bytes;
    /* Hears in a long comparison of the n-th prediction for so many bytes; NULL: nobody does. */
    void (*hear)(size_t n, size_t bytes);
};

/* What formulas propose for a message, and why. */
struct ar_proposal {
    struct ar_choice choice;
    struct ar_moment time; /* ns */
};

#define AR_PROPOSALS 3

/* The best choices for messages that are longer than the entry before's bytes, and of up to
 * these. */
struct ar_advice_entry {
    bool is_new_best;                      /* the first is not that of the entry before */
    size_t bytes;                          /* SIZE_MAX: of the last */
    size_t at;                             /* the bytes for which times are those of the formulas */
    int n;                                 /* at least 1 */
    struct ar_proposal best[AR_PROPOSALS]; /* the first is advised, others are next, and each takes
 another time */
};

struct ar_advice {
    int n;        /* 0: no row may serve */
    size_t steps; /* of schedules that were added up: what it cost */
    struct ar_advice_entry entries[AR_ADVICE_MAX];
};

/* Lists what is tried for messages of so many bytes, and native, about which ar_advise does not
 * ask.  It is what other searches try; what shares memory is in it only if request->shares_memory
 * and the machine has levels inside a node.  Then shm is also tried flat and by other groups, as in
 * no other search.  AR_OK or AR_ERR_MEMORY. */
int ar_advise_candidates(struct ar_candidate_list *list, const struct ar_advice_request *request,
                         size_t bytes);

/* AR_OK; errors of ar_formula_init. */
int ar_advise(struct ar_advice *advice, const struct ar_advice_request *request);

/* The advice as clauses that ar_rules_parse reads; "" for none.  It has what stands at places first
 * to last, one place after the other: 0 is the best.  Malloced; NULL without memory. */
char *ar_advice_rules(const struct ar_advice *advice, int first, int last);

#endif
