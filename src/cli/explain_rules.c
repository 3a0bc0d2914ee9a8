/* A text of rules: which clause takes which sizes, what that runs, and what is
 * odd. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/explain.h"
#include "config/files.h"
#include "select/select.h"

/* Sizes at which the answer may change; the first is 0. */
struct edges {
    size_t *at;
    size_t n;
};

struct map {
    const struct ar_rules *rules;
    const struct ar_explain *request;
    struct edges edges;
    bool *reached;          /* by clause: it takes a size */
    struct ar_request call; /* of no bytes */
    bool fixed;             /* a line is marked as one that combines in an order of its own */
    bool odd;               /* something odd was told */
};

/* What messages of one size run. */
struct answer {
    const struct ar_clause *clause; /* NULL: none matches */
    bool fixed;                     /* an op that does not commute goes native */
    char text[AR_CHOICE_TEXT + 16];
};

/* --- edges --- */

static int
compare_sizes(const void *x, const void *y)
{
    size_t a = *(const size_t *)x, b = *(const size_t *)y;
    return a < b ? -1 : a > b;
}

/* Counts the edges, and keeps them where there is room. */
static void
add_edges(struct edges *edges, const struct ar_rules *rules)
{
    for (size_t k = 0; k < 2 * rules->nconditions; k++) {
        const struct ar_condition *const c = &rules->conditions[k / 2];
        if (k % 2 && c->bytes_max == SIZE_MAX)
            continue;
        if (edges->at)
            edges->at[edges->n] = k % 2 ? c->bytes_max + 1 : c->bytes_min;
        edges->n++;
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
    for (int pass = 0; pass < 2 && !error; pass++) {
        if (pass == 1) {
            edges->at = calloc(edges->n, sizeof *edges->at);
            error = edges->at ? AR_OK : AR_ERR_MEMORY;
        }
        edges->n = 1; /* 0 */
        add_edges(edges, rules);
        add_edges(edges, built_in);
    }
    if (!error)
        qsort(edges->at, edges->n, sizeof *edges->at, compare_sizes);
    ar_rules_destroy(built_in);
    return error;
}

/* --- the call --- */

/* The one that is set, if any. */
static unsigned
single(unsigned set, unsigned fallback)
{
    return set ? (unsigned)__builtin_ctz(set) : fallback;
}

static struct ar_request
call_of(const struct ar_explain *request)
{
    const struct ar_traits *const call = &request->call;
    return (struct ar_request){
        .nranks = request->nranks,
        .commutative = true,
        .shares_memory = request->hosts <= 1,
        .op = (enum ar_op)single(call->ops, AR_SUM),
        .type = (enum ar_type_class)single(call->types, AR_TYPE_FLOAT),
        .place = (enum ar_place)single(call->places, AR_OUT_OF_PLACE),
        .nodes = request->hosts ? (size_t)request->hosts : 1,
        .per_node = (size_t)(request->hosts ? request->per_host : request->nranks),
        .comm = *call->comm ? call->comm : "MPI_COMM_WORLD",
    };
}

static struct ar_request
call_with(const struct map *map, size_t bytes)
{
    struct ar_request call = map->call;
    call.bytes = bytes;
    return call;
}

/* The clause that takes so many bytes, or NULL. */
static const struct ar_clause *
clause_for(const struct map *map, size_t bytes)
{
    const struct ar_request call = call_with(map, bytes);
    return ar_rules_match(map->rules, &call);
}

/* --- the map --- */

static int
find_answer(struct answer *answer, struct map *map, size_t bytes)
{
    char text[AR_CHOICE_TEXT];
    struct ar_choice picked;
    const struct ar_request call = call_with(map, bytes);
    *answer = (struct answer){.clause = ar_rules_match(map->rules, &call)};
    const struct ar_choice *const choice = answer->clause ? &answer->clause->choice : NULL;
    if (choice)
        map->reached[answer->clause - map->rules->clauses] = true;
    if (choice && choice->kind != AR_CHOICE_AUTO) {
        ar_choice_print(choice, answer->text, sizeof answer->text);
        answer->fixed = choice->kind == AR_CHOICE_ALGORITHM && !choice->algorithm->keeps_order;
        return AR_OK;
    }
    const int error = ar_auto_select(&picked, &call, NULL);
    if (!error)
        snprintf(answer->text, sizeof answer->text, "auto: %s",
                 ar_choice_print(&picked, text, sizeof text));
    return error;
}

static void
print_range(char *range, size_t room, size_t first, size_t last)
{
    char from[AR_SIZE_TEXT], to[AR_SIZE_TEXT];
    snprintf(range, room, "%s-%s", ar_size_print(first, from, sizeof from),
             ar_size_print(last, to, sizeof to));
}

/* Prints a line for each range of sizes whose answer is the same; reached
 * becomes true for the clauses that take a size. */
static int
print_map(struct map *map)
{
    struct answer now, next;
    size_t first = 0;
    int error = find_answer(&now, map, 0);
    printf("%-23s  clause  runs\n", "bytes");
    for (size_t i = 1; i <= map->edges.n && !error; i++) {
        const bool end = i == map->edges.n;
        char range[2 * AR_SIZE_TEXT + 1], clause[24] = "-";
        if (!end)
            error = find_answer(&next, map, map->edges.at[i]);
        if (error || (!end && next.clause == now.clause && strcmp(next.text, now.text) == 0))
            continue;
        print_range(range, sizeof range, first, end ? SIZE_MAX : map->edges.at[i] - 1);
        if (now.clause)
            snprintf(clause, sizeof clause, "%td", now.clause - map->rules->clauses + 1);
        printf("%-23s  %6s  %s%s\n", range, clause, now.text, now.fixed ? " *" : "");
        map->fixed |= now.fixed;
        if (end)
            break;
        now = next;
        first = map->edges.at[i];
    }
    return error;
}

/* --- what is odd --- */

/* Parts what is odd from the map. */
static void
begin_oddity(struct map *map)
{
    printf("%s", map->odd ? "" : "\n");
    map->odd = true;
}

/* Sizes between clauses, and behind the last, that none of them takes. */
static void
print_gaps(struct map *map)
{
    const struct edges *const edges = &map->edges;
    char range[2 * AR_SIZE_TEXT + 1];
    size_t first = 0;
    bool open = false;
    for (size_t i = 0; i <= edges->n && map->rules->nclauses > 0; i++) {
        const bool end = i == edges->n;
        const bool gap = !end && !clause_for(map, edges->at[i]);
        if (gap && !open)
            first = edges->at[i];
        if (open && !gap) {
            print_range(range, sizeof range, first, end ? SIZE_MAX : edges->at[i] - 1);
            begin_oddity(map);
            printf("%sno clause%s takes %s: left to auto\n",
                   ar_color_begin(stdout, AR_COLOR_WARNING), ar_color_end(stdout), range);
        }
        open = gap;
    }
}

static bool
serves_ranks(const struct ar_clause *clause, int nranks)
{
    const struct ar_condition *const c = clause->conditions;
    const size_t p = (size_t)nranks;
    bool serves = clause->nconditions == 0;
    for (size_t k = 0; k < clause->nconditions; k++)
        serves |= p >= c[k].ranks_min && p <= c[k].ranks_max;
    return serves;
}

/* Does clause by take a size that the idle clause, which stands behind it, asks for? */
static bool
shadows(const struct map *map, const struct ar_clause *by, const struct ar_clause *idle)
{
    for (size_t k = 0; k < map->edges.n; k++) {
        const struct ar_request call = call_with(map, map->edges.at[k]);
        if (ar_clause_matches(idle, &call) && clause_for(map, call.bytes) == by)
            return true;
    }
    return false;
}

/* Clauses that take nothing, and why. */
static void
print_idle(struct map *map)
{
    const struct ar_clause *const clauses = map->rules->clauses;
    for (size_t i = 0; i < map->rules->nclauses; i++) {
        struct ar_traits traits = clauses[i].traits;
        char text[AR_TRAITS_TEXT];
        struct ar_text t;
        if (map->reached[i])
            continue;
        begin_oddity(map);
        printf("clause %zu (", i + 1);
        if (map->request->rules_file)
            printf("line %d, ", clauses[i].line);
        printf("column %d) ", clauses[i].column);
        traits.asks = ar_traits_missing(&traits, &map->call);
        ar_text_init(&t, text, sizeof text);
        ar_traits_print(&t, &traits);
        if (traits.asks) {
            printf("asks for %s\n", text);
        } else if (serves_ranks(&clauses[i], map->request->nranks)) {
            printf("is %sshadowed%s: all its sizes are taken by clause ",
                   ar_color_begin(stdout, AR_COLOR_WARNING), ar_color_end(stdout));
            const char *separator = "";
            for (size_t by = 0; by < i; by++)
                if (shadows(map, &clauses[by], &clauses[i])) {
                    printf("%s%zu", separator, by + 1);
                    separator = ", ";
                }
            printf("\n");
        } else {
            printf("asks for another number of ranks\n");
        }
    }
}

/* --- all of it --- */

static void
print_head(const struct map *map)
{
    const struct ar_explain *const request = map->request;
    const unsigned asks = ar_rules_all_traits(map->rules);
    char traits[AR_TRAITS_TEXT];
    struct ar_text t;
    ar_text_init(&t, traits, sizeof traits);
    ar_request_print(&t, &map->call, asks);
    if (request->hosts > 1)
        printf("%d ranks on %d nodes", request->nranks, request->hosts);
    else
        printf("%d rank%s on one node", request->nranks, request->nranks == 1 ? "" : "s");
    printf(", ops that commute\n");
    if (asks)
        printf("the rules ask for more than size and ranks; this call has %s\n", traits);
    printf("\n");
}

static int
explain(struct map *map)
{
    int error = find_edges(&map->edges, map->rules);
    if (!error) {
        map->reached = calloc(map->rules->nclauses + 1, sizeof *map->reached);
        error = map->reached ? AR_OK : AR_ERR_MEMORY;
    }
    if (!error) {
        print_head(map);
        error = print_map(map);
    }
    if (!error) {
        if (map->fixed)
            printf("* in an order of its own: for an op that does not commute, "
                   "native runs\n");
        print_gaps(map);
        print_idle(map);
    }
    free(map->reached);
    free(map->edges.at);
    return error;
}

int
ar_explain_rules(const struct ar_explain *request)
{
    struct ar_problem problem;
    struct ar_rules *rules;
    char reason[1024];
    struct ar_text why;
    ar_text_init(&why, reason, sizeof reason);
    int error = request->rules_file ? ar_rules_file_read(&rules, NULL, request->rules_file, &why)
                                    : ar_rules_parse(&rules, request->rules, &problem);
    if (error == AR_ERR_SYNTAX) {
        if (request->rules_file)
            fprintf(stderr, "allreduce explain: %s\n", reason);
        else
            ar_explain_problem(request->rules, &problem);
        return AR_EXIT_USAGE;
    }
    if (!error) {
        struct map map = {.rules = rules, .request = request, .call = call_of(request)};
        error = explain(&map);
        ar_rules_destroy(rules);
    }
    if (error)
        fprintf(stderr, "allreduce explain: out of memory\n");
    return error ? AR_EXIT_FAILED : AR_EXIT_DONE;
}
