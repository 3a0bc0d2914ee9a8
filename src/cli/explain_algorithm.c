/* One algorithm: all that is printed about it is found first. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/card.h"
#include "algorithms/written_row.h"
#include "cli/cli.h"
#include "cli/explain.h"
#include "config/output.h"
#include "model/bound.h"
#include "model/predict.h"
#include "schedule/checker.h"
#include "schedule/cost.h"
#include "schedule/figure.h"
#include "schedule/holdings.h"
#include "select/foreign.h"

#define DRAWN_COUNT_MAX 1024 /* elements; more are drawn with 4 a rank */

/* Of the figure of a file, which may have any number of them. */
#define DRAWN_ROUNDS_MAX 1000
#define DRAWN_CELLS_MAX  1000000 /* elements in all rounds */

/* What is printed.  Of a message longer than a segment it is about the first segment. */
struct explained {
    const struct ar_explain *request;
    struct ar_choice choice;
    size_t whole;              /* elements of the message */
    size_t count;              /* of these, that run at once */
    size_t drawn_count;        /* of drawn: the same, or fewer where that would be many */
    struct ar_schedule *drawn; /* of all ranks, proved */
    struct ar_verdict verdict; /* on them */
    bool alike;                /* as in the verdict, but for a count with all blocks, as the next */
    uint32_t depth;
    struct ar_cost cost; /* of count elements, as all below */
    double time_us;
    double bound_us;            /* ar_machine_bound; 0: no messages */
    double said[AR_CARD_LINES]; /* by the card */
    double whole_us, whole_said_us;
};

/* --- the choice --- */

void
ar_explain_problem(const char *text, const struct ar_problem *problem)
{
    fprintf(stderr, "allreduce explain: %s\n                   %*s\n%s\n", text, problem->column,
            "^", problem->text);
}

int
ar_explain_read_choice(struct ar_choice *choice, const struct ar_explain *request, int nodes)
{
    const char *const text = request->algorithm;
    struct ar_problem problem;
    struct ar_rules *rules;
    const char *why = NULL;
    if (request->written) {
        const struct ar_algorithm *const row = &request->written->row;
        *choice = (struct ar_choice){AR_CHOICE_ALGORITHM, row, row->defaults};
        return AR_EXIT_DONE;
    }
    if (ar_rules_parse(&rules, text, &problem)) {
        ar_explain_problem(text, &problem);
        return AR_EXIT_USAGE;
    }
    const bool is_pair = ar_rules_is_pair(rules, 0);
    if (rules->nclauses != 1 + (size_t)is_pair || rules->nconditions > 0)
        why = "give one algorithm without conditions, or --rules TEXT";
    else
        *choice = rules->clauses[is_pair && nodes > 1].choice;
    ar_rules_destroy(rules);
    if (!why && choice->kind == AR_CHOICE_NATIVE)
        why = "is the MPI library's own algorithm, of which nothing is known here; name one of "
              "allreduce list";
    if (!why && choice->kind == AR_CHOICE_AUTO)
        why =
            "needs a machine: give --machine=FILE; --rules=auto shows what it chooses without one";
    if (why)
        fprintf(stderr, "allreduce explain: '%s': %s\n", text, why);
    return why                    ? AR_EXIT_USAGE
           : *choice->params.file ? ar_explain_read_file(choice, request)
                                  : AR_EXIT_DONE;
}

/* --- the schedules of all ranks --- */

/* Errors as ar_algorithm_emit. */
static int
emit_all(struct ar_schedule **made, const struct explained *e, size_t count)
{
    const int nranks = e->request->nranks;
    struct ar_schedule *const schedules = calloc((size_t)nranks, sizeof *schedules);
    int error = schedules ? AR_OK : AR_ERR_MEMORY;
    for (int r = 0; r < nranks && !error; r++)
        error = ar_algorithm_emit(e->choice.algorithm, &schedules[r], r, nranks, count,
                                  &e->choice.params);
    if (error)
        ar_schedules_destroy(schedules, nranks);
    else
        *made = schedules;
    return error;
}

