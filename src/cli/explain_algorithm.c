/* One algorithm: its card, the proof, the figure and the counts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/explain.h"
#include "schedule/checker.h"
#include "schedule/cost.h"
#include "schedule/printer.h"
#include "select/select.h"

#define DRAWN_COUNT_MAX 1024 /* elements; more are drawn with 4 a rank */

/* The schedules of all ranks. */
struct team {
    struct ar_schedule *schedules;
    int nranks;
};

/* --- the choice --- */

static int
refuse(const char *text, const char *why)
{
    fprintf(stderr, "allreduce explain: '%s': %s\n", text, why);
    return AR_EXIT_USAGE;
}

/* The one algorithm that text names. */
static int
read_choice(struct ar_choice *choice, const char *text)
{
    struct ar_problem problem;
    struct ar_rules *rules;
    const struct ar_condition *conditions;
    if (ar_rules_parse(&rules, text, &problem)) {
        fprintf(stderr, "allreduce explain: %s\n                   %*s\n%s\n", text, problem.column,
                "^", problem.text);
        return AR_EXIT_USAGE;
    }
    int simple = ar_rules_count(rules) == 1 && ar_rules_conditions(rules, 0, &conditions) == 0;
    if (simple)
        *choice = *ar_rules_choice(rules, 0);
    ar_rules_destroy(rules);
    if (!simple)
        return refuse(text, "give one algorithm without conditions, or --rules TEXT");
    if (choice->kind != AR_CHOICE_ALGORITHM)
        return refuse(text, "has no schedule of its own; --rules shows what it picks");
    return AR_EXIT_DONE;
}

/* --- schedules --- */

static void
team_fini(struct team *team)
{
    for (int r = 0; team->schedules && r < team->nranks; r++)
        ar_schedule_fini(&team->schedules[r]);
    free(team->schedules);
}

static int
team_init(struct team *team, const struct ar_choice *choice, int nranks, size_t count)
{
    int error = AR_OK;
    team->nranks = nranks;
    team->schedules = calloc((size_t)nranks, sizeof *team->schedules);
    if (!team->schedules)
        return AR_ERR_MEMORY;
    for (int r = 0; r < nranks && !error; r++)
        error = ar_algorithm_emit(choice->algorithm, &team->schedules[r], r, nranks, count,
                                  &choice->params);
    if (error)
        team_fini(team);
    return error;
}

/* Both ways of holding the buffers; the second verdict stands for both. */
static int
team_prove(struct ar_verdict *verdict, const struct team *team)
{
    int error = ar_check(verdict, team->schedules, team->nranks, false);
    return error ? error : ar_check(verdict, team->schedules, team->nranks, true);
}

/* Are all elements combined alike?  Asked where every block has elements. */
static int
find_alike(bool *alike, const struct ar_choice *choice, int nranks)
{
    struct team team;
    struct ar_verdict verdict;
    int error = team_init(&team, choice, nranks, 4 * (size_t)nranks);
    if (error)
        return error;
    error = team_prove(&verdict, &team);
    *alike = verdict.alike;
    team_fini(&team);
    return error;
}

/* --- printing --- */

static void
print_card(const struct ar_choice *choice, bool alike)
{
    const struct ar_algorithm *row = choice->algorithm;
    char text[AR_CHOICE_TEXT];
    printf("%s: %s\n\n", ar_choice_print(choice, text, sizeof text), row->title);
    if (row->aliases[0])
        printf("  also called  %s\n", row->aliases);
    if (row->intel_id_last)
        printf("  Intel ids    %d to %d\n", row->intel_id, row->intel_id_last);
    else if (row->intel_id)
        printf("  Intel id     %d\n", row->intel_id);
    ar_cli_print_parameters(text, sizeof text, row);
    if (text[0])
        printf("  parameters   %s by default\n", text);
    printf("  rounds       %s\n", row->rounds);
    printf("  sent a rank  %s\n", row->bytes);
    printf("  time         %s\n", row->cost);
    printf("  needs        %s\n", row->needs);
    printf("  order        %s\n",
           row->keeps_order ? "that of the ranks: any op" : "its own: ops that commute");
    printf("  bits         the same on all ranks and in every run; another size %s\n",
           alike ? "keeps them" : "may change them");
    printf("  source       %s\n\n", row->source);
}

/* Ends a line with the bound, right-aligned to width, and how far from it. */
static void
print_distance(double measured, double bound, int width)
{
    if (bound > 0)
        printf("%*.6g  %8.2f", width, bound, measured / bound);
    printf("\n");
}

/* bound 0: none is known. */
static void
print_tally(const char *what, const struct ar_tally *tally, double bound)
{
    printf("  %-17s  %9zu  %9zu", what, tally->most, tally->total);
    print_distance((double)tally->most, bound, 13);
}

static void
print_counts(const struct ar_cost *cost, int nranks, size_t count)
{
    printf("                      one rank  all ranks  lower bound  distance\n");
    printf("  %-17s  %9zu", "rounds", cost->rounds);
    print_distance((double)cost->rounds,
                   cost->ports ? (double)ar_bound_rounds(nranks, cost->ports) : 0, 24);
    print_tally("elements sent", &cost->sent, ar_bound_sent(nranks, count));
    print_tally("elements received", &cost->received, 0);
    print_tally("elements reduced", &cost->reduced, ar_bound_reduced(nranks, count));
    print_tally("elements copied", &cost->copied, 0);
    print_tally("scratch elements", &cost->scratch, 0);
    print_tally("messages", &cost->messages, 0);
    printf("  %-17s  %9zu\n", "received at once", cost->ports);
}

