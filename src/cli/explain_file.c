/* allreduce explain FILE: a schedule that somebody wrote, proved, drawn and counted. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/explain.h"
#include "schedule/checker.h"
#include "schedule/cost.h"
#include "schedule/figure.h"
#include "select/written_read.h"

#define REASON_TEXT 1024

/* An enum ar_exit, having said what is wrong with the file. */
static int
read_schedule(struct ar_written *w, const char *path)
{
    char reason[REASON_TEXT];
    struct ar_text why;
    char *const text = ar_cli_read_text("explain", "", path);
    if (!text)
        return AR_EXIT_FAILED;
    ar_text_init(&why, reason, sizeof reason);
    const int error = ar_written_read(w, text, &why);
    free(text);
    if (error)
        fprintf(stderr, "allreduce explain: %s: %s\n", path,
                error == AR_ERR_MEMORY ? "out of memory" : reason);
    return error ? AR_EXIT_USAGE : AR_EXIT_DONE;
}

/* NULL without memory. */
static struct ar_schedule *
emit_all(const struct ar_written *w, size_t count)
{
    struct ar_schedule *const schedules = calloc((size_t)w->nranks, sizeof *schedules);
    for (int r = 0; schedules && r < w->nranks; r++)
        if (ar_written_emit(&schedules[r], w, r, count)) {
            ar_schedules_destroy(schedules, w->nranks);
            return NULL;
        }
    return schedules;
}

static void
print_blocks(char *text, size_t room, const struct ar_written_region *region)
{
    if (region->n == 1)
        snprintf(text, room, "block %d", region->first);
    else
        snprintf(text, room, "blocks %d..%d", region->first, region->first + region->n - 1);
}

/* With an element in each block no step is dropped, so that those of the file have their numbers.
 */
static void
tell_refuted(const struct ar_verdict *verdict, const struct ar_written *w, const char *path)
{
    char line[32] = "";
    if (verdict->step != AR_NO_STEP)
        snprintf(line, sizeof line, ": line %d", w->ranks[verdict->rank].steps[verdict->step].line);
    fprintf(stderr, "allreduce explain: %s%s: %srefuted%s: %s\n", path, line,
            ar_color_begin(stderr, AR_COLOR_BAD), ar_color_end(stderr), verdict->text);
}

static void
tell_mismatch(const struct ar_written_mismatch *m, const char *path)
{
    char sent[64], received[64];
    print_blocks(sent, sizeof sent, &m->send->a);
    print_blocks(received, sizeof received, &m->receive->dst);
    fprintf(
        stderr,
        "allreduce explain: %s: line %d: %srefuted%s: rank %d sends %s to rank %d, which receives "
        "%s (line %d)\n",
        path, m->send->line, ar_color_begin(stderr, AR_COLOR_BAD), ar_color_end(stderr), m->from,
        sent, m->to, received, m->receive->line);
}

/* With an element in each block, for all counts: a message has the same blocks on both sides, so
 * that it has the same length on both and is empty on both.  AR_OK, AR_ERR_MEMORY, or AR_ERR_PROOF,
 * having said why. */
static int
prove(struct ar_verdict *verdict, const struct ar_written *w, const char *path)
{
    struct ar_written_mismatch m;
    int error = ar_written_compare(&m, w);
    if (!error && m.send) {
        tell_mismatch(&m, path);
        return AR_ERR_PROOF;
    }
    struct ar_schedule *const schedules = error ? NULL : emit_all(w, (size_t)w->nblocks);
    if (!schedules)
        return AR_ERR_MEMORY;
    error = ar_check_both(verdict, schedules, w->nranks);
    if (error == AR_ERR_PROOF)
        tell_refuted(verdict, w, path);
    ar_schedules_destroy(schedules, w->nranks);
    return error;
}

static void
print_tally(const char *what, const struct ar_tally *tally, double bound)
{
    char least[AR_NUMBER_TEXT] = "", ratio[AR_NUMBER_TEXT] = "";
    if (bound > 0) {
        ar_number_print(bound, least, sizeof least);
        ar_number_print((double)tally->most / bound, ratio, sizeof ratio);
    }
    printf("  %-17s  %9zu  %9zu  %11s  %8s\n", what, tally->most, tally->total, least, ratio);
}

static void
print_counts(const struct ar_cost *cost, int nranks, size_t count)
{
    const size_t least = cost->ports ? ar_bound_rounds(nranks, cost->ports) : 0;
    const struct ar_tally rounds = {cost->rounds, cost->rounds};
    printf("%zu element%s          one rank  all ranks  lower bound  distance\n", count,
           ar_plural(count));
    print_tally("rounds", &rounds, (double)least);
    print_tally("elements sent", &cost->sent, ar_bound_sent(nranks, count));
    print_tally("elements reduced", &cost->reduced, ar_bound_reduced(nranks, count));
    print_tally("elements copied", &cost->copied, 0);
    print_tally("scratch elements", &cost->scratch, 0);
    print_tally("messages", &cost->messages, 0);
}

static int
print(const struct ar_written *w, const struct ar_verdict *verdict, size_t count)
{
    struct ar_cost cost;
    struct ar_schedule *schedules = emit_all(w, (size_t)w->nblocks);
    int error = schedules ? AR_OK : AR_ERR_MEMORY;
    printf(
        "%s%s%s: %d ranks, %d block%s\n%sproved%s for every count: each rank counts once, %s, in "
        "one expression on\nall ranks; no deadlock, no hazard; the same with MPI_IN_PLACE\n\n",
        ar_color_begin(stdout, AR_COLOR_TITLE), w->name, ar_color_end(stdout), w->nranks,
        w->nblocks, ar_plural((size_t)w->nblocks), ar_color_begin(stdout, AR_COLOR_GOOD),
        ar_color_end(stdout), verdict->in_rank_order ? "in rank order" : "in an order of its own");
    if (!error && w->nranks <= AR_EXPLAIN_DRAWN_MAX) {
        error = ar_figure_print(stdout, schedules, w->nranks);
        printf("\n");
    }
    ar_schedules_destroy(schedules, w->nranks);
    schedules = error ? NULL : emit_all(w, count);
    if (!schedules)
        return AR_ERR_MEMORY;
    error = ar_cost_count(&cost, schedules, w->nranks);
    ar_schedules_destroy(schedules, w->nranks);
    if (!error)
        print_counts(&cost, w->nranks, count);
    return error;
}

int
ar_explain_file(const struct ar_explain *request)
{
    struct ar_written w;
    struct ar_verdict verdict;
    const int status = read_schedule(&w, request->algorithm);
    if (status)
        return status;
    const size_t count =
        request->size_given ? request->bytes / request->element_bytes : (size_t)w.nblocks;
    int error = prove(&verdict, &w, request->algorithm);
    if (!error)
        error = print(&w, &verdict, count);
    if (error == AR_ERR_MEMORY)
        fprintf(stderr, "allreduce explain: out of memory\n");
    ar_written_fini(&w);
    return error ? AR_EXIT_FAILED : AR_EXIT_DONE;
}
