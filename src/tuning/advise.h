/* The search by the model: which algorithm is best for which size, on a machine whose messages and
 * ranks are known (model/predict.h).  Bounded steps of simulation, never a clock, so that the
 * same question has the same answer.  Pure. */
#ifndef AR_ADVISE_H
#define AR_ADVISE_H

#include "model/predict.h"
#include "tuning/candidates.h"

#define AR_ADVICE_MAX 32

/* Steps of an estimate while a program starts and waits for it. */
#define AR_ADVISE_STEPS ((size_t)1 << 13)

struct ar_advice_request {
    const struct ar_machine *machine;
    const int *node_of; /* of each rank, as in struct ar_params */
    int nranks;
    const bool *allowed; /* as in ar_algo_list_parse; NULL: all */
    bool in_order;       /* only rows that combine in rank order */
    bool
        shares_memory; /* ranks on one node may share memory, if the machine says what that takes */
    size_t scratch_bytes;
    size_t most_steps; /* of an estimate; those that seem to win get 1000 times as many together */
};

/* What the model is asked: about a candidate for messages of so many bytes. */
struct ar_advice_task {
    size_t candidate; /* in the list of ar_advise_candidates(list, request, SIZE_MAX) */
    int size;         /* number of the size in the search */
    size_t bytes;
    size_t most_steps; /* as in struct ar_question */
};

struct ar_advice_answer {
    int error; /* of ar_predict */
    struct ar_prediction prediction;
};

/* Answers one task.  Every process gives the same answer. */
struct ar_advice_answer ar_advise_answer(const struct ar_advice_request *request,
                                         const struct ar_candidate_list *list,
                                         const struct ar_advice_task *task);

/* Processes that share the tasks out among them.  ask gives answers[i] to tasks[i], n of them, and
 * returns 0, or an error of its own, which ar_advise passes on.  at_once: the number of processes.
 * Those that would be idle are asked what is likely to be asked in the next wave, which changes how
 * many waves there are, and never the advice. */
struct ar_advice_helpers {
    int (*ask)(void *context, const struct ar_advice_task *tasks, size_t n,
               struct ar_advice_answer *answers);
    void *context;
    size_t at_once;
};

/* The best choice for messages that are longer than the entry before's bytes, and of up to
 * these. */
struct ar_advice_entry {
    size_t bytes; /* SIZE_MAX: of the last */
    struct ar_choice choice;
    size_t at; /* the bytes for which time_ns was predicted */
    double time_ns;
};

struct ar_advice {
    int n; /* 0: no row may serve */
    struct ar_advice_entry entries[AR_ADVICE_MAX];
};

/* Lists what is tried for messages of so many bytes, and native, about which ar_advise does not
 * ask.  It is what other searches try; what shares memory is in it only if request->shares_memory
 * and the machine has levels inside a node.  Then shm is also tried flat and by other groups, as in
 * no other search.  AR_OK or AR_ERR_MEMORY. */
int ar_advise_candidates(struct ar_candidate_list *list, const struct ar_advice_request *request,
                         size_t bytes);

/* The tasks come in waves.  What is asked depends on the answers alone, so that the advice is the
 * same whoever gives them; helpers NULL: the caller gives all.  AR_OK; errors of ar_predict, and of
 * helpers->ask. */
int ar_advise(struct ar_advice *advice, const struct ar_advice_request *request,
              const struct ar_advice_helpers *helpers);

/* The advice as clauses that ar_rules_parse reads; "" for none.  Malloced; NULL without memory. */
char *ar_advice_rules(const struct ar_advice *advice);

struct ar_compared {
    struct ar_choice choice;
    struct ar_prediction prediction; /* an estimate where it takes more than thrice the best time */
};

/* The candidates for messages of so many bytes, the fastest first; variants of those that are much
 * slower than the best are left out.  request->most_steps is not asked for.  AR_OK, with
 * *rows malloced, *n of them; errors of ar_predict. */
int ar_compare(struct ar_compared **rows, size_t *n, const struct ar_advice_request *request,
               size_t bytes, size_t element_bytes);

#endif