/* --- what is printed --- */

/* So many elements that every block has some. */
static size_t
full_count(const struct explained *e)
{
    const struct ar_written_row *const written = e->choice.params.written;
    return written ? (size_t)written->written.nblocks : 4 * (size_t)e->request->nranks;
}

/* Elements of the message, and of its longest segment. */
static void
find_counts(struct explained *e)
{
    const struct ar_explain *const request = e->request;
    e->whole = request->size_given ? request->bytes / request->element_bytes : full_count(e);
    if (e->whole > 0)
        e->count = ar_algorithm_segment(e->choice.algorithm, &e->choice.params, request->nranks,
                                        e->whole, request->element_bytes, SIZE_MAX);
}

/* What the card says, in microseconds and elements. */
static void
find_said(struct explained *e)
{
    const struct ar_explain *const request = e->request;
    const struct ar_algorithm *const row = e->choice.algorithm;
    const struct ar_params *const params = &e->choice.params;
    const int nranks = request->nranks;
    const double bytes = (double)request->element_bytes, n = (double)e->count;
    const struct ar_rates rates = {request->latency_us, request->bandwidth_gbytes * 1e3 / bytes,
                                   bytes / request->reduction_gbytes / 1e3};
    for (int line = 0; line < AR_CARD_LINES; line++)
        e->said[line] = ar_card_value(row, (enum ar_card_line)line, params, nranks, n, &rates);
    e->whole_said_us = ar_card_pipelined_value(row, params, nranks, n, ceil((double)e->whole / n),
                                               ar_algorithm_window(row, params, nranks), &rates);
}

/* The time of so many elements.  Ranks are on one node unless they are said to share several. */
static int
find_time(double *time_us, const struct explained *e, const struct ar_machine *machine,
          size_t count, const int *node_of)
{
    struct ar_choice choice = e->choice;
    struct ar_prediction prediction;
    const struct ar_question question = {
        .machine = machine,
        .choice = &choice,
        .nranks = e->request->nranks,
        .count = count,
        .element_bytes = e->request->element_bytes,
        .scratch_bytes = SIZE_MAX,
        .most_steps = AR_PREDICT_STEPS,
    };
    choice.params.node_of = node_of;
    if (count < e->whole)
        choice.params.segments = 0; /* it is a segment already */
    const int error = ar_predict(&prediction, &question);
    if (!error)
        *time_us = prediction.end.at / 1e3;
    return error;
}

static int
find_times(struct explained *e)
{
    const struct ar_explain *const request = e->request;
    const struct ar_machine machine = ar_machine_flat(
        request->latency_us * 1e3, 1 / request->bandwidth_gbytes, 1 / request->reduction_gbytes);
    int *const together = calloc((size_t)request->nranks, sizeof *together);
    const int *const node_of = e->choice.params.node_of ? e->choice.params.node_of : together;
    int error = together ? find_time(&e->time_us, e, &machine, e->count, node_of) : AR_ERR_MEMORY;
    e->whole_us = e->time_us;
    if (!error && e->whole != e->count)
        error = find_time(&e->whole_us, e, &machine, e->whole, node_of);
    if (!error && e->cost.ports > 0)
        e->bound_us = ar_machine_bound(&machine, node_of, request->nranks,
                                       e->count * request->element_bytes, e->cost.ports) /
                      1e3;
    free(together);
    return error;
}

/* Emits the schedules for count elements and proves them.  Errors as ar_algorithm_emit and
 * ar_check_both; *made is the caller's to free if it is not NULL. */
static int
prove(struct ar_schedule **made, struct explained *e, size_t count)
{
    struct ar_schedule *all = NULL;
    int error = emit_all(&all, e, count);
    if (!error)
        error = ar_check_both(&e->verdict, all, e->request->nranks);
    *made = all;
    return error;
}

