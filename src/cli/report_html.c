/* The report as a page. */
#include <config.h>

#include <stdio.h>

#include "cli/cli.h"
#include "cli/html.h"
#include "cli/report.h"
#include "report/watchdog.h"
#include "select/number.h"
#include "select/words.h"

/* --- tables --- */

static void
add_known(struct ar_html *page, double value, bool known)
{
    char text[AR_NUMBER_TEXT];
    ar_html_cell(page, "%s", known ? ar_number_print(value, text, sizeof text) : "-");
}

static void
add_time(struct ar_html *page, double ns, bool known)
{
    char text[AR_NUMBER_TEXT];
    ar_html_cell(page, "%s", known ? ar_time_print(ns, text, sizeof text) : "-");
}

static void
add_bytes(struct ar_html *page, uint64_t bytes)
{
    char text[AR_NUMBER_TEXT];
    ar_html_cell(page, "%s", ar_bytes_print((double)bytes, text, sizeof text));
}

/* A time behind a bar. */
static void
add_share(struct ar_html *page, double share, double seconds)
{
    char text[AR_NUMBER_TEXT];
    ar_html_cell_bar(page, share, "%s", ar_time_print(seconds * 1e9, text, sizeof text));
}

static void
add_totals(struct ar_html *page, const struct ar_facts *facts, size_t n)
{
    ar_html_heading(page, "Where the time went");
    ar_html_paragraph(page,
                      "Average of the ranks; the run is from the first allreduce to the end.");
    ar_html_table_begin(
        page, "~statistics|>run|>in allreduces|>in the algorithms|>waiting for late ranks|>set-up");
    for (size_t i = 0; i < n; i++) {
        const struct ar_facts *f = &facts[i];
        const double elapsed = (double)f->run->elapsed_ns * 1e-9,
                     in = ar_facts_seconds(f, f->total_ns);
        const double total = f->total_ns > 0 ? f->total_ns : 1;
        ar_html_cell(page, "%s", f->run->path);
        add_time(page, elapsed * 1e9, true);
        add_share(page, elapsed > 0 ? in / elapsed : 0, in);
        add_share(page, f->own_ns / total, ar_facts_seconds(f, f->own_ns));
        add_share(page, f->late_ns / total, ar_facts_seconds(f, f->late_ns));
        add_share(page, f->setup_ns / total, ar_facts_seconds(f, f->setup_ns));
    }
    ar_html_table_end(page);
}

static void
add_size(struct ar_html *page, const struct ar_row *row)
{
    char size[AR_ROW_SIZE_TEXT];
    ar_html_cell(page, "%s", ar_row_size_print(row, size));
}

/* What the run was. */
static void
add_run(struct ar_html *page, const struct ar_read_run *run)
{
    const int hosts = ar_rank_rows_hosts(&run->table.ranks);
    ar_html_paragraph(page, "%s: %s with liballreduce %s (%s), %d rank%s, %s", run->path,
                      run->program, run->version, run->family, run->ranks,
                      ar_plural((size_t)run->ranks), run->when);
    if (*run->library)
        ar_html_paragraph(page, "%s; %d host%s; %s", run->library, hosts, ar_plural((size_t)hosts),
                          run->command);
}

static void
add_verdict(struct ar_html *page, const char *which, const struct ar_facts *facts)
{
    char text[AR_FACTS_TEXT];
    ar_html_verdict(page, "%s%s", which, ar_facts_verdict(facts, text, sizeof text));
    for (size_t i = 0, told = 0; i < facts->n && told < AR_ADVICES_TOLD; i++)
        if (ar_fact_advise(facts, &facts->facts[i], text, sizeof text)) {
            ar_html_paragraph(page, "%s.", text);
            told++;
        }
}

static void
add_communicator(struct ar_html *page, const struct ar_row_key *key)
{
    char ranks[32];
    snprintf(ranks, sizeof ranks, "%d rank%s", key->nranks, ar_plural((size_t)key->nranks));
    if (*key->comm)
        ar_html_cell_noted(page, key->comm, ranks);
    else
        ar_html_cell(page, "%s", ranks);
}

