/* How long an algorithm takes on a machine, and which takes least. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "algorithms/card.h"
#include "algorithms/nodes.h"
#include "cli/cli.h"
#include "cli/explain.h"
#include "model/bound.h"
#include "model/node_predict.h"
#include "report/clock.h"
#include "select/node_levels.h"
#include "tuning/ranking.h"

/* Where nothing else is said. */
#define USUAL_BYTES ((size_t)1 << 20)

#define PROGRESS_NS 200000000U /* between two lines, and before the first */

struct scene {
    const struct ar_explain *request;
    struct ar_machine machine;
    const int *node_of; /* the request's placement, or filled */
    int *filled;        /* owned: nodes as full as the machine's are; NULL: a placement is given */
    int nnodes;
    size_t bytes;
    struct ar_advice_request advice; /* what auto would ask */
};

/* --- how far a long comparison is, on a terminal --- */

static uint64_t progress_said_ns; /* or when the comparison began */
static bool has_progress;

static void
hear(size_t n, size_t bytes)
{
    const uint64_t now = ar_clock_system_ns();
    char size[AR_SIZE_TEXT];
    if (now - progress_said_ns < PROGRESS_NS || !isatty(STDERR_FILENO))
        return;
    progress_said_ns = now;
    has_progress = true;
    fprintf(stderr, "\r\033[Kallreduce explain: prediction %zu for %s", n,
            ar_size_print(bytes, size, sizeof size));
}

/* --- the scene --- */

/* An enum ar_exit, having said why it failed. */
static int
set_scene(struct scene *scene)
{
    const struct ar_explain *const request = scene->request;
    int status = AR_EXIT_DONE;
    if (request->machine_file)
        status = ar_cli_read_machine(&scene->machine, "explain", request->machine_file);
    else
        scene->machine = ar_machine_flat(request->latency_us * 1e3, 1 / request->bandwidth_gbytes,
                                         1 / request->reduction_gbytes);
    if (status)
        return status;
    scene->bytes = request->size_given ? request->bytes : USUAL_BYTES;
    if (!request->placement.node_of)
        scene->filled = ar_machine_place(&scene->machine, request->nranks);
    scene->node_of = scene->filled ? scene->filled : request->placement.node_of;
    if (!scene->node_of) {
        fprintf(stderr, "allreduce explain: out of memory\n");
        return AR_EXIT_FAILED;
    }
    scene->nnodes = ar_nodes_count(scene->node_of, request->nranks);
    scene->advice = (struct ar_advice_request){.machine = &scene->machine,
                                               .node_of = scene->node_of,
                                               .nranks = request->nranks,
                                               .shares_memory = true,
                                               .scratch_bytes = AR_CLI_SCRATCH,
                                               .hear = hear};
    return AR_EXIT_DONE;
}

/* 0: nobody sends anything. */
static double
bound_of(const struct scene *scene, const struct ar_prediction *p)
{
    return ar_machine_bound(&scene->machine, scene->node_of, scene->request->nranks, scene->bytes,
                            p->ports);
}

static int
tell_error(const struct scene *scene, int error)
{
    if (error == AR_ERR_PARAM)
        fprintf(stderr,
                "allreduce explain: the machine has fewer places than the %d nodes of %d ranks\n",
                scene->nnodes, scene->request->nranks);
    else if (error)
        fprintf(stderr, "allreduce explain: %s\n",
                error == AR_ERR_MEMORY ? "out of memory" : "an algorithm failed");
    return error ? AR_EXIT_FAILED : AR_EXIT_DONE;
}

static void
print_scene(const struct scene *scene)
{
    char size[AR_SIZE_TEXT], places[AR_PLACEMENT_TEXT];
    printf("%s, %s bytes, on: %s\n\n",
           ar_placement_print(&scene->request->placement, scene->request->nranks, scene->nnodes,
                              places),
           ar_size_print(scene->bytes, size, sizeof size),
           scene->machine.title[0] ? scene->machine.title : "a machine without a title");
}

