/* The built-in rules and what auto makes of them. */
#include <pthread.h>

#include "select/names.h"

/* The first clause that may serve wins, so the last ones, without conditions, are what is left to
 * ops that do not commute and to short lists.  A ring of many ranks takes too many messages until
 * each is long, and segments make them short again. */
static const char rules_text[] = "shm;"
                                 "butterfly:0-64K;"
                                 "rhd:64K-inf@17-inf,block=0-64K;"
                                 "rhd:64K-inf@1025-inf;"
                                 "ring(segment=1M,window=2):1M-inf@3-inf;"
                                 "ring;"
                                 "butterfly";

/* Where bits must not depend on placement or size: rows of one family, so that any of them may
 * serve any call. */
static const char kept_rules_text[] = "butterfly:0-64K;"
                                      "rhd;"
                                      "butterfly";

static pthread_once_t once = PTHREAD_ONCE_INIT;
/* Written once, under once; NULL without memory. */
static struct ar_rules *rules, *kept_rules;

static void
parse_rules(void)
{
    struct ar_problem problem = {0, 0, ""};
    if (ar_rules_parse(&rules, rules_text, &problem))
        rules = NULL;
    if (ar_rules_parse(&kept_rules, kept_rules_text, &problem))
        kept_rules = NULL;
}

const char *
ar_auto_rules_text(void)
{
    return rules_text;
}

bool
ar_auto_allows(const struct ar_algorithm *row, const bool *allowed)
{
    for (size_t i = 0; allowed && i < ar_algorithm_count(); i++)
        if (ar_algorithm_at(i) == row)
            return allowed[i];
    return true;
}

bool
ar_auto_may_select(const struct ar_choice *choice, const struct ar_request *request,
                   const bool *allowed)
{
    const struct ar_algorithm *const row = choice->algorithm;
    const bool is_bound = request->keeps >= AR_DETERMINISM_PLACEMENT; /* to bits: not to memory */
    if ((!request->commutative && !ar_algorithm_keeps_order(row, &choice->params)) ||
        (!request->shares_memory && row->shares_memory && !is_bound) ||
        ar_algorithm_keeps(row, &choice->params) < request->keeps)
        return false;
    return ar_auto_allows(row, allowed);
}

int
ar_auto_select(struct ar_choice *choice, const struct ar_request *request, const bool *allowed)
{
    pthread_once(&once, parse_rules);
    const struct ar_rules *const asked =
        request->keeps >= AR_DETERMINISM_PLACEMENT ? kept_rules : rules;
    if (!asked)
        return AR_ERR_MEMORY;
    for (size_t i = 0; i < asked->nclauses; i++) {
        const struct ar_choice *const candidate = &asked->clauses[i].choice;
        if (ar_clause_matches(&asked->clauses[i], request) &&
            ar_auto_may_select(candidate, request, allowed)) {
            *choice = *candidate;
            return AR_OK;
        }
    }
    for (size_t i = 0; i < ar_algorithm_count(); i++) {
        *choice = ar_choice_default(ar_algorithm_at(i));
        if (ar_auto_may_select(choice, request, allowed))
            return AR_OK;
    }
    *choice = ar_choice_of(AR_CHOICE_NATIVE);
    return AR_OK;
}