static void
add_operation(struct ar_html *page, const struct ar_row_key *key)
{
    ar_html_cell_noted(page, *key->type ? key->type : "-", key->op);
}

/* The columns that fit beside each other on a page of 1200 pixels; add_details has the others. */
static void
add_facts(struct ar_html *page, const struct ar_facts *facts)
{
    ar_html_heading(page, "Calls");
    ar_html_table_begin(page, ">share|>calls|~communicator|>size|type, op|~ran, why|>median|"
                              ">own|>late|>x bound|~what took the time");
    for (size_t i = 0; i < facts->n; i++) {
        const struct ar_fact *const f = &facts->facts[i];
        const struct ar_row *const row = f->row;
        const bool timed = f->cause != AR_CAUSE_UNTIMED;
        const double late = row->counts.ns ? f->late_ns / (double)row->counts.ns : 0;
        char why[128], reason[AR_WHY_TEXT];
        ar_html_cell_bar(page, f->share, "%.1f %%", 100 * f->share);
        ar_html_cell(page, "%.0f", (double)row->counts.calls / (row->ranks ? row->ranks : 1));
        add_communicator(page, &row->key);
        add_size(page, row);
        add_operation(page, &row->key);
        ar_html_cell_noted(page, row->key.ran, ar_row_why(row, reason));
        add_time(page, (double)ar_row_quantile(row, 0.5), timed);
        add_time(page, f->own_ns, timed);
        ar_html_cell_bar(page, late, timed ? "%.0f %%" : "-", 100 * late);
        add_known(page, f->bound_ns > 0 ? f->own_ns / f->bound_ns : 0, f->bound_ns > 0);
        ar_html_cell(page, "%s", ar_fact_explain(f, why, sizeof why));
    }
    ar_html_table_end(page);
    ar_html_paragraph(
        page, "calls: the number on one rank. size: the bytes of each message; 16+ is from "
              "16 to below twice as many, of several sizes. own: the time of a call when no "
              "rank is late, estimated from the shortest times, because the rank that comes "
              "last waits for no other. late: waiting for late ranks. x bound: own divided "
              "by the bound, which is the best rate of calls on as many ranks in this run, "
              "or --bandwidth.");
}

static void
add_details(struct ar_html *page, const struct ar_facts *facts)
{
    ar_html_heading(page, "More about these calls");
    ar_html_table_begin(page, ">size|~communicator|type, op|~asked for|~ran|>bytes|>minimum|"
                              ">median|>99 %|>maximum|>set-up");
    for (size_t i = 0; i < facts->n; i++) {
        const struct ar_fact *const f = &facts->facts[i];
        const struct ar_row *const row = f->row;
        const bool timed = f->cause != AR_CAUSE_UNTIMED;
        add_size(page, row);
        add_communicator(page, &row->key);
        add_operation(page, &row->key);
        ar_html_cell_noted(page, row->key.requested, "");
        ar_html_cell_noted(page, row->key.ran, "");
        add_bytes(page, row->counts.bytes);
        add_time(page, (double)row->counts.least_ns, timed);
        add_time(page, (double)ar_row_quantile(row, 0.5), timed);
        add_time(page, (double)ar_row_quantile(row, 0.99), timed);
        add_time(page, (double)row->counts.most_ns, timed);
        add_time(page, (double)row->counts.setup_ns, true);
    }
    ar_html_table_end(page);
    ar_html_paragraph(page, "bytes: the sum over all ranks. minimum to maximum: times of single "
                            "calls, waiting included. 99 %%: the time that 99 of 100 calls do not "
                            "exceed. set-up: in first calls, the sum over all ranks.");
}

#define WAITING_IS_OF_OURS                                                                         \
    "Waiting is that in algorithms of liballreduce: that of native calls is not known."

