/* A text of rules: which clause takes which sizes, what that runs, and what is
 * odd. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/explain.h"
#include "config/data.h"
#include "config/files.h"
#include "select/select.h"

/* What messages from one size up to the next answer's run. */
struct answer {
    size_t bytes;
    const struct ar_clause *clause; /* NULL: none matches */
    bool fixed;                     /* an op that does not commute goes native */
    char text[AR_CHOICE_TEXT + 16];
};

/* Why a clause takes nothing; BUSY: it does, or it need not. */
enum idle { BUSY, OTHER_CALLS, OTHER_RANKS, SHADOWED };

struct standing {
    enum idle why;
    bool shades; /* takes a size of the idle clause that is looked at */
};

struct map {
    const struct ar_rules *rules;
    const struct ar_explain *request;
    bool from_file;
    struct ar_rules *across; /* what auto goes by across nodes; NULL: the built-in rules */
    bool asks_auto;          /* at some size */
    struct ar_request call;  /* of no bytes */
    struct answer *answers;  /* wherever the answer may change; the first is of 0 bytes */
    size_t n;
    struct standing *standings; /* of each clause */
    bool odd;                   /* something odd was told */
};

/* --- the call --- */

/* The one that is set, if any. */
static unsigned
single(unsigned set, unsigned fallback)
{
    return set ? (unsigned)__builtin_ctz(set) : fallback;
}

