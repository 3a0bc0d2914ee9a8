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

/* What messages from one size up to the next answer's run. */
struct answer {
    size_t bytes;
    const struct ar_clause *clause; /* NULL: none matches */
    bool fixed;                     /* an op that does not commute goes native */
    char text[AR_CHOICE_TEXT + 16];
};

struct map {
    const struct ar_rules *rules;
    const struct ar_explain *request;
    struct ar_request call; /* of no bytes */
    struct answer *answers; /* wherever the answer may change; the first is of 0 bytes */
    size_t n;
    bool odd; /* something odd was told */
};

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

/* --- the map --- */

static int
compare_answers(const void *x, const void *y)
{
    const size_t a = ((const struct answer *)x)->bytes, b = ((const struct answer *)y)->bytes;
    return (a > b) - (a < b);
}

/* Adds the sizes at which the rules may choose something else. */
static void
add_sizes(struct map *map, const struct ar_rules *rules)
{
    for (size_t i = 0; i < rules->nconditions; i++) {
        const struct ar_condition *const c = &rules->conditions[i];
        map->answers[map->n++].bytes = c->bytes_min;
        if (c->bytes_max < SIZE_MAX)
            map->answers[map->n++].bytes = c->bytes_max + 1;
    }
}

static int
find_answer(struct answer *answer, const struct map *map)
{
    const struct ar_request call = call_with(map, answer->bytes);
    char text[AR_CHOICE_TEXT];
    struct ar_choice picked;
    *answer = (struct answer){.bytes = call.bytes, .clause = ar_rules_match(map->rules, &call)};
    const struct ar_choice *const choice = answer->clause ? &answer->clause->choice : NULL;
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

/* At the sizes of the rules and those of auto, sorted; doubles stay. */
static int
find_answers(struct map *map)
{
    struct ar_problem problem;
    struct ar_rules *built_in;
    int error = ar_rules_parse(&built_in, ar_auto_rules_text(), &problem);
    if (error)
        return error;
    map->answers =
        calloc(1 + 2 * (map->rules->nconditions + built_in->nconditions), sizeof *map->answers);
    if (map->answers) {
        map->n = 1; /* 0 bytes */
        add_sizes(map, map->rules);
        add_sizes(map, built_in);
        qsort(map->answers, map->n, sizeof *map->answers, compare_answers);
    }
    error = map->answers ? AR_OK : AR_ERR_MEMORY;
    ar_rules_destroy(built_in);
    for (size_t i = 0; i < map->n && !error; i++)
        error = find_answer(&map->answers[i], map);
    return error;
}

/* The sizes from answer first up to answer end; returns range. */
static char *
print_range(char range[2 * AR_SIZE_TEXT], const struct map *map, size_t first, size_t end)
{
    const size_t last = end < map->n ? map->answers[end].bytes - 1 : SIZE_MAX;
    char from[AR_SIZE_TEXT], to[AR_SIZE_TEXT];
    snprintf(range, 2 * AR_SIZE_TEXT, "%s-%s",
             ar_size_print(map->answers[first].bytes, from, sizeof from),
             ar_size_print(last, to, sizeof to));
    return range;
}

/* Prints a line for each range of sizes whose answer is the same. */
static void
print_map(const struct map *map)
{
    bool fixed = false;
    printf("%-23s  clause  runs\n", "bytes");
    for (size_t first = 0, i = 1; i <= map->n; i++) {
        const struct answer *const now = &map->answers[first], *const next = &map->answers[i];
        char range[2 * AR_SIZE_TEXT], clause[24] = "-";
        if (i < map->n && next->clause == now->clause && strcmp(next->text, now->text) == 0)
            continue;
        if (now->clause)
            snprintf(clause, sizeof clause, "%td", now->clause - map->rules->clauses + 1);
        printf("%-23s  %6s  %s%s\n", print_range(range, map, first, i), clause, now->text,
               now->fixed ? " *" : "");
        fixed |= now->fixed;
        first = i;
    }
    if (fixed)
        printf("* in an order of its own: for an op that does not commute, native runs\n");
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
    for (size_t first = 0, i = 1; i <= map->n && map->rules->nclauses > 0; i++) {
        const bool gap = !map->answers[first].clause;
        char range[2 * AR_SIZE_TEXT];
        if (i < map->n && !map->answers[i].clause == gap)
            continue;
        if (gap) {
            begin_oddity(map);
            printf("%sno clause%s takes %s: left to auto\n",
                   ar_color_begin(stdout, AR_COLOR_WARNING), ar_color_end(stdout),
                   print_range(range, map, first, i));
        }
        first = i;
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

/* Does clause by take a size that the idle clause, which stands behind it, asks for?  by may be
 * idle itself: does it take any size? */
static bool
takes(const struct map *map, const struct ar_clause *by, const struct ar_clause *idle)
{
    for (size_t k = 0; k < map->n; k++) {
        const struct ar_request call = call_with(map, map->answers[k].bytes);
        if (map->answers[k].clause == by && ar_clause_matches(idle, &call))
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
        if (takes(map, &clauses[i], &clauses[i]))
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
                if (takes(map, &clauses[by], &clauses[i])) {
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
        error = find_answers(&map);
        if (!error) {
            print_head(&map);
            print_map(&map);
            print_gaps(&map);
            print_idle(&map);
        }
        free(map.answers);
        ar_rules_destroy(rules);
    }
    if (error)
        fprintf(stderr, "allreduce explain: out of memory\n");
    return error ? AR_EXIT_FAILED : AR_EXIT_DONE;
}