static void
add_sites(struct ar_html *page, const struct ar_read_run *run)
{
    const struct ar_site_rows *const rows = &run->table.sites;
    char *const *const lines = run->lines.lines;
    if (rows->n == 0)
        return;
    ar_html_heading(page, "Where the program calls");
    ar_html_table_begin(page, ">calls|>bytes|>time|>waiting|>ranks|call|~called from");
    for (size_t i = 0; i < rows->n; i++) {
        const struct ar_site_row *const row = &rows->rows[i];
        char text[AR_SITE_TEXT];
        ar_html_cell(page, "%llu", (unsigned long long)row->calls);
        add_bytes(page, row->bytes);
        add_time(page, (double)row->ns, true);
        add_time(page, (double)row->wait_ns, true);
        ar_html_cell(page, "%d", row->ranks);
        ar_html_cell(page, "%s", ar_site_entry(&row->site));
        ar_site_print(text, &row->site);
        ar_html_cell_noted(page, lines && lines[i] ? lines[i] : text,
                           lines && lines[i] ? text : "");
    }
    ar_html_table_end(page);
    ar_html_paragraph(page, "Calls to waiting are sums over all ranks. " WAITING_IS_OF_OURS);
    if (run->lines.reasons && *run->lines.reasons)
        ar_html_code(page, run->lines.reasons);
}

static void
add_rank(struct ar_html *page, const struct ar_rank_row *row)
{
    const double calls = row->compared > 0 ? (double)row->compared : 1;
    const uint64_t counts[] = {row->first, row->last, row->late};
    char share[16];
    ar_html_cell(page, "%d", row->rank);
    ar_html_cell(page, "%s", row->host);
    ar_html_cell(page, "%s", row->cpus);
    ar_html_cell(page, "%llu", (unsigned long long)row->calls);
    add_time(page, (double)row->ns, true);
    add_time(page, (double)row->wait_ns, true);
    add_time(page, (double)row->setup_ns, true);
    for (int i = 0; i < 3; i++)
        ar_html_cell_bar(page, (double)counts[i] / calls, "%s",
                         ar_rank_share_print(share, sizeof share, counts[i], row));
}

static void
add_ranks(struct ar_html *page, const struct ar_rank_rows *rows)
{
    struct ar_rank_row picked[AR_RANKS_TOLD];
    const size_t n = ar_rank_rows_pick(rows, picked, AR_RANKS_TOLD);
    if (n == 0)
        return;
    ar_html_heading(page, "Ranks");
    ar_html_table_begin(page, ">rank|~host|~CPUs|>calls|>time|>waiting|>set-up|>first %|>last %|"
                              ">late %");
    for (size_t i = 0; i < n; i++)
        add_rank(page, &picked[i]);
    ar_html_table_end(page);
    ar_html_paragraph(page,
                      "first, last: the percentage of its calls to which the rank came before or "
                      "after all others. late: it came last, and the first rank was in the call "
                      "for at least twice its time. " WAITING_IS_OF_OURS "%s",
                      n < rows->n ? " These are the ranks that were late most often." : "");
}

static void
add_side(struct ar_html *page, const struct ar_row *row, bool is_mixed)
{
    const bool timed = row->counts.calls > 0 && row->counts.least_ns != UINT64_MAX;
    ar_html_cell_noted(page, row->counts.calls ? row->key.ran : "-", is_mixed ? "and others" : "");
    add_time(page, (double)ar_row_own_ns(row), timed);
}

static void
add_pairs(struct ar_html *page, const struct ar_pair *pairs, size_t n)
{
    ar_html_heading(page, "Side by side");
    ar_html_table_begin(page, "~communicator|>size|type, op|~first ran|>own|~second ran|"
                              ">own|>first / second");
    for (size_t i = 0; i < n; i++) {
        const struct ar_row *a = &pairs[i].rows[0], *b = &pairs[i].rows[1];
        const double ratio = ar_pair_ratio(&pairs[i]);
        char size[AR_ROW_SIZE_TEXT];
        add_communicator(page, &a->key);
        ar_html_cell(page, "%s", ar_pair_size_print(&pairs[i], size));
        add_operation(page, &a->key);
        add_side(page, a, pairs[i].is_mixed[0]);
        add_side(page, b, pairs[i].is_mixed[1]);
        add_known(page, ratio, ratio > 0);
    }
    ar_html_table_end(page);
    ar_html_paragraph(page, "own: the estimated time of a call when no rank is late. first / "
                            "second above 1: the second is faster.");
}

