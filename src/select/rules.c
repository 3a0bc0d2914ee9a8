#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "select/names.h"
#include "select/select.h"

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

/* --- as texts that the parser reads back --- */

char *
ar_choice_print(const struct ar_choice *choice, char *text, size_t room)
{
    struct ar_text t;
    ar_text_init(&t, text, room);
    if (choice->kind == AR_CHOICE_ALGORITHM) {
        ar_text_add(&t, "%s", choice->algorithm->name);
        ar_params_print(&t, &choice->params, choice->algorithm);
    } else {
        ar_text_add(&t, choice->kind == AR_CHOICE_AUTO ? "auto" : "native");
    }
    return text;
}

static void
write_condition(FILE *out, const struct ar_condition *c)
{
    char size[AR_SIZE_TEXT];
    fputs(ar_size_print(c->bytes_min, size, sizeof size), out);
    if (c->bytes_max != c->bytes_min)
        fprintf(out, "-%s", ar_size_print(c->bytes_max, size, sizeof size));
    if (c->ranks_min == 0 && c->ranks_max == SIZE_MAX)
        return;
    fprintf(out, "@%zu", c->ranks_min); /* not as sizes: 1024 ranks are not 1K */
    if (c->ranks_max == SIZE_MAX)
        fputs("-inf", out);
    else if (c->ranks_max != c->ranks_min)
        fprintf(out, "-%zu", c->ranks_max);
}

static void
write_clause(FILE *out, const struct ar_clause *clause)
{
    char choice[AR_CHOICE_TEXT], traits[AR_TRAITS_TEXT];
    struct ar_text t;
    fputs(ar_choice_print(&clause->choice, choice, sizeof choice), out);
    for (size_t k = 0; k < clause->nconditions; k++) {
        fputc(k == 0 ? ':' : ',', out);
        write_condition(out, &clause->conditions[k]);
    }
    ar_text_init(&t, traits, sizeof traits);
    ar_traits_print(&t, &clause->traits);
    if (*traits)
        fprintf(out, "%c%s", clause->nconditions ? ',' : ':', traits);
}

char *
ar_rules_text(const struct ar_rules *rules)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    for (size_t i = 0; i < rules->nclauses; i++) {
        if (i > 0)
            fputc(';', out);
        write_clause(out, &rules->clauses[i]);
    }
    const int failed = ferror(out);
    if (fclose(out) || failed) {
        free(text);
        return NULL;
    }
    return text;
}

/* --- choices for ops that need the whole vector --- */

static bool
is_cut(const struct ar_choice *choice, int nranks, size_t count, size_t size, size_t scratch_bytes)
{
    return ar_algorithm_segment(choice->algorithm, &choice->params, nranks, count, size,
                                scratch_bytes) < count;
}

bool
ar_choice_make_whole(struct ar_choice *choice, int nranks, size_t count, size_t size,
                     size_t scratch_bytes)
{
    const struct ar_algorithm *const row = choice->algorithm;
    struct ar_params *const params = &choice->params;
    const bool has_lanes = row->takes & AR_TAKES_LANES;
    if (params->window == AR_WINDOW_AUTO)
        params->window = 1;
    const bool is_whole = has_lanes ? params->lanes == 1 && !ar_params_inter(params)->stand_in
                                    : !row->stand_in && params->exchange == AR_EXCHANGE_WHOLE;
    if (is_whole && !is_cut(choice, nranks, count, size, scratch_bytes))
        return false;
    if (has_lanes) {
        /* One leader per node, and between nodes an algorithm that does not cut either. */
        params->lanes = 1;
        params->inter = ar_algorithm_whole(ar_params_inter(params));
    } else if (!is_whole) {
        choice->algorithm = ar_algorithm_whole(row);
        if (choice->algorithm != row)
            *params = choice->algorithm->defaults;
        params->exchange = AR_EXCHANGE_WHOLE;
    }
    params->segment_bytes = 0;
    params->segments = 0;
    params->window = 1;
    if (is_cut(choice, nranks, count, size, scratch_bytes))
        *choice = (struct ar_choice){.kind = AR_CHOICE_NATIVE};
    return true;
}