static int
count_cost(struct explained *e)
{
    const int nranks = e->request->nranks;
    struct ar_schedule *schedules;
    if (e->count == e->drawn_count) {
        /* By itself: the analyzer takes the schedules for lost where a part of *e is filled. */
        struct ar_cost cost = {.rounds = 0};
        const int failed = ar_cost_count(&cost, e->drawn, nranks);
        e->cost = cost;
        return failed;
    }
    int error = emit_all(&schedules, e, e->count);
    if (!error) {
        error = ar_cost_count(&e->cost, schedules, nranks);
        ar_schedules_destroy(schedules, nranks);
    }
    return error;
}

/* Fills e; the schedules drawn are the caller's to free, whatever happens. */
static int
find_out(struct explained *e)
{
    /* How elements are combined is asked where every block has some. */
    const size_t full = full_count(e);
    e->drawn_count = e->count <= DRAWN_COUNT_MAX ? e->count : full;
    int error = prove(&e->drawn, e, full);
    e->alike = !error && e->verdict.alike;
    e->depth = e->verdict.depth;
    if (!error && e->drawn_count != full) {
        ar_schedules_destroy(e->drawn, e->request->nranks);
        error = prove(&e->drawn, e, e->drawn_count);
    }
    if (!error)
        error = count_cost(e);
    if (!error)
        error = find_times(e);
    find_said(e);
    return error;
}

/* --- as text --- */

/* The length of the definition that a row's where begins with: up to ", x = ". */
static int
definition(const char *where)
{
    const char *end = where;
    while (*end && (strncmp(end, ", ", 2) != 0 || strncmp(end + 3, " = ", 3) != 0))
        end++;
    return (int)(end - where);
}

static const char *
next_definition(const char *where)
{
    where += definition(where);
    return where + strspn(where, ", ");
}

/* Then the card is not of what is shown, but of flat. */
static bool
has_levels(const struct explained *e)
{
    return e->choice.params.levels.kind == AR_LEVELS_SIZES;
}

static void
print_card(const struct explained *e)
{
    const struct ar_algorithm *const row = e->choice.algorithm;
    char text[AR_CHOICE_TEXT];
    struct ar_text names;
    printf("%s%s%s: %s\n\n", ar_color_begin(stdout, AR_COLOR_TITLE),
           ar_choice_print(&e->choice, text, sizeof text), ar_color_end(stdout), row->title);
    if (row->aliases[0])
        printf("  also called  %s\n", row->aliases);
    ar_text_init(&names, text, sizeof text);
    ar_text_intel_ids(&names, row);
    if (names.length > 0)
        printf("  Intel id%s    %s\n", strchr(text, '-') ? "s" : " ", text);
    ar_text_init(&names, text, sizeof text);
    ar_text_namesakes(&names, row);
    if (names.length > 0)
        printf("  elsewhere    %s\n", text);
    ar_cli_print_parameters(text, sizeof text, row);
    if (text[0])
        printf("  parameters   %s by default\n", text);
    printf("  rounds       %s\n", row->card[AR_CARD_ROUNDS]);
    printf("  sent a rank  %s\n", row->card[AR_CARD_SENT]);
    printf("  reduced      %s\n", row->card[AR_CARD_REDUCED]);
    printf("  scratch      %s\n", row->card[AR_CARD_SCRATCH]);
    printf("  time         %s\n", row->card[AR_CARD_TIME]);
    for (const char *at = row->where; at && *at; at = next_definition(at))
        printf("  %-11s  %.*s\n", at == row->where ? "where" : "", definition(at), at);
    ar_cli_print_letters(row);
    if (e->choice.params.segment_bytes > 0 || e->choice.params.segments > 0 ||
        e->count < e->whole) {
        const int window = ar_algorithm_window(row, &e->choice.params, e->request->nranks);
        printf("  in segments  %s\n", ar_card_segments_print(text, sizeof text, row, window));
        printf("               %s, of m segments with w in flight\n", ar_card_segments_scratch);
    }
    printf("  needs        %s\n", row->needs);
    printf("  order        %s\n", ar_algorithm_keeps_order(row, &e->choice.params)
                                      ? "that of the ranks: any op"
                                      : "its own: ops that commute");
    printf("  bits         the same on all ranks and in every run; another size "
           "%s\n",
           e->alike ? "keeps them" : "may change them");
    printf("  source       %s\n\n", row->source);
}

