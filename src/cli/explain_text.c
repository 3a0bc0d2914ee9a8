/* One algorithm as text: its card, the proof, the figure and the counts. */
#include <stdio.h>

#include "cli/cli.h"
#include "cli/color.h"
#include "cli/explain.h"
#include "schedule/printer.h"
#include "schedule/trace.h"

static void
print_card(const struct ar_explained *e)
{
    const struct ar_algorithm *const row = e->choice.algorithm;
    char text[AR_CHOICE_TEXT];
    printf("%s%s%s: %s\n\n", ar_color_begin(stdout, AR_COLOR_TITLE),
           ar_choice_print(&e->choice, text, sizeof text), ar_color_end(stdout), row->title);
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
           e->alike ? "keeps them" : "may change them");
    printf("  source       %s\n\n", row->source);
}

static const char *
plural(size_t n)
{
    return n == 1 ? "" : "s";
}

static void
print_size(const struct ar_explained *e)
{
    const struct ar_explain *const request = e->request;
    const size_t at_once = e->count;
    const size_t count = request->size_given ? request->bytes / request->element_bytes : at_once;
    printf("%d rank%s, %zu element%s of %zu byte%s", request->nranks,
           plural((size_t)request->nranks), count, plural(count), request->element_bytes,
           plural(request->element_bytes));
    if (at_once > 0 && at_once < count)
        printf(" in %zu segments, %d in flight; below, one of %zu", (count + at_once - 1) / at_once,
               e->choice.params.window, at_once);
    printf("\n");
}

static void
print_proof(const struct ar_explained *e)
{
    printf("%sproved%s: each rank counts once, %s, in one expression on all\n"
           "ranks; no deadlock, no hazard; the same with MPI_IN_PLACE (%zu elements)\n\n",
           ar_color_begin(stdout, AR_COLOR_GOOD), ar_color_end(stdout),
           e->verdict.in_rank_order ? "in rank order" : "in an order of its own", e->drawn_count);
}

static int
print_figure(const struct ar_explained *e)
{
    int error = AR_OK;
    if (e->request->nranks > AR_EXPLAIN_DRAWN_MAX) {
        printf("(no figure above %d ranks; --svg FILE draws up to %d)\n\n", AR_EXPLAIN_DRAWN_MAX,
               AR_TRACE_RANKS_MAX);
    } else if (e->drawn_count > 0) {
        error = ar_figure_print(stdout, e->drawn.schedules, e->drawn.nranks);
        printf("\n");
    }
    return error;
}

/* --- the counts --- */

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
print_counts(const struct ar_explained *e)
{
    const struct ar_cost *const cost = &e->cost;
    const int nranks = e->request->nranks;
    const size_t count = e->count;
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
    printf("  %-17s  %9.6g", "time, us", e->time_us);
    print_distance(e->time_us, e->bound_us, 24);
    printf("  with a = %g us, B = %g GB/s, 1/C = %g GB/s\n", e->request->latency_us,
           e->request->bandwidth_gbytes, e->request->reduction_gbytes);
}

int
ar_explain_print(const struct ar_explained *e)
{
    print_card(e);
    print_size(e);
    print_proof(e);
    int error = print_figure(e);
    if (!error)
        print_counts(e);
    return error;
}