/* --- one algorithm --- */

static double
share_of(const struct ar_moment *end, int part)
{
    return end->at > 0 && end->parts[part] > 0 ? 100 * end->parts[part] / end->at : 0;
}

/* What latency, bandwidth and reduction come to by the algorithm's card, which knows no levels. */
static double
said_ns(const struct scene *scene, const struct ar_choice *choice, const struct ar_prediction *p)
{
    const struct ar_machine *const m = &scene->machine;
    const struct ar_travel *const travel = scene->nnodes > 1 ? &m->network : &m->node;
    const struct ar_rates rates = {travel->latency, 1 / travel->per_byte, m->reduce_per_byte};
    const size_t element = scene->request->element_bytes, count = scene->bytes / element;
    const int nranks = scene->request->nranks;
    const size_t segment = ar_algorithm_segment(choice->algorithm, &choice->params, nranks, count,
                                                element, AR_CLI_SCRATCH);
    const double n = (double)(p->nsegments > 1 ? segment : count) * (double)element;
    return ar_card_pipelined_value(
        choice->algorithm, &choice->params, nranks, n, (double)p->nsegments,
        ar_algorithm_window(choice->algorithm, &choice->params, nranks), &rates);
}

static void
print_result(const struct scene *scene, const struct ar_choice *choice,
             const struct ar_prediction *p)
{
    static const char *const qualities[] = {"simulated", "approximate", "estimate"};
    const double bound = bound_of(scene, p);
    const enum ar_levels_kind levels = choice->params.levels.kind;
    const bool has_levels = levels == AR_LEVELS_SIZES || levels == AR_LEVELS_NAMES;
    char name[AR_CHOICE_TEXT], time[AR_NUMBER_TEXT], ratio[AR_NUMBER_TEXT];
    printf("%s%s%s: ", ar_color_begin(stdout, AR_COLOR_TITLE),
           ar_choice_print(choice, name, sizeof name), ar_color_end(stdout));
    print_scene(scene);
    printf("  time        %s", ar_time_print(p->end.at, time, sizeof time));
    if (bound > 0)
        printf(", %s times the bound of %s",
               ar_number_print(p->end.at / bound, ratio, sizeof ratio),
               ar_time_print(bound, time, sizeof time));
    printf("\n");
    for (int i = 0; i < AR_PARTS; i++)
        printf("  %-10s  %s, %.0f %%\n", ar_part_names[i],
               ar_time_print(p->end.parts[i] > 0 ? p->end.parts[i] : 0, time, sizeof time),
               share_of(&p->end, i));
    if (p->busiest > 0)
        printf("  busiest     %s: %.0f %% of the time\n", p->link, 100 * p->busiest);
    printf("  card        %s%s: latency, bandwidth and reduction alone\n",
           ar_time_print(said_ns(scene, choice, p), time, sizeof time),
           has_levels ? ", without levels" : "");
    printf("  quality     %s: ", qualities[p->quality]);
    if (p->simulated > 0)
        printf("%d of %d ranks", p->nsampled, scene->request->nranks);
    else
        printf("rounds are added up as if no rank waited for another");
    if (p->nsegments > 1)
        printf(", %zu of %zu segments", p->simulated > 0 ? p->simulated : 1, p->nsegments);
    printf("\n");
}

static struct ar_question
question_of(const struct scene *scene, const struct ar_choice *choice)
{
    const size_t element = scene->request->element_bytes;
    return (struct ar_question){
        .machine = &scene->machine,
        .choice = choice,
        .nranks = scene->request->nranks,
        .count = scene->bytes / element,
        .element_bytes = element,
        .scratch_bytes = AR_CLI_SCRATCH,
        .most_steps = AR_PREDICT_STEPS,
    };
}

static int
predict(struct ar_prediction *prediction, const struct scene *scene, const struct ar_choice *choice)
{
    const struct ar_question question = question_of(scene, choice);
    return ar_predict(prediction, &question);
}