static const char *
order_of(const struct explained *e)
{
    return e->verdict.in_rank_order ? "in rank order" : "in an order of its own";
}

static double
bound_rounds(const struct explained *e)
{
    return e->cost.ports ? (double)ar_bound_rounds(e->request->nranks, e->cost.ports) : 0;
}

/* The message, the proof and the figure.  AR_OK or AR_ERR_MEMORY. */
static int
print_proof(const struct explained *e)
{
    const struct ar_explain *const request = e->request;
    const size_t at_once = e->count, count = e->whole;
    int error = AR_OK;
    char places[AR_PLACEMENT_TEXT];
    printf(
        "%s, %zu element%s of %zu byte%s",
        ar_placement_print(&request->placement, request->nranks, request->placement.nnodes, places),
        count, ar_plural(count), request->element_bytes, ar_plural(request->element_bytes));
    if (at_once > 0 && at_once < count)
        printf(" in %zu segments, %d in flight; below, one of %zu", (count + at_once - 1) / at_once,
               ar_algorithm_window(e->choice.algorithm, &e->choice.params, request->nranks),
               at_once);
    printf("\n%sproved%s%s: each rank counts once, %s, in one expression on all\n"
           "ranks; no deadlock, no hazard; the same with MPI_IN_PLACE (%zu element%s)\n\n",
           ar_color_begin(stdout, AR_COLOR_GOOD), ar_color_end(stdout),
           e->choice.params.written ? " for every count" : "", order_of(e), e->drawn_count,
           ar_plural(e->drawn_count));
    if (request->nranks > AR_EXPLAIN_DRAWN_MAX) {
        printf("(figures are drawn for up to %d ranks; --svg FILE draws up to %d)\n\n",
               AR_EXPLAIN_DRAWN_MAX, AR_HOLDINGS_RANKS_MAX);
    } else if (e->cost.rounds > DRAWN_ROUNDS_MAX ||
               e->cost.rounds * e->drawn_count > DRAWN_CELLS_MAX) {
        printf("(no figure is drawn of so many rounds and blocks)\n\n");
    } else if (e->drawn_count > 0) {
        error = ar_figure_print(stdout, e->drawn, request->nranks);
        printf("\n");
    }
    return error;
}

static void
print_counts(const struct explained *e)
{
    const struct ar_cost *const cost = &e->cost;
    const int nranks = e->request->nranks;
    const size_t count = e->count;
    const double *const said = e->said;
    struct ar_explain_counts counts = {.card_title = has_levels(e) ? " flat card" : "      card"};
    ar_explain_add_count(&counts, "rounds", (double)cost->rounds, &said[AR_CARD_ROUNDS],
                         bound_rounds(e));
    ar_explain_add_tally(&counts, "elements sent", &cost->sent, &said[AR_CARD_SENT],
                         ar_bound_sent(nranks, count));
    ar_explain_add_tally(&counts, "elements received", &cost->received, NULL, 0);
    ar_explain_add_tally(&counts, "elements reduced", &cost->reduced, &said[AR_CARD_REDUCED],
                         ar_bound_reduced(nranks, count));
    ar_explain_add_tally(&counts, "elements copied", &cost->copied, NULL, 0);
    ar_explain_add_tally(&counts, "scratch elements", &cost->scratch, &said[AR_CARD_SCRATCH], 0);
    ar_explain_add_tally(&counts, "messages", &cost->messages, NULL, 0);
    ar_explain_add_count(&counts, "received at once", (double)cost->ports, NULL, 0);
    ar_explain_add_count(&counts, "depth of a sum", (double)e->depth, NULL,
                         (double)ar_bound_rounds(nranks, 1));
    ar_explain_add_time(&counts, "time, us", e->time_us, said[AR_CARD_TIME], e->bound_us);
    if (e->whole > e->count) {
        const size_t segments = (e->whole + count - 1) / count;
        const size_t window =
            (size_t)ar_algorithm_window(e->choice.algorithm, &e->choice.params, nranks);
        const double in_flight = (double)(window < segments ? window : segments);
        const double card = in_flight * said[AR_CARD_SCRATCH];
        ar_explain_add_time(&counts, "of all segments", e->whole_us, e->whole_said_us, 0);
        ar_explain_add_count(&counts, "scratch in flight", in_flight * (double)cost->scratch.most,
                             &card, 0);
    }
    ar_explain_print_counts(&counts);
    printf("  with a = %g us, B = %g GB/s, 1/C = %g GB/s\n", e->request->latency_us,
           e->request->bandwidth_gbytes, e->request->reduction_gbytes);
    if (e->depth > 0)
        printf(
            "  a sum is off by at most %lu u (|x_0| + ... + |x_p-1|), u = 2^-53 for MPI_DOUBLE\n",
            (unsigned long)e->depth);
}