static void
add_alarms(struct ar_html *page, const struct ar_table *all)
{
    struct ar_alarm alarms[AR_ALARMS_TOLD];
    const size_t n = ar_watchdog_look(all, alarms, AR_ALARMS_TOLD);
    if (n > 0)
        ar_html_heading(page, "Watchdog: results that no allreduce should have");
    for (size_t i = 0; i < n; i++) {
        char text[AR_ALARM_TEXT];
        ar_html_paragraph(page, "%s", ar_alarm_print(&alarms[i], text, sizeof text));
    }
}

/* --- plots --- */

static const struct {
    const char *y_title;
    const char *caption;
} plots[] = {
    {"us", "Own time of a call: when no rank is late."},
    {"us", "Median of all calls, late ranks included. Where it is far above the own time, the "
           "ranks come at different times."},
    {"GB/s",
     "Rate: the bytes that any allreduce has to send, 2(p-1)/p n, divided by the own time."},
};

/* A line of a plot has the rows of a run on so many ranks that ran the same. */
static void
add_plots(struct ar_html *page, const struct ar_facts *facts, size_t nruns)
{
    ar_html_heading(page, "By size of the message");
    for (size_t k = 0; k < sizeof plots / sizeof plots[0]; k++) {
        struct ar_plot plot = {.title = "", .y_title = plots[k].y_title};
        for (size_t run = 0; run < nruns; run++)
            for (size_t i = 0; i < facts[run].n; i++) {
                const struct ar_fact *f = &facts[run].facts[i];
                char line[AR_CHOICE_TEXT + 64];
                if (f->own_ns <= 0 || f->row->key.nranks < 2)
                    continue;
                snprintf(line, sizeof line, "%s%s on %d ranks",
                         nruns < 2  ? ""
                         : run == 0 ? "first: "
                                    : "second: ",
                         f->row->key.ran, f->row->key.nranks);
                const double values[] = {f->own_ns * 1e-3,
                                         (double)ar_row_quantile(f->row, 0.5) * 1e-3, f->bus};
                ar_plot_add(&plot, line, AR_PLOT_MARKED, f->bytes, values[k]);
            }
        ar_plot_put(page, &plot, plots[k].caption);
    }
}

/* "MPI_Allreduce in app, 4 ranks, when; beside other, 8 ranks, when". */
static char *
print_title(char *text, size_t room, const struct ar_facts *facts, size_t n)
{
    struct ar_text t;
    ar_text_init(&t, text, room);
    ar_text_add(&t, "MPI_Allreduce in ");
    for (size_t i = 0; i < n; i++) {
        const struct ar_read_run *const run = facts[i].run;
        ar_text_add(&t, "%s%s, %d rank%s, %s", i ? "; beside " : "", run->program, run->ranks,
                    ar_plural((size_t)run->ranks), run->when);
    }
    return text;
}

int
ar_report_write_html(const char *path, const struct ar_facts *facts, size_t n,
                     const struct ar_pair *pairs, size_t npairs, const struct ar_table *all)
{
    struct ar_html page;
    char title[1024];
    const int status = ar_html_open(&page, path, print_title(title, sizeof title, facts, n));
    if (status != AR_EXIT_DONE)
        return status;
    for (size_t i = 0; i < n; i++)
        add_verdict(&page, n < 2 ? "" : i == 0 ? "First: " : "Second: ", &facts[i]);
    add_alarms(&page, all);
    if (n == 2)
        add_pairs(&page, pairs, npairs);
    else
        add_facts(&page, &facts[0]);
    add_totals(&page, facts, n);
    add_plots(&page, facts, n);
    for (size_t i = 0; i < n; i++) {
        add_run(&page, facts[i].run);
        if (n == 2)
            add_facts(&page, &facts[i]);
        add_sites(&page, facts[i].run);
        add_ranks(&page, &facts[i].run->table.ranks);
        add_details(&page, &facts[i]);
    }
    return ar_html_close(&page);
}