/* --- one that shares memory --- */

static void
print_node_result(const struct scene *scene, const struct ar_choice *choice,
                  const struct ar_node_prediction *p)
{
    const struct ar_machine *const m = &scene->machine;
    char text[AR_CHOICE_TEXT], time[AR_NUMBER_TEXT], ratio[AR_NUMBER_TEXT];
    struct ar_text levels;
    printf("%s%s%s: ", ar_color_begin(stdout, AR_COLOR_TITLE),
           ar_choice_print(choice, text, sizeof text), ar_color_end(stdout));
    print_scene(scene);
    const double bound = p->bound.limits[p->bound.most];
    printf("  time         %s, %s times ", ar_time_print(p->end.at, time, sizeof time),
           ar_number_print(p->end.at / bound, ratio, sizeof ratio));
    printf("the bound of %s\n", ar_time_print(bound, time, sizeof time));
    for (int i = 0; i < AR_NODE_PARTS; i++)
        printf("  %-11s  %s, %.0f %%\n", ar_node_part_names[i],
               ar_time_print(p->end.parts[i], time, sizeof time),
               p->end.at > 0 ? 100 * p->end.parts[i] / p->end.at : 0);
    for (int i = 0; i < AR_NODE_LIMITS; i++)
        printf("%s%s %s", i == 0 ? "  at least     " : ", ", ar_node_limit_names[i],
               ar_time_print(p->bound.limits[i], time, sizeof time));
    printf("\n");
    ar_text_init(&levels, text, sizeof text);
    ar_levels_print(&levels, &p->levels);
    printf("  levels       %s; a line up, across and down takes %s\n", text,
           ar_time_print(p->up_and_down, time, sizeof time));
    for (int l = 0; l < m->ndomains; l++)
        printf("%s%s %zu", l == 0 ? "  lines        " : ", ", m->domains[l].name, p->lines.all[l]);
    printf("; the rank that reads most");
    for (int l = 0; l < m->ndomains; l++)
        printf("%s %zu", l == 0 ? "" : ",", p->lines.most[l]);
    printf("\n  quality      all ranks in %zu stages", p->nstages);
    if (p->nchunks > 1)
        printf(", %zu of %zu chunks", p->simulated, p->nchunks);
    printf("\n");
    if (choice->params.copy == AR_COPY_IN_PLACE)
        printf("  copy         through slots: times in place are not predicted\n");
}

static int
explain_node(const struct scene *scene, const struct ar_choice *choice,
             const struct ar_question *question)
{
    struct ar_node_prediction prediction;
    int error = ar_node_predict(&prediction, question);
    if (!error)
        print_node_result(scene, choice, &prediction);
    return tell_error(scene, error);
}

static int
explain_one(const struct scene *scene)
{
    struct ar_choice choice;
    const int exit_code = ar_explain_read_choice(&choice, scene->request, scene->nnodes);
    if (exit_code != AR_EXIT_DONE)
        return exit_code;
    struct ar_prediction prediction;
    choice.params.node_of = scene->node_of;
    const struct ar_question question = question_of(scene, &choice);
    if (ar_node_knows(&question))
        return explain_node(scene, &choice, &question);
    if (choice.algorithm->shares_memory && scene->machine.ndomains > 0 && scene->nnodes == 1 &&
        question.nranks > scene->machine.ranks_per_node) {
        fprintf(stderr, "allreduce explain: %d ranks on a node, but a node of %s has %d\n",
                question.nranks, scene->request->machine_file, scene->machine.ranks_per_node);
        return AR_EXIT_USAGE;
    }
    const int error = ar_predict(&prediction, &question);
    if (!error)
        print_result(scene, &choice, &prediction);
    return tell_error(scene, error);
}

/* --- all of them --- */

struct compared {
    const struct scene *scene;
    const struct ar_compared *rows;
};