/* --- as a picture --- */

/* What there is no more room for is left out: the picture has all the same what it shows. */
__attribute__((format(printf, 2, 3))) static void
note(struct ar_svg_text *text, const char *format, ...)
{
    va_list args;
    if (text->n == AR_SVG_NOTES)
        return;
    va_start(args, format);
    vsnprintf(text->notes[text->n++], AR_SVG_NOTE_TEXT, format, args);
    va_end(args);
}

static void
note_count(struct ar_svg_text *text, const char *what, double measured, double bound)
{
    const struct ar_explain_count *const c =
        ar_explain_add_count(&text->counts, what, measured, NULL, bound);
    if (*c->least)
        note(text, "%s %s (no algorithm below %s: %s times that)", what, c->ours, c->least,
             c->ratio);
    else
        note(text, "%s %s", what, c->ours);
}

static void
write_notes(struct ar_svg_text *text, const struct explained *e)
{
    const struct ar_explain *const request = e->request;
    const struct ar_algorithm *const row = e->choice.algorithm;
    const size_t count = e->count, bytes = count * request->element_bytes;
    char drawn[64] = "", places[AR_PLACEMENT_TEXT];
    if (e->drawn_count < count)
        snprintf(drawn, sizeof drawn, ", drawn as %zu", e->drawn_count);
    note(text, "%s", e->choice.algorithm->title);
    note(
        text, "%s; %zu element%s of %zu byte%s%s",
        ar_placement_print(&request->placement, request->nranks, request->placement.nnodes, places),
        count, ar_plural(count), request->element_bytes, ar_plural(request->element_bytes), drawn);
    text->node_of = request->placement.nnodes > 1 ? request->placement.node_of : NULL;
    note(text,
         "Proved: each rank counts once, %s, in one expression on all ranks; no deadlock, no "
         "hazard",
         order_of(e));
    note_count(text, "Rounds", (double)e->cost.rounds, bound_rounds(e));
    note_count(text, "Elements sent by a rank", (double)e->cost.sent.most,
               ar_bound_sent(request->nranks, count));
    note_count(text, "Elements reduced by a rank", (double)e->cost.reduced.most,
               ar_bound_reduced(request->nranks, count));
    text->formulas = text->n;
    note(text, "Time%s: %s", has_levels(e) ? ", flat" : "", row->card[AR_CARD_TIME]);
    for (const char *at = row->where; at && *at; at = next_definition(at))
        note(text, "where %.*s", definition(at), at);
    note(text, "with p = %d, n = %zu byte%s, a = %g us, B = %g GB/s, 1/C = %g GB/s",
         request->nranks, bytes, ar_plural(bytes), request->latency_us, request->bandwidth_gbytes,
         request->reduction_gbytes);
    text->nformulas = text->n - text->formulas;
    note_count(text, "Microseconds", e->time_us, e->bound_us);
}

