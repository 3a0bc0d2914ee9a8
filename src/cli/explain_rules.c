/* A text of rules: which clause takes which sizes, and what that runs. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/explain.h"
#include "select/select.h"

/* Sizes at which the answer may change; the first is 0. */
struct edges {
    size_t *at;
    size_t n;
};

#define NO_CLAUSE SIZE_MAX

/* What messages of one size run. */
struct answer {
    size_t clause; /* NO_CLAUSE: none matches */
    char text[AR_CHOICE_TEXT + 16];
};

/* --- edges --- */

static int
compare_sizes(const void *x, const void *y)
{
    size_t a = *(const size_t *)x, b = *(const size_t *)y;
    return a < b ? -1 : a > b;
}

static size_t
count_conditions(const struct ar_rules *rules)
{
    const struct ar_condition *conditions;
    size_t n = 0;
    for (size_t i = 0; i < ar_rules_count(rules); i++)
        n += ar_rules_conditions(rules, i, &conditions);
    return n;
}

static void
add_edges(struct edges *edges, const struct ar_rules *rules)
{
    const struct ar_condition *conditions;
    for (size_t i = 0; i < ar_rules_count(rules); i++) {
        size_t n = ar_rules_conditions(rules, i, &conditions);
        for (size_t k = 0; k < n; k++) {
            edges->at[edges->n++] = conditions[k].bytes_min;
            if (conditions[k].bytes_max < SIZE_MAX)
                edges->at[edges->n++] = conditions[k].bytes_max + 1;
        }
    }
}

/* Those of the text and those of auto, sorted; doubles stay. */
static int
find_edges(struct edges *edges, const struct ar_rules *rules)
{
    struct ar_problem problem;
    struct ar_rules *built_in;
    int error = ar_rules_parse(&built_in, ar_auto_rules_text(), &problem);
    if (error)
        return error;
    edges->n = 0;
    edges->at = malloc((2 * (count_conditions(rules) + count_conditions(built_in)) + 1) *
                       sizeof *edges->at);
    if (edges->at) {
        edges->at[edges->n++] = 0;
        add_edges(edges, rules);
        add_edges(edges, built_in);
        qsort(edges->at, edges->n, sizeof *edges->at, compare_sizes);
    }
    ar_rules_destroy(built_in);
    return edges->at ? AR_OK : AR_ERR_MEMORY;
}

/* --- answers --- */

static int
find_answer(struct answer *answer, const struct ar_rules *rules, size_t bytes, int nranks)
{
    char text[AR_CHOICE_TEXT];
    struct ar_choice picked;
    const struct ar_choice *choice = ar_rules_match(rules, bytes, nranks, &answer->clause);
    if (!choice)
        answer->clause = NO_CLAUSE;
    if (choice && choice->kind != AR_CHOICE_AUTO) {
        ar_choice_print(choice, answer->text, sizeof answer->text);
        return AR_OK;
    }
    const struct ar_request request = {bytes, nranks, true, true};
    int error = ar_auto_choose(&picked, &request, NULL);
    if (!error)
        snprintf(answer->text, sizeof answer->text, "auto: %s",
                 ar_choice_print(&picked, text, sizeof text));
    return error;
}

static void
print_answer(const struct answer *answer, size_t first, size_t last)
{
    char from[AR_SIZE_TEXT], to[AR_SIZE_TEXT], range[2 * AR_SIZE_TEXT + 1], clause[24] = "-";
    snprintf(range, sizeof range, "%s-%s", ar_size_print(first, from, sizeof from),
             ar_size_print(last, to, sizeof to));
    if (answer->clause != NO_CLAUSE)
        snprintf(clause, sizeof clause, "%zu", answer->clause + 1);
    printf("%-23s  %6s  %s\n", range, clause, answer->text);
}

/* Prints the map; reached[i] becomes true for the clauses that take a size. */
static int
print_map(bool *reached, const struct ar_rules *rules, const struct edges *edges, int nranks)
{
    struct answer now, next;
    size_t first = 0;
    int error = find_answer(&now, rules, 0, nranks);
    printf("%-23s  clause  runs\n", "bytes");
    for (size_t i = 1; i < edges->n && !error; i++) {
        error = find_answer(&next, rules, edges->at[i], nranks);
        if (now.clause != NO_CLAUSE)
            reached[now.clause] = true;
        if (error || (next.clause == now.clause && strcmp(next.text, now.text) == 0))
            continue;
        print_answer(&now, first, edges->at[i] - 1);
        now = next;
        first = edges->at[i];
    }
    if (error)
        return error;
    if (now.clause != NO_CLAUSE)
        reached[now.clause] = true;
    print_answer(&now, first, SIZE_MAX);
    return AR_OK;
}

/* --- clauses that take nothing --- */

static bool
serves_ranks(const struct ar_rules *rules, size_t clause, int nranks)
{
    const struct ar_condition *conditions;
    size_t n = ar_rules_conditions(rules, clause, &conditions);
    bool serves = n == 0;
    for (size_t k = 0; k < n; k++)
        serves |=
            (size_t)nranks >= conditions[k].ranks_min && (size_t)nranks <= conditions[k].ranks_max;
    return serves;
}

static void
print_idle(const bool *reached, const struct ar_rules *rules, int nranks)
{
    bool any = false;
    for (size_t i = 0; i < ar_rules_count(rules); i++) {
        int line, column;
        if (reached[i])
            continue;
        ar_rules_place(rules, i, &line, &column);
        printf("%sclause %zu (column %d) %s\n", any ? "" : "\n", i + 1, column,
               serves_ranks(rules, i, nranks) ? "is shadowed: earlier clauses take all its sizes"
                                              : "asks for another number of ranks");
        any = true;
    }
}

static int
explain(const struct ar_rules *rules, int nranks)
{
    struct edges edges;
    int error = find_edges(&edges, rules);
    if (error)
        return error;
    bool *reached = calloc(ar_rules_count(rules) + 1, sizeof *reached);
    error = AR_ERR_MEMORY;
    if (reached)
        error = print_map(reached, rules, &edges, nranks);
    if (!error)
        print_idle(reached, rules, nranks);
    free(reached);
    free(edges.at);
    return error;
}

int
ar_explain_rules(const struct ar_explain *request)
{
    struct ar_problem problem;
    struct ar_rules *rules;
    int error = ar_rules_parse(&rules, request->rules, &problem);
    if (error == AR_ERR_SYNTAX) {
        fprintf(stderr, "allreduce explain: %s\n                   %*s\n%s\n", request->rules,
                problem.column, "^", problem.text);
        return AR_EXIT_USAGE;
    }
    if (!error) {
        printf("%d ranks, ops that commute\n\n", request->nranks);
        error = explain(rules, request->nranks);
        ar_rules_destroy(rules);
    }
    if (error)
        fprintf(stderr, "allreduce explain: out of memory\n");
    return error ? AR_EXIT_FAILED : AR_EXIT_DONE;
}
