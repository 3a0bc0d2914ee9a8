/* The report as a page. */
#include <config.h>

#include <stdio.h>

#include "cli/cli.h"
#include "cli/html.h"
#include "cli/report.h"
#include "report/watchdog.h"

/* --- tables --- */

static void
add_known(struct ar_html *page, double value, bool known)
{
    char text[AR_NUMBER_TEXT];
    ar_html_cell(page, "%s", known ? ar_number_print(value, text, sizeof text) : "-");
}

/* A number of seconds behind a bar. */
static void
add_share(struct ar_html *page, double share, double seconds)
{
    char text[AR_NUMBER_TEXT];
    ar_html_cell_bar(page, share, "%s", ar_number_print(seconds, text, sizeof text));
}

static void
add_totals(struct ar_html *page, const struct ar_facts *facts, size_t n)
{
    ar_html_heading(page, "Where the time went");
    ar_html_paragraph(page, "Seconds of a rank, in the mean.");
    ar_html_table_begin(page, "run|>elapsed s|>in allreduces|>by the algorithms|"
                              ">waiting for late ranks|>set-up");
    for (size_t i = 0; i < n; i++) {
        const struct ar_facts *f = &facts[i];
        const double elapsed = (double)f->run->elapsed_ns * 1e-9,
                     in = ar_facts_seconds(f, f->total_ns);
        const double total = f->total_ns > 0 ? f->total_ns : 1;
        ar_html_cell(page, "%s", f->run->path);
        add_known(page, elapsed, true);
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
    char size[AR_SIZE_TEXT];
    ar_html_cell(page, "%s", ar_size_print(ar_size_bin_first(row->key.bin), size, sizeof size));
}

static void
add_facts(struct ar_html *page, const struct ar_facts *facts)
{
    const struct ar_read_run *const run = facts->run;
    ar_html_heading(page, "Calls");
    ar_html_paragraph(page, "%s: %s with liballreduce %s (%s), %d rank%s, %s", run->path,
                      run->program, run->version, run->family, run->ranks,
                      ar_plural((size_t)run->ranks), run->when);
    if (*run->library)
        ar_html_paragraph(page, "%s; hosts: %d; %s", run->library,
                          ar_rank_rows_hosts(&run->table.ranks), run->command);
    ar_html_table_begin(page,
                        ">share|>calls|>ranks|communicator|>size|type|op|asked for|ran|why|>min us|"
                        ">median us|>p99 us|>own us|>late|>x bound|what took the time");
    for (size_t i = 0; i < facts->n; i++) {
        const struct ar_fact *const f = &facts->facts[i];
        const struct ar_row *const row = f->row;
        const bool timed = f->cause != AR_CAUSE_UNTIMED;
        const double late = row->counts.ns ? f->late_ns / (double)row->counts.ns : 0;
        char why[128];
        ar_html_cell_bar(page, f->share, "%.1f %%", 100 * f->share);
        ar_html_cell(page, "%.0f", (double)row->counts.calls / (row->ranks ? row->ranks : 1));
        ar_html_cell(page, "%d", row->key.nranks);
        ar_html_cell(page, "%s", row->key.comm);
        add_size(page, row);
        ar_html_cell(page, "%s", row->key.type);
        ar_html_cell(page, "%s", row->key.op);
        ar_html_cell(page, "%s", row->key.requested);
        ar_html_cell(page, "%s", row->key.ran);
        ar_html_cell(page, "%s", row->key.reason);
        add_known(page, (double)row->counts.least_ns * 1e-3, timed);
        add_known(page, (double)ar_row_quantile(row, 0.5) * 1e-3, timed);
        add_known(page, (double)ar_row_quantile(row, 0.99) * 1e-3, timed);
        add_known(page, f->own_ns * 1e-3, timed);
        ar_html_cell_bar(page, late, timed ? "%.0f %%" : "-", 100 * late);
        add_known(page, f->bound_ns > 0 ? f->own_ns / f->bound_ns : 0, f->bound_ns > 0);
        ar_html_cell(page, "%s", ar_fact_explain(f, why, sizeof why));
    }
    ar_html_table_end(page);
    ar_html_paragraph(
        page, "calls: of a rank. size: from so many bytes to below twice as "
              "many. own: a call where nobody is late, by estimate: of each call one rank comes "
              "last and waits for nobody. late: waiting for late ranks. x bound: own beside what "
              "the calls on as many ranks reached at best in this run, or beside --bandwidth.");
}

static void
add_sites(struct ar_html *page, const struct ar_site_rows *rows)
{
    if (rows->n == 0)
        return;
    ar_html_heading(page, "Where the program calls");
    ar_html_table_begin(page, ">calls|>bytes|>ms|>wait ms|>ranks|call|called from");
    for (size_t i = 0; i < rows->n; i++) {
        const struct ar_site_row *const row = &rows->rows[i];
        char text[AR_SITE_TEXT];
        ar_html_cell(page, "%llu", (unsigned long long)row->calls);
        ar_html_cell(page, "%llu", (unsigned long long)row->bytes);
        add_known(page, (double)row->ns * 1e-6, true);
        add_known(page, (double)row->wait_ns * 1e-6, true);
        ar_html_cell(page, "%d", row->ranks);
        ar_html_cell(page, "%s", ar_site_entry(&row->site));
        ar_html_cell(page, "%s", ar_site_print(text, &row->site));
    }
    ar_html_table_end(page);
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
    add_known(page, (double)row->ns * 1e-6, true);
    add_known(page, (double)row->wait_ns * 1e-6, true);
    add_known(page, (double)row->setup_ns * 1e-6, true);
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
    ar_html_table_begin(page, ">rank|host|CPUs|>calls|>ms|>wait ms|>set-up ms|>first %|>last %|"
                              ">late %");
    for (size_t i = 0; i < n; i++)
        add_rank(page, &picked[i]);
    ar_html_table_end(page);
    ar_html_paragraph(page,
                      "first, last: the rank came to so many percent of its calls before or after "
                      "all others. late: last, and the first one was in the call for twice its "
                      "time or longer.%s",
                      n < rows->n ? " Of all ranks these were late most often." : "");
}

static void
add_side(struct ar_html *page, const struct ar_row *row, bool is_mixed)
{
    const bool timed = row->counts.calls > 0 && row->counts.least_ns != UINT64_MAX;
    ar_html_cell(page, "%s%s", row->counts.calls ? row->key.ran : "-", is_mixed ? ", ..." : "");
    add_known(page, (double)ar_row_own_ns(row) * 1e-3, timed);
}

static void
add_pairs(struct ar_html *page, const struct ar_pair *pairs, size_t n)
{
    ar_html_heading(page, "Side by side");
    ar_html_table_begin(page,
                        ">ranks|communicator|>size|type|op|first ran|>own us|second ran|>own us|"
                        ">first / second");
    for (size_t i = 0; i < n; i++) {
        const struct ar_row *a = &pairs[i].rows[0], *b = &pairs[i].rows[1];
        const double x = (double)ar_row_own_ns(a), y = (double)ar_row_own_ns(b);
        ar_html_cell(page, "%d", a->key.nranks);
        ar_html_cell(page, "%s", a->key.comm);
        add_size(page, a);
        ar_html_cell(page, "%s", a->key.type);
        ar_html_cell(page, "%s", a->key.op);
        add_side(page, a, pairs[i].is_mixed[0]);
        add_side(page, b, pairs[i].is_mixed[1]);
        add_known(page, y > 0 ? x / y : 0, x > 0 && y > 0);
    }
    ar_html_table_end(page);
}

static void
add_alarms(struct ar_html *page, const struct ar_table *all)
{
    struct ar_alarm alarms[AR_ALARMS_TOLD];
    const size_t n = ar_watchdog_look(all, alarms, AR_ALARMS_TOLD);
    if (n > 0)
        ar_html_heading(page, "Watchdog: what no allreduce should do");
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
    {"us", "Own time of a call: where nobody is late."},
    {"us", "Median of all calls: late ranks included. Far above the own time: the "
           "ranks come at different times."},
    {"GB/s", "Rate: the bytes that any allreduce has to send, 2(p-1)/p n, by the own "
             "time."},
};

/* More lines than that cannot be told apart. */
#define LINES_MAX 8

/* A line of a plot has the rows of a run on so many ranks that ran the same. */
static void
add_plots(struct ar_html *page, const struct ar_facts *facts, size_t nruns)
{
    ar_html_heading(page, "By size of the message");
    for (size_t k = 0; k < sizeof plots / sizeof plots[0]; k++) {
        struct ar_plot plot = {.title = "", .y_title = plots[k].y_title, .series_most = LINES_MAX};
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

int
ar_report_write_html(const char *path, const struct ar_facts *facts, size_t n,
                     const struct ar_pair *pairs, size_t npairs, const struct ar_table *all)
{
    struct ar_html page;
    const int status = ar_html_open(&page, path, "Where the time in MPI_Allreduce went");
    if (status != AR_EXIT_DONE)
        return status;
    add_totals(&page, facts, n);
    if (n == 2)
        add_pairs(&page, pairs, npairs);
    add_alarms(&page, all);
    add_plots(&page, facts, n);
    for (size_t i = 0; i < n; i++) {
        add_facts(&page, &facts[i]);
        add_sites(&page, &facts[i].run->table.sites);
        add_ranks(&page, &facts[i].run->table.ranks);
    }
    return ar_html_close(&page);
}
