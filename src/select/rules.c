#include "select/select.h"

#include <stdlib.h>

void
ar_rules_destroy(struct ar_rules *rules)
{
    if (!rules)
        return;
    free(rules->clauses);
    free(rules->conditions);
    free(rules);
}

bool
ar_clause_matches(const struct ar_clause *clause, const struct ar_request *request)
{
    const size_t bytes = request->bytes, nranks = (size_t)request->nranks;
    bool takes_size = clause->nconditions == 0;
    for (size_t k = 0; k < clause->nconditions && !takes_size; k++) {
        const struct ar_condition *const c = &clause->conditions[k];
        takes_size = c->bytes_min <= bytes && bytes <= c->bytes_max && c->ranks_min <= nranks &&
                     nranks <= c->ranks_max;
    }
    return takes_size && !ar_traits_missing(&clause->traits, request);
}

const struct ar_clause *
ar_rules_match(const struct ar_rules *rules, const struct ar_request *request)
{
    for (size_t i = 0; i < rules->nclauses; i++)
        if (ar_clause_matches(&rules->clauses[i], request))
            return &rules->clauses[i];
    return NULL;
}

bool
ar_rules_is_pair(const struct ar_rules *rules, size_t i)
{
    const struct ar_clause *const clause = &rules->clauses[i];
    return i + 1 < rules->nclauses && clause[0].line == clause[1].line &&
           clause[0].column == clause[1].column;
}

unsigned
ar_rules_all_traits(const struct ar_rules *rules)
{
    unsigned asks = 0;
    for (size_t i = 0; i < rules->nclauses; i++)
        asks |= rules->clauses[i].traits.asks;
    return asks;
}
