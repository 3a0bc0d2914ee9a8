#include "select/rules.h"

#include <stdlib.h>

struct ar_rules *
ar_rules_create(void)
{
    return calloc(1, sizeof(struct ar_rules));
}

void
ar_rules_destroy(struct ar_rules *rules)
{
    if (!rules)
        return;
    free(rules->clauses);
    free(rules->conditions);
    free(rules);
}

/* Makes room for one more of size bytes each in items; NULL without memory. */
static void *
grown(void *items, size_t count, size_t *room, size_t size)
{
    if (count < *room)
        return items;
    const size_t wanted = *room ? 2 * *room : 4;
    void *more = reallocarray(items, wanted, size);
    if (more)
        *room = wanted;
    return more;
}

int
ar_rules_add_clause(struct ar_rules *rules, const struct ar_choice *choice, int line, int column)
{
    struct ar_clause *clauses =
        grown(rules->clauses, rules->nclauses, &rules->clauses_room, sizeof *clauses);
    if (!clauses)
        return AR_ERR_MEMORY;
    rules->clauses = clauses;
    clauses[rules->nclauses++] = (struct ar_clause){
        .choice = *choice, .first = rules->nconditions, .line = line, .column = column};
    return AR_OK;
}

int
ar_rules_add_condition(struct ar_rules *rules, const struct ar_condition *condition)
{
    struct ar_condition *conditions =
        grown(rules->conditions, rules->nconditions, &rules->conditions_room, sizeof *conditions);
    if (!conditions)
        return AR_ERR_MEMORY;
    rules->conditions = conditions;
    conditions[rules->nconditions++] = *condition;
    rules->clauses[rules->nclauses - 1].nconditions++;
    return AR_OK;
}

static bool
holds(const struct ar_condition *c, size_t bytes, size_t nranks)
{
    return c->bytes_min <= bytes && bytes <= c->bytes_max && c->ranks_min <= nranks &&
           nranks <= c->ranks_max;
}

bool
ar_rules_clause_matches(const struct ar_rules *rules, size_t i, const struct ar_request *request)
{
    const struct ar_condition *conditions;
    const size_t nconditions = ar_rules_conditions(rules, i, &conditions);
    bool takes_size = nconditions == 0;
    for (size_t k = 0; k < nconditions && !takes_size; k++)
        takes_size = holds(&conditions[k], request->bytes, (size_t)request->nranks);
    return takes_size && !ar_traits_missing(&rules->clauses[i].traits, request);
}

const struct ar_choice *
ar_rules_match(const struct ar_rules *rules, const struct ar_request *request, size_t *clause)
{
    for (size_t i = 0; i < rules->nclauses; i++)
        if (ar_rules_clause_matches(rules, i, request)) {
            if (clause)
                *clause = i;
            return &rules->clauses[i].choice;
        }
    return NULL;
}

unsigned
ar_rules_all_traits(const struct ar_rules *rules)
{
    unsigned asks = 0;
    for (size_t i = 0; i < rules->nclauses; i++)
        asks |= rules->clauses[i].traits.asks;
    return asks;
}

size_t
ar_rules_count(const struct ar_rules *rules)
{
    return rules->nclauses;
}

const struct ar_choice *
ar_rules_choice(const struct ar_rules *rules, size_t i)
{
    return &rules->clauses[i].choice;
}

size_t
ar_rules_conditions(const struct ar_rules *rules, size_t i, const struct ar_condition **conditions)
{
    const struct ar_clause *const clause = &rules->clauses[i];
    *conditions = clause->nconditions ? &rules->conditions[clause->first] : NULL;
    return clause->nconditions;
}

const struct ar_traits *
ar_rules_traits(const struct ar_rules *rules, size_t i)
{
    return &rules->clauses[i].traits;
}

void
ar_rules_place(const struct ar_rules *rules, size_t i, int *line, int *column)
{
    *line = rules->clauses[i].line;
    *column = rules->clauses[i].column;
}