static void
state_compared(struct ar_columns *c, const void *compared, size_t i)
{
    static const char *const qualities[] = {"simulated", "approximate", "estimate"};
    static const char *const marks[] = {"", "~", ">"};
    const struct ar_compared *const row = &((const struct compared *)compared)->rows[i];
    const double bound = bound_of(((const struct compared *)compared)->scene, &row->prediction);
    const struct ar_moment *const end = &row->prediction.end;
    char name[AR_CHOICE_TEXT], title[32], shown[32], percent[AR_NUMBER_TEXT];
    ar_column_words(c, "mark", " ", marks[row->prediction.quality]);
    ar_column_text(c, "choice", "", ar_choice_print(&row->choice, name, sizeof name));
    ar_column_real(c, "us", AR_US, "          us", end->at / 1e3);
    ar_column_real(c, "bound", AR_NUMBER, "  x bound", bound > 0 ? end->at / bound : NAN);
    for (int part = 0; part < AR_PARTS; part++) {
        ar_column_real(c, ar_part_names[part], AR_NUMBER, NULL, share_of(end, part));
        snprintf(title, sizeof title, " %7s %%", ar_part_names[part]);
        snprintf(shown, sizeof shown, "%s%%", ar_part_names[part]);
        snprintf(percent, sizeof percent, "%.0f", share_of(end, part));
        ar_column_shown(c, shown, title, percent);
    }
    ar_column_text(c, "quality", NULL, qualities[row->prediction.quality]);
}

/* ar_compare, whose progress a terminal shows meanwhile. */
static int
compare_all(const struct scene *scene, struct ar_compared **rows, size_t *n)
{
    progress_said_ns = ar_clock_system_ns();
    const int error =
        ar_compare(rows, n, &scene->advice, scene->bytes, scene->request->element_bytes);
    if (has_progress)
        fprintf(stderr, "\r\033[K");
    has_progress = false;
    return error;
}

static int
compare(const struct scene *scene)
{
    struct ar_compared *rows;
    size_t n;
    const int error = compare_all(scene, &rows, &n);
    if (error)
        return tell_error(scene, error);
    const struct compared compared = {scene, rows};
    const bool is_text = scene->request->format == AR_COLUMNS_TEXT;
    if (is_text)
        print_scene(scene);
    ar_columns_write_alone((struct ar_columns){
        .to = stdout,
        .format = scene->request->format,
        .row = state_compared,
        .table = &compared,
        .n = n,
        .view = "mark us bound latency% overhead% wire% waiting% reduction% choice"});
    if (is_text)
        printf(
            "\n~ marks what is approximate, simulated in part; > marks an estimate as if no rank "
            "waited for\nanother, for algorithms too slow to win or with too many steps; all "
            "others are simulated.\n");
    free(rows);
    return AR_EXIT_DONE;
}

/* --- rules beside the best --- */

/* What rules run, and how long it takes; without a time where that is the MPI library's own. */
struct rival {
    const char *name;
    struct ar_rules *rules; /* NULL: the best of all */
    struct ar_choice choice;
    double time_ns; /* 0: unknown */
    double best_ns; /* of any */
    size_t bytes;
};

/* Asks a rival's rules about a message.  What they leave to auto is the best across nodes, where
 * auto goes by the model, too. */