/* Draws into request->svg.  An enum ar_exit, having said why it failed. */
static int
draw(const struct explained *e, const struct ar_svg_text *text)
{
    const char *const path = e->request->svg;
    const bool is_stdout = strcmp(path, "-") == 0; /* which the caller looks after */
    struct ar_output output;
    int error = is_stdout ? 0 : ar_output_begin(&output, path);
    if (!error &&
        ar_svg_draw(is_stdout ? stdout : output.file, e->drawn, e->request->nranks, text)) {
        if (!is_stdout)
            ar_output_drop(&output);
        error = ENOMEM;
    } else if (!error && !is_stdout) {
        error = ar_output_end(&output);
    }
    if (!error)
        return AR_EXIT_DONE;
    fprintf(stderr, "allreduce explain: --svg %s: %s\n", path, strerror(error));
    return AR_EXIT_FAILED;
}

/* The picture, the page, both or neither.  An enum ar_exit, having said why it failed. */
static int
draw_all(const struct explained *e)
{
    const struct ar_explain *const request = e->request;
    char name[AR_CHOICE_TEXT];
    struct ar_svg_text text = {.title = ar_choice_print(&e->choice, name, sizeof name)};
    int status = AR_EXIT_DONE;
    write_notes(&text, e);
    if (request->svg)
        status = draw(e, &text);
    if (!status && request->html)
        status = ar_explain_page(request->html, e->drawn, request->nranks, &text);
    return status;
}

/* --- the subcommand --- */

static int
tell_error(const struct explained *e, int error)
{
    if (error == AR_ERR_MEMORY)
        fprintf(stderr, "allreduce explain: out of memory\n");
    else if (error)
        fprintf(stderr, "allreduce explain: %s is %srefuted%s on %d ranks (%zu elements): %s\n",
                e->choice.algorithm->name, ar_color_begin(stderr, AR_COLOR_BAD),
                ar_color_end(stderr), e->request->nranks, e->drawn_count, e->verdict.text);
    return error ? AR_EXIT_FAILED : AR_EXIT_DONE;
}

/* Finds out and prints what was asked for.  An enum ar_exit. */
static int
explain(struct explained *e, const struct ar_levels *levels)
{
    const struct ar_explain *const request = e->request;
    int error = find_out(e);
    if (!error && (!request->svg || strcmp(request->svg, "-") != 0)) {
        print_card(e);
        ar_explain_print_levels(&e->choice.params, levels);
        error = print_proof(e);
        if (!error)
            print_counts(e);
    }
    const int status = tell_error(e, error);
    return status ? status : draw_all(e);
}

/* As a file; JSON tells what the proof finds, too.  An enum ar_exit. */
static int
print_schedule(struct explained *e)
{
    const struct ar_explain *const request = e->request;
    int error = AR_OK;
    e->drawn_count = full_count(e);
    if (request->format == AR_COLUMNS_JSON)
        error = prove(&e->drawn, e, e->drawn_count);
    return error ? tell_error(e, error)
                 : ar_explain_print_schedule(request, &e->choice, e->count, e->verdict.depth);
}

int
ar_explain_algorithm(const struct ar_explain *request)
{
    struct explained e = {.request = request};
    struct ar_params *const params = &e.choice.params;
    struct ar_grouping grouping;
    struct ar_levels levels;
    int status = ar_explain_read_choice(&e.choice, request, request->placement.nnodes);
    if (status)
        return status;
    const char *const change = ar_algorithm_fit(e.choice.algorithm, params, request->nranks);
    if (change)
        fprintf(stderr, "allreduce explain: %s\n", change);
    params->node_of = request->placement.node_of;
    if (ar_algorithm_group(&grouping, &levels, e.choice.algorithm, params, request->nranks))
        return tell_error(&e, AR_ERR_MEMORY);
    params->grouping = &grouping;
    find_counts(&e);
    status = request->schedule ? print_schedule(&e) : explain(&e, &levels);
    ar_grouping_fini(&grouping);
    ar_schedules_destroy(e.drawn, request->nranks);
    return status;
}