struct ar_request
ar_explain_call(const struct ar_explain *request)
{
    const struct ar_traits *const call = &request->call;
    const struct ar_placement *const places = &request->placement;
    return (struct ar_request){
        .nranks = request->nranks,
        .commutative = !(call->asks & AR_TRAIT_COMMUTES) || call->commutes == 1u << true,
        .shares_memory = places->nnodes <= 1,
        .op = (enum ar_op)single(call->ops, AR_SUM),
        .type = (enum ar_type_class)single(call->types, AR_TYPE_FLOAT),
        .place = (enum ar_place)single(call->places, AR_OUT_OF_PLACE),
        .nodes = places->node_of ? (size_t)places->nnodes : 1,
        .per_node = (size_t)(places->node_of ? places->most : request->nranks),
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
    const size_t nranks = (size_t)map->request->nranks;
    for (size_t i = 0; i < rules->nclauses; i++) {
        const struct ar_traits *const traits = &rules->clauses[i].traits;
        const struct ar_bounds *const block = &traits->block;
        if (!(traits->asks & AR_TRAIT_BLOCK))
            continue;
        if (block->min > 0 && block->min < SIZE_MAX / nranks)
            map->answers[map->n++].bytes = (block->min - 1) * nranks + 1;
        if (block->max < SIZE_MAX / nranks)
            map->answers[map->n++].bytes = block->max * nranks + 1;
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
        answer->fixed = choice->kind == AR_CHOICE_ALGORITHM &&
                        !ar_algorithm_keeps_order(choice->algorithm, &choice->params);
        if (answer->fixed && !call.commutative)
            snprintf(answer->text, sizeof answer->text, "native: %s reorders operands",
                     choice->algorithm->name);
        answer->fixed &= call.commutative;
        return AR_OK;
    }
    const struct ar_clause *const advised = map->across ? ar_rules_match(map->across, &call) : NULL;
    const int error = advised ? AR_OK : ar_auto_select(&picked, &call, NULL);
    if (advised)
        picked = advised->choice;
    if (!error)
        snprintf(answer->text, sizeof answer->text, "auto: %s",
                 ar_choice_print(&picked, text, sizeof text));
    return error;
}

/* Sorts the sizes, and leaves each of them once. */
static void
sort_sizes(struct map *map)
{
    size_t n = 0;
    qsort(map->answers, map->n, sizeof *map->answers, compare_answers);
    for (size_t i = 0; i < map->n; i++)
        if (n == 0 || map->answers[i].bytes != map->answers[n - 1].bytes)
            map->answers[n++].bytes = map->answers[i].bytes;
    map->n = n;
}

/* At the sizes of the rules and those of auto. */
static int
find_answers(struct map *map)
{
    struct ar_problem problem;
    struct ar_rules *autos = map->across;
    int error = autos ? AR_OK : ar_rules_parse(&autos, ar_auto_rules_text(), &problem);
    if (error)
        return error;
    map->answers = calloc(1 + 2 * (map->rules->nconditions + map->rules->nclauses +
                                   autos->nconditions + autos->nclauses),
                          sizeof *map->answers);
    if (map->answers) {
        map->n = 1; /* 0 bytes */
        add_sizes(map, map->rules);
        add_sizes(map, autos);
        sort_sizes(map);
    }
    error = map->answers ? AR_OK : AR_ERR_MEMORY;
    if (!map->across)
        ar_rules_destroy(autos);
    for (size_t i = 0; i < map->n && !error; i++) {
        error = find_answer(&map->answers[i], map);
        const struct ar_clause *const clause = map->answers[i].clause;
        map->asks_auto |= !clause || clause->choice.kind == AR_CHOICE_AUTO;
    }
    return error;
}

/* Across nodes auto goes by a model, where the machine is known. */
static int
ask_model(struct map *map)
{
    struct ar_problem problem;
    char *text = NULL;
    const int exit_code = ar_explain_advise(&text, map->request, !map->call.commutative);
    if (exit_code != AR_EXIT_DONE)
        return exit_code;
    int error = ar_rules_parse(&map->across, text, &problem);
    free(text);
    free(map->answers);
    map->answers = NULL;
    map->n = 0;
    if (!error)
        error = find_answers(map);
    return error ? AR_EXIT_FAILED : AR_EXIT_DONE;
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

/* Is the range from answer first up to answer end to be shown: is it that of --size? */
static bool
is_shown(const struct map *map, size_t first, size_t end)
{
    const struct ar_explain *const request = map->request;
    return !request->size_given || (request->bytes >= map->answers[first].bytes &&
                                    (end == map->n || request->bytes < map->answers[end].bytes));
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
        if (is_shown(map, first, i)) {
            printf("%-23s  %6s  %s%s\n", print_range(range, map, first, i), clause, now->text,
                   now->fixed ? " *" : "");
            fixed |= now->fixed;
        }
        first = i;
    }
    if (fixed)
        printf("* combines in an order of its own: native runs instead for an op that does not "
               "commute\n");
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

/* Tells which clauses take the sizes that the idle clause asks for. */
static void
print_shadow(struct map *map, const struct ar_clause *idle)
{
    const struct ar_clause *const clauses = map->rules->clauses;
    const char *separator = "";
    for (size_t i = 0; i < map->rules->nclauses; i++)
        map->standings[i].shades = false;
    for (size_t k = 0; k < map->n; k++) {
        const struct ar_request call = call_with(map, map->answers[k].bytes);
        if (map->answers[k].clause && ar_clause_matches(idle, &call))
            map->standings[map->answers[k].clause - clauses].shades = true;
    }
    for (size_t i = 0; i < map->rules->nclauses; i++)
        if (map->standings[i].shades) {
            if (!*separator)
                printf("is %sshadowed%s: all its sizes are taken by clause ",
                       ar_color_begin(stdout, AR_COLOR_WARNING), ar_color_end(stdout));
            printf("%s%zu", separator, i + 1);
            separator = ", ";
        }
    printf(
        "%s\n",
        *separator
            ? ""
            : "asks for blocks that messages of its sizes do not have with this number of ranks");
}

/* Of the two clauses of an Intel id, the one for other nodes than the call's: the id is idle where
 * the other one is. */
static bool
is_other_half(const struct map *map, const struct ar_clause *clause)
{
    const size_t i = (size_t)(clause - map->rules->clauses);
    return map->call.shares_memory ? i > 0 && ar_rules_is_pair(map->rules, i - 1)
                                   : ar_rules_is_pair(map->rules, i);
}

/* The clause's traits that the call does not have. */
static struct ar_traits
missing_of(const struct map *map, const struct ar_clause *clause)
{
    struct ar_traits missing = clause->traits;
    missing.asks &= ~(unsigned)AR_TRAIT_BLOCK; /* that is a question of the size */
    missing.asks = ar_traits_missing(&missing, &map->call);
    return missing;
}

/* AR_OK or AR_ERR_MEMORY. */
static int
find_idle(struct map *map)
{
    const struct ar_clause *const clauses = map->rules->clauses;
    map->standings = calloc(map->rules->nclauses + 1, sizeof *map->standings);
    if (!map->standings)
        return AR_ERR_MEMORY;
    for (size_t i = 0; i < map->rules->nclauses; i++)
        map->standings[i].why = is_other_half(map, &clauses[i])                   ? BUSY
                                : missing_of(map, &clauses[i]).asks               ? OTHER_CALLS
                                : serves_ranks(&clauses[i], map->request->nranks) ? SHADOWED
                                                                                  : OTHER_RANKS;
    for (size_t k = 0; k < map->n; k++)
        if (map->answers[k].clause)
            map->standings[map->answers[k].clause - clauses].why = BUSY;
    return AR_OK;
}

/* "clauses 2, 4-6 " or "clause 2 ", of those that are idle for this reason; false: there is none.
 */
static bool
print_numbers(struct map *map, enum idle why)
{
    const size_t n = map->rules->nclauses;
    char text[256];
    struct ar_text t;
    size_t count = 0;
    ar_text_init(&t, text, sizeof text);
    for (size_t i = 0, last; i < n; i = last + 1) {
        last = i;
        if (map->standings[i].why != why)
            continue;
        while (last + 1 < n && map->standings[last + 1].why == why)
            last++;
        ar_text_add(&t, "%s%zu", count > 0 ? ", " : "", i + 1);
        if (last > i)
            ar_text_add(&t, "-%zu", last + 1);
        count += last - i + 1;
    }
    if (count > 0) {
        begin_oddity(map);
        printf(count > 1 ? "clauses %s are for " : "clause %s is for ", text);
    }
    return count > 0;
}

/* Clauses that take nothing, and why: those that other calls would take in one line, and each that
 * none would. */
static void
print_idle(struct map *map)
{
    const struct ar_clause *const clauses = map->rules->clauses;
    const char *separator = "other calls: ";
    char text[AR_TRAITS_TEXT];
    struct ar_text t;
    if (print_numbers(map, OTHER_CALLS)) {
        for (size_t i = 0; i < map->rules->nclauses; i++)
            if (map->standings[i].why == OTHER_CALLS) {
                const struct ar_traits missing = missing_of(map, &clauses[i]);
                ar_text_init(&t, text, sizeof text);
                ar_traits_print(&t, &missing);
                printf("%s%s", separator, text);
                separator = "; ";
            }
        printf("\n");
    }
    if (print_numbers(map, OTHER_RANKS))
        printf("other numbers of ranks\n");
    for (size_t i = 0; i < map->rules->nclauses; i++) {
        if (map->standings[i].why != SHADOWED)
            continue;
        begin_oddity(map);
        printf("clause %zu (", i + 1);
        if (map->from_file)
            printf("line %d, ", clauses[i].line);
        printf("column %d) ", clauses[i].column);
        print_shadow(map, &clauses[i]);
    }
}

/* --- all of it --- */

static void
print_head(const struct map *map)
{
    const struct ar_explain *const request = map->request;
    const unsigned asks = ar_rules_all_traits(map->rules) & ~(unsigned)AR_TRAIT_BLOCK;
    char traits[AR_TRAITS_TEXT];
    struct ar_text t;
    ar_text_init(&t, traits, sizeof traits);
    ar_request_print(&t, &map->call, asks);
    if (request->placement.nnodes > 1)
        printf("%d ranks on %d nodes", request->nranks, request->placement.nnodes);
    else
        printf("%d rank%s on one node", request->nranks, ar_plural((size_t)request->nranks));
    printf(", ops that %scommute\n", map->call.commutative ? "" : "do not ");
    if (asks)
        printf("the rules ask for more than size and ranks; this call has: %s\n", traits);
    if (map->across && request->machine_file)
        printf("auto follows a model of the machine %s\n", request->machine_file);
    else if (map->across)
        printf("auto follows a model of the machine; a job measures the machine, but here it is "
               "assumed:\na = %g us, B = %g GB/s, 1/C = %g GB/s (--machine=FILE takes another)\n",
               request->latency_us, request->bandwidth_gbytes, request->reduction_gbytes);
    printf("\n");
}

/* A single word may have been meant as the name of a file, which is not there either. */
static void
tell_no_file(struct ar_problem *problem, const char *rules)
{
    struct ar_text t = {problem->text, sizeof problem->text, strlen(problem->text)};
    if (*rules && !strpbrk(rules, "(:;, \t\n"))
        ar_text_add(&t, "; there is no file of that name either");
}

/* Reads a file, or a text; what is no text may be the name of a file.  An enum ar_exit. */
static int
read_rules(struct map *map, struct ar_rules **rules)
{
    const struct ar_explain *const request = map->request;
    struct ar_problem problem;
    char reason[1024];
    struct ar_text why;
    int error = ar_rules_parse(rules, request->rules, &problem);
    ar_text_init(&why, reason, sizeof reason);
    if (error == AR_ERR_SYNTAX) {
        char *const path = ar_data_find(AR_DATA_RULES, request->rules, &why);
        map->from_file = path && access(path, F_OK) == 0;
        if (map->from_file)
            error = ar_rules_file_read(rules, NULL, path, &why);
        free(path);
    }
    if (error == AR_ERR_SYNTAX && map->from_file) {
        fprintf(stderr, "allreduce explain: %s\n", reason);
    } else if (error == AR_ERR_SYNTAX) {
        tell_no_file(&problem, request->rules);
        ar_explain_problem(request->rules, &problem);
    } else if (error) {
        fprintf(stderr, "allreduce explain: out of memory\n");
    }
    return error == AR_ERR_SYNTAX ? AR_EXIT_USAGE : error ? AR_EXIT_FAILED : AR_EXIT_DONE;
}

int
ar_explain_read_rules(struct ar_rules **rules, const char *text)
{
    const struct ar_explain request = {.rules = text};
    struct map map = {.request = &request};
    return read_rules(&map, rules);
}

int
ar_explain_rules(const struct ar_explain *request)
{
    struct ar_rules *rules;
    struct map map = {.request = request, .call = ar_explain_call(request)};
    int exit_code = read_rules(&map, &rules);
    if (exit_code != AR_EXIT_DONE)
        return exit_code;
    map.rules = rules;
    if (find_answers(&map))
        exit_code = AR_EXIT_FAILED;
    else if (map.asks_auto && request->placement.nnodes > 1)
        exit_code = ask_model(&map);
    if (exit_code == AR_EXIT_DONE && find_idle(&map))
        exit_code = AR_EXIT_FAILED;
    if (exit_code == AR_EXIT_DONE) {
        print_head(&map);
        print_map(&map);
    }
    if (exit_code == AR_EXIT_DONE && !request->size_given) {
        print_gaps(&map);
        print_idle(&map);
    }
    free(map.standings);
    free(map.answers);
    ar_rules_destroy(map.across);
    ar_rules_destroy(rules);
    return exit_code;
}