static int
find_rival(struct rival *rival, const struct scene *scene, const struct rival *best)
{
    struct ar_request call = ar_explain_call(scene->request);
    struct ar_prediction prediction;
    int error = AR_OK;
    call.bytes = scene->bytes;
    call.nodes = (size_t)scene->nnodes;
    call.per_node = (size_t)((scene->request->nranks + scene->nnodes - 1) / scene->nnodes);
    call.shares_memory = scene->nnodes <= 1;
    const struct ar_clause *const clause = ar_rules_match(rival->rules, &call);
    rival->choice = clause ? clause->choice : best->choice;
    rival->time_ns = 0;
    if (!clause || clause->choice.kind == AR_CHOICE_AUTO) {
        rival->choice = best->choice;
        if (call.shares_memory)
            error = ar_auto_select(&rival->choice, &call, NULL);
    }
    if (error || rival->choice.kind != AR_CHOICE_ALGORITHM)
        return error;
    if (!call.commutative &&
        !ar_algorithm_keeps_order(rival->choice.algorithm, &rival->choice.params)) {
        rival->choice = (struct ar_choice){.kind = AR_CHOICE_NATIVE};
        return AR_OK;
    }
    struct ar_choice placed = rival->choice;
    placed.params.node_of = scene->node_of;
    error = predict(&prediction, scene, &placed);
    rival->time_ns = error ? 0 : prediction.end.at;
    return error;
}

/* The best of all algorithms; a rival's own may be better still. */
static int
find_best(struct rival *best, const struct scene *scene)
{
    struct ar_compared *rows;
    size_t n;
    const int error = compare_all(scene, &rows, &n);
    if (error)
        return error;
    best->choice = rows[0].choice;
    best->time_ns = rows[0].prediction.end.at;
    free(rows);
    return AR_OK;
}

static void
state_rival(struct ar_columns *c, const void *rivals, size_t i)
{
    const struct rival *const rival = &((const struct rival *)rivals)[i];
    const bool is_known = rival->time_ns > 0;
    char name[AR_CHOICE_TEXT], size[AR_SIZE_TEXT];
    ar_size_print(rival->bytes, size, sizeof size);
    ar_column_shown(c, "size", "     bytes", rival->rules ? "" : size);
    ar_column_count(c, "bytes", AR_BYTES, NULL, rival->bytes);
    ar_column_text(c, "rules", "rules", rival->name);
    ar_column_real(c, "us", AR_US, "        us", is_known ? rival->time_ns / 1e3 : NAN);
    ar_column_real(c, "best", AR_NUMBER, "  x best",
                   is_known ? rival->time_ns / rival->best_ns : NAN);
    ar_column_text(c, "choice", "", ar_choice_print(&rival->choice, name, sizeof name));
}

/* What each rival takes for one size. */
static int
compare_rivals(struct rival *rivals, int n, const struct scene *scene)
{
    int error = find_best(&rivals[0], scene);
    double best_ns = rivals[0].time_ns;
    for (int i = 1; i < n && !error; i++) {
        error = find_rival(&rivals[i], scene, &rivals[0]);
        if (!error && rivals[i].time_ns > 0 && rivals[i].time_ns < best_ns)
            best_ns = rivals[i].time_ns;
    }
    for (int i = 0; i < n; i++) {
        rivals[i].bytes = scene->bytes;
        rivals[i].best_ns = best_ns;
    }
    return error;
}

static int
compare_rules(struct scene *scene)
{
    static const size_t sizes[] = {8, 512, 4096, 32768, 262144, 2097152, 16777216};
    const struct ar_explain *const request = scene->request;
    const size_t nsizes = request->size_given ? 1 : sizeof sizes / sizeof sizes[0];
    const size_t n = 1 + (size_t)request->ncompared;
    struct rival rivals[1 + AR_EXPLAIN_COMPARED_MAX] = {{.name = "the best"}};
    struct rival rows[sizeof sizes / sizeof sizes[0] * (1 + AR_EXPLAIN_COMPARED_MAX)];
    int exit_code = AR_EXIT_DONE, error = AR_OK;
    for (int i = 0; i < request->ncompared && exit_code == AR_EXIT_DONE; i++) {
        rivals[1 + i].name = request->compared[i];
        exit_code = ar_explain_read_rules(&rivals[1 + i].rules, request->compared[i]);
    }
    scene->advice.in_order = !ar_explain_call(request).commutative;
    if (exit_code == AR_EXIT_DONE) {
        for (size_t i = 0; i < nsizes && !error; i++) {
            scene->bytes = request->size_given ? request->bytes : sizes[i];
            scene->bytes -= scene->bytes % request->element_bytes;
            error = compare_rivals(rivals, (int)n, scene);
            memcpy(&rows[i * n], rivals, n * sizeof *rows);
        }
        if (!error && request->format == AR_COLUMNS_TEXT)
            printf("%d rank%s on %d node%s, on: %s\n\n", request->nranks,
                   ar_plural((size_t)request->nranks), scene->nnodes,
                   ar_plural((size_t)scene->nnodes), scene->machine.title);
        if (!error)
            ar_columns_write_alone((struct ar_columns){.to = stdout,
                                                       .format = request->format,
                                                       .row = state_rival,
                                                       .table = rows,
                                                       .n = nsizes * n,
                                                       .view = "size rules us best choice"});
        exit_code = tell_error(scene, error);
    }
    for (int i = 0; i < request->ncompared; i++)
        ar_rules_destroy(rivals[1 + i].rules);
    return exit_code;
}