static int
print_time(const struct ar_explain *request, const struct team *team)
{
    const double bytes = (double)request->element_bytes;
    const struct ar_machine machine = {
        .alpha = request->latency_us,
        .beta = bytes / request->bandwidth_gbytes * 1e-3,
        .gamma = bytes / request->reduction_gbytes * 1e-3,
    };
    double time;
    int error = ar_cost_time(&time, team->schedules, team->nranks, &machine);
    if (!error)
        printf("  time                %.6g us, with a = %g us, B = %g GB/s, 1/C = %g GB/s\n", time,
               request->latency_us, request->bandwidth_gbytes, request->reduction_gbytes);
    return error;
}

static int
print_whole(const struct ar_explain *request, const struct ar_choice *choice, size_t count)
{
    struct team team;
    struct ar_cost cost;
    int error = team_init(&team, choice, request->nranks, count);
    if (error)
        return error;
    error = ar_cost_count(&cost, team.schedules, team.nranks);
    if (!error) {
        print_counts(&cost, team.nranks, count);
        error = print_time(request, &team);
    }
    team_fini(&team);
    return error;
}

static int
print_figure(const struct team *team, size_t count)
{
    if (team->nranks > AR_EXPLAIN_DRAWN_MAX)
        printf("(no figure above %d ranks)\n\n", AR_EXPLAIN_DRAWN_MAX);
    else if (count > 0) {
        int error = ar_figure_print(stdout, team->schedules, team->nranks);
        printf("\n");
        return error;
    }
    return AR_OK;
}

/* The proof and the figure. */
static int
print_drawn(const struct ar_choice *choice, int nranks, size_t count)
{
    struct team team;
    struct ar_verdict verdict;
    int error = team_init(&team, choice, nranks, count);
    if (error)
        return error;
    error = team_prove(&verdict, &team);
    if (error == AR_ERR_PROOF)
        printf("refuted (%zu elements): %s\n", count, verdict.text);
    if (!error) {
        printf("proved: each rank counts once, %s, in one expression on all\n"
               "ranks; no deadlock, no hazard; the same with MPI_IN_PLACE (%zu elements)\n\n",
               verdict.in_rank_order ? "in rank order" : "in an order of its own", count);
        error = print_figure(&team, count);
    }
    team_fini(&team);
    return error;
}

/* --- all of it --- */

/* Elements of the message, or of its longest segment. */
static size_t
count_at_once(const struct ar_explain *request, const struct ar_choice *choice)
{
    size_t count =
        request->size_given ? request->bytes / request->element_bytes : 4 * (size_t)request->nranks;
    size_t segment = choice->params.segment_bytes / request->element_bytes;
    if (choice->params.segment_bytes == 0)
        return count;
    segment = segment > 0 ? segment : 1;
    return segment < count ? segment : count;
}

static const char *
plural(size_t n)
{
    return n == 1 ? "" : "s";
}

static void
print_size(const struct ar_explain *request, const struct ar_choice *choice, size_t at_once)
{
    size_t count = request->size_given ? request->bytes / request->element_bytes : at_once;
    printf("%d rank%s, %zu element%s of %zu byte%s", request->nranks,
           plural((size_t)request->nranks), count, plural(count), request->element_bytes,
           plural(request->element_bytes));
    if (at_once < count)
        printf(" in %zu segments, %d in flight; below, one of %zu", (count + at_once - 1) / at_once,
               choice->params.window, at_once);
    printf("\n");
}

/* node_of for nranks ranks, or NULL without a node map (or without memory). */
static int *
make_node_map(const struct ar_explain *request)
{
    int *node_of = request->hosts ? malloc((size_t)request->nranks * sizeof *node_of) : NULL;
    for (int r = 0; node_of && r < request->nranks; r++)
        node_of[r] = r / request->per_host;
    return node_of;
}

static int
explain(const struct ar_explain *request, const struct ar_choice *choice)
{
    const size_t count = count_at_once(request, choice);
    const size_t drawn = count <= DRAWN_COUNT_MAX ? count : 4 * (size_t)request->nranks;
    bool alike;
    int error = find_alike(&alike, choice, request->nranks);
    if (error)
        return error;
    print_card(choice, alike);
    print_size(request, choice, count);
    error = print_drawn(choice, request->nranks, drawn);
    return error ? error : print_whole(request, choice, count);
}

int
ar_explain_algorithm(const struct ar_explain *request)
{
    struct ar_choice choice;
    int exit_code = read_choice(&choice, request->algorithm);
    if (exit_code != AR_EXIT_DONE)
        return exit_code;
    int *node_of = make_node_map(request);
    int error = AR_ERR_MEMORY;
    choice.params.node_of = node_of;
    if (node_of || !request->hosts)
        error = explain(request, &choice);
    free(node_of);
    if (error == AR_ERR_MEMORY)
        fprintf(stderr, "allreduce explain: out of memory\n");
    else if (error)
        fprintf(stderr, "allreduce explain: %s is refuted on %d ranks\n", choice.algorithm->name,
                request->nranks);
    return error ? AR_EXIT_FAILED : AR_EXIT_DONE;
}
