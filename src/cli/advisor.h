/* allreduce advise: between its files. */
#ifndef AR_CLI_ADVISOR_H
#define AR_CLI_ADVISOR_H

#include <limits.h>
#include <stdbool.h>

#include "cli/trials.h"
#include "tuning/estimate.h"

#define AR_ADVISOR_RUNS AR_VALUES_MAX /* of each side, at most */

/* The settings of a run. */
enum ar_advisor_side { AR_AS_IT_IS, AR_WITH_RULES, AR_ADVISOR_SIDES };

extern const char *const ar_advisor_sides[AR_ADVISOR_SIDES]; /* their names */

struct ar_advisor {
    const char *output; /* for the rules; NULL: named after the program */
    const char *given;  /* rules that there are already; NULL: tune writes them */
    long runs;          /* of each side */
    double budget_s;    /* for all that comes after the first run; 0: none */
    bool is_json;
    char **command;
    int program; /* its place in the command; 0: not known */
    /* ALLREDUCE_ALGO and ALLREDUCE_RULES of the runs as it is; NULL: not set.  Where nothing is
     * set, they are of the MPI library's own allreduce.  Owned. */
    char *algo, *set_rules;
    bool is_promised; /* ALLREDUCE_DETERMINISM is set */
    bool was_interrupted;
    double late_s; /* after which the last run was ended with the budget; 0: it was not */
    struct ar_trials trials;
    char rules[PATH_MAX];
    double begun_s; /* when the first run had ended */
    double first_s; /* how long it took */
    /* Of each side's runs: all of it, and a rank's time in algorithms and set-up. */
    struct ar_values run_s[AR_ADVISOR_SIDES], in_s[AR_ADVISOR_SIDES];
    char verdict[512];
    bool keeps;
    /* What the program itself may do: AR_ADVICE_... as bits, and the sentences. */
    unsigned advised;
    int nadvices;
    char advices[AR_ADVICES_MOST][AR_FACTS_TEXT];
};

/* Runs the program, tune and the program in turns, as far as each is worth it, and tells people
 * what happens.  There is a verdict then. */
void ar_advisor_run(struct ar_advisor *a);

#endif
