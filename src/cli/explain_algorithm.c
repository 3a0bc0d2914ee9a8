/* One algorithm: all that there is to tell about it, found before any of it is told. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/color.h"
#include "cli/explain.h"
#include "model/predict.h"
#include "select/select.h"

#define DRAWN_COUNT_MAX 1024 /* elements; more are drawn with 4 a rank */

/* --- the choice --- */

static int
refuse(const char *text, const char *why)
{
    fprintf(stderr, "allreduce explain: '%s': %s\n", text, why);
    return AR_EXIT_USAGE;
}

int
ar_explain_read_choice(struct ar_choice *choice, const char *text)
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

/* --- what there is to tell --- */

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

/* node_of for nranks ranks, or NULL without a node map (or without memory). */
static int *
make_node_map(const struct ar_explain *request)
{
    int *node_of = request->hosts ? malloc((size_t)request->nranks * sizeof *node_of) : NULL;
    for (int r = 0; node_of && r < request->nranks; r++)
        node_of[r] = r / request->per_host;
    return node_of;
}

/* Ranks that are not said to share nodes have one each. */
static int
find_time(struct ar_explained *e)
{
    const struct ar_explain *const request = e->request;
    const struct ar_machine machine = ar_machine_flat(
        request->latency_us * 1e3, 1 / request->bandwidth_gbytes, 1 / request->reduction_gbytes);
    struct ar_choice choice = e->choice;
    int *const node_of = ar_machine_place(&machine, request->nranks);
    const struct ar_question question = {
        .machine = &machine,
        .choice = &choice,
        .nranks = request->nranks,
        .count = e->count,
        .element_bytes = request->element_bytes,
        .scratch_bytes = SIZE_MAX,
        .most_steps = AR_PREDICT_STEPS,
    };
    struct ar_prediction prediction;
    choice.params.node_of = node_of;
    const int error = node_of ? ar_predict(&prediction, &question) : AR_ERR_MEMORY;
    if (!error) {
        e->time_us = prediction.end.at / 1e3;
        if (e->cost.ports > 0)
            e->bound_us = ar_predict_bound(&machine, node_of, request->nranks,
                                           e->count * request->element_bytes, e->cost.ports) /
                          1e3;
    }
    free(node_of);
    return error;
}

static int
find_cost(struct ar_explained *e)
{
    struct ar_team team;
    int error = ar_team_init(&team, &e->choice, e->request->nranks, e->count);
    if (error)
        return error;
    error = ar_cost_count(&e->cost, team.schedules, team.nranks);
    ar_team_fini(&team);
    return error ? error : find_time(e);
}

/* Fills e; the team drawn is the caller's to fini if there is no error. */
static int
find_out(struct ar_explained *e)
{
    e->count = count_at_once(e->request, &e->choice);
    e->drawn_count = e->count <= DRAWN_COUNT_MAX ? e->count : 4 * (size_t)e->request->nranks;
    int error = ar_team_is_alike(&e->alike, &e->choice, e->request->nranks);
    if (!error)
        error = ar_team_init(&e->drawn, &e->choice, e->request->nranks, e->drawn_count);
    if (error)
        return error;
    error = ar_team_prove(&e->verdict, &e->drawn);
    if (!error)
        error = find_cost(e);
    if (error)
        ar_team_fini(&e->drawn);
    return error;
}

/* --- telling --- */

static int
tell_error(const struct ar_explained *e, int error)
{
    if (error == AR_ERR_MEMORY)
        fprintf(stderr, "allreduce explain: out of memory\n");
    else if (error)
        fprintf(stderr, "allreduce explain: %s is %srefuted%s on %d ranks (%zu elements): %s\n",
                e->choice.algorithm->name, ar_color_begin(stderr, AR_COLOR_BAD),
                ar_color_end(stderr), e->request->nranks, e->drawn_count, e->verdict.text);
    return error ? AR_EXIT_FAILED : AR_EXIT_DONE;
}

static int
tell(struct ar_explained *e)
{
    const char *const svg = e->request->svg;
    int error = find_out(e);
    if (error)
        return tell_error(e, error);
    if (!svg || strcmp(svg, "-") != 0)
        error = ar_explain_print(e);
    int exit_code = tell_error(e, error);
    if (!exit_code && svg)
        exit_code = ar_explain_draw(e);
    ar_team_fini(&e->drawn);
    return exit_code;
}

int
ar_explain_algorithm(const struct ar_explain *request)
{
    struct ar_explained e = {.request = request};
    int exit_code = ar_explain_read_choice(&e.choice, request->algorithm);
    if (exit_code != AR_EXIT_DONE)
        return exit_code;
    int *node_of = make_node_map(request);
    e.choice.params.node_of = node_of;
    exit_code = node_of || !request->hosts ? tell(&e) : tell_error(&e, AR_ERR_MEMORY);
    free(node_of);
    return exit_code;
}