/* --- auto --- */

/* What is advised for a size, and what comes next, with their terms. */
static void
print_proposals(const struct ar_advice_entry *entry)
{
    char size[AR_SIZE_TEXT];
    ar_size_print(entry->at, size, sizeof size);
    for (int i = 0; i < entry->n; i++) {
        const struct ar_moment *const time = &entry->best[i].time;
        char name[AR_CHOICE_TEXT], us[AR_NUMBER_TEXT];
        printf("%10s  %10s", i == 0 ? size : "", ar_number_print(time->at / 1e3, us, sizeof us));
        for (int k = 0; k < AR_PARTS; k++)
            printf("  %9.0f", share_of(time, k));
        printf("  %s\n", ar_choice_print(&entry->best[i].choice, name, sizeof name));
    }
}

static int
explain_auto(const struct scene *scene)
{
    struct ar_advice advice;
    const int error = ar_advise(&advice, &scene->advice);
    if (error)
        return tell_error(scene, error);
    char *const rules = ar_advice_rules(&advice, 0, 0);
    if (!rules)
        return tell_error(scene, AR_ERR_MEMORY);
    char places[AR_PLACEMENT_TEXT];
    printf("auto on %s, by a model of: %s\n\n%s\n\n",
           ar_placement_print(&scene->request->placement, scene->request->nranks, scene->nnodes,
                              places),
           scene->machine.title, rules);
    printf("%10s  %10s", "bytes", "us");
    for (int i = 0; i < AR_PARTS; i++)
        printf("  %7s %%", ar_part_names[i]);
    printf("\n");
    for (int i = 0; i < advice.n; i++)
        if (advice.entries[i].is_new_best)
            print_proposals(&advice.entries[i]);
    free(rules);
    return AR_EXIT_DONE;
}

int
ar_explain_advise(char **rules, const struct ar_explain *request, bool in_order)
{
    struct scene scene = {.request = request};
    struct ar_advice advice;
    int exit_code = set_scene(&scene);
    if (exit_code != AR_EXIT_DONE)
        return exit_code;
    scene.advice.in_order = in_order;
    const int error = ar_advise(&advice, &scene.advice);
    char *const text = error ? NULL : ar_advice_rules(&advice, 0, 0);
    exit_code = tell_error(&scene, error || text ? error : AR_ERR_MEMORY);
    if (text)
        *rules = text;
    free(scene.filled);
    return exit_code;
}

int
ar_explain_machine(const struct ar_explain *request)
{
    struct scene scene = {.request = request};
    int exit_code = set_scene(&scene);
    if (exit_code != AR_EXIT_DONE)
        return exit_code;
    if (request->compare && request->ncompared > 0)
        exit_code = compare_rules(&scene);
    else if (request->compare)
        exit_code = compare(&scene);
    else if (ar_word_is(ar_word_of(request->algorithm), "auto"))
        exit_code = explain_auto(&scene);
    else
        exit_code = explain_one(&scene);
    free(scene.filled);
    return exit_code;
}
