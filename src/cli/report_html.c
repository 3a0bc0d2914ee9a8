/* The report as a page. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/html.h"
#include "cli/plot.h"
#include "cli/report.h"
#include "report/watchdog.h"

static double
seconds(const struct ar_facts *facts, double ns)
{
    return facts->run->ranks > 0 ? ns * 1e-9 / facts->run->ranks : 0;
}

/* --- tables --- */

static void
add_run(struct ar_html *page, const struct ar_read_run *run)
{
    ar_html_paragraph(page, "%s: %s with liballreduce %s (%s), %d ranks, %s", run->path,
                      run->program, run->version, run->family, run->ranks, run->when);
}

static void
add_totals(struct ar_html *page, const struct ar_facts *facts, size_t n)
{
    static const struct ar_html_column columns[] = {
        {"run", AR_HTML_LEFT},
        {"elapsed s", AR_HTML_RIGHT},
        {"in allreduces", AR_HTML_RIGHT},
        {"by the algorithms", AR_HTML_RIGHT},
        {"waiting for late ranks", AR_HTML_RIGHT},
        {"set-up", AR_HTML_RIGHT},
    };
    ar_html_heading(page, "Where the time went");
    ar_html_paragraph(page, "Seconds of a rank, in the mean.");
    ar_html_table_begin(page, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < n; i++) {
        const struct ar_facts *f = &facts[i];
        const double elapsed = (double)f->run->elapsed_ns * 1e-9, in = seconds(f, f->total_ns);
        const double total = f->total_ns > 0 ? f->total_ns : 1;
        ar_html_cell(page, "%s", f->run->path);
        ar_html_cell(page, "%.3f", elapsed);
        ar_html_cell_bar(page, elapsed > 0 ? in / elapsed : 0, "%.3f", in);
        ar_html_cell_bar(page, f->own_ns / total, "%.3f", seconds(f, f->own_ns));
        ar_html_cell_bar(page, f->late_ns / total, "%.3f", seconds(f, f->late_ns));
        ar_html_cell_bar(page, f->setup_ns / total, "%.3f", seconds(f, f->setup_ns));
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
add_known(struct ar_html *page, const char *format, double value, bool known)
{
    char text[64] = "-";
    if (known)
        snprintf(text, sizeof text, format, value);
    ar_html_cell(page, "%s", text);
}

static void
add_fact(struct ar_html *page, const struct ar_fact *f)
{
    const struct ar_row *row = f->row;
    const bool timed = f->cause != AR_CAUSE_UNTIMED;
    const double late = row->counts.ns ? f->late_ns / (double)row->counts.ns : 0;
    char why[128];
    ar_html_cell_bar(page, f->share, "%.1f %%", 100 * f->share);
    ar_html_cell(page, "%.0f", (double)row->counts.calls / (row->ranks ? row->ranks : 1));
    ar_html_cell(page, "%d", row->key.nranks);
    add_size(page, row);
    ar_html_cell(page, "%s", row->key.type);
    ar_html_cell(page, "%s", row->key.op);
    ar_html_cell(page, "%s", row->key.requested);
    ar_html_cell(page, "%s", row->key.ran);
    ar_html_cell(page, "%s", row->key.reason);
    add_known(page, "%.2f", (double)row->counts.least_ns * 1e-3, timed);
    add_known(page, "%.2f", (double)ar_row_quantile(row, 0.5) * 1e-3, timed);
    add_known(page, "%.2f", (double)ar_row_quantile(row, 0.99) * 1e-3, timed);
    add_known(page, "%.2f", f->own_ns * 1e-3, timed);
    ar_html_cell_bar(page, late, timed ? "%.0f %%" : "-", 100 * late);
    add_known(page, "%.1f", f->bound_ns > 0 ? f->own_ns / f->bound_ns : 0, f->bound_ns > 0);
    ar_html_cell(page, "%s", ar_fact_explain(f, why, sizeof why));
}

static void
add_facts(struct ar_html *page, const struct ar_facts *facts)
{
    static const struct ar_html_column columns[] = {
        {"share", AR_HTML_RIGHT},     {"calls", AR_HTML_RIGHT},
        {"ranks", AR_HTML_RIGHT},     {"size", AR_HTML_RIGHT},
        {"type", AR_HTML_LEFT},       {"op", AR_HTML_LEFT},
        {"asked for", AR_HTML_LEFT},  {"ran", AR_HTML_LEFT},
        {"why", AR_HTML_LEFT},        {"min us", AR_HTML_RIGHT},
        {"median us", AR_HTML_RIGHT}, {"p99 us", AR_HTML_RIGHT},
        {"own us", AR_HTML_RIGHT},    {"late", AR_HTML_RIGHT},
        {"x bound", AR_HTML_RIGHT},   {"what took the time", AR_HTML_LEFT},
    };
    ar_html_heading(page, "Calls");
    add_run(page, facts->run);
    ar_html_table_begin(page, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < facts->n; i++)
        add_fact(page, &facts->facts[i]);
    ar_html_table_end(page);
    ar_html_paragraph(
        page, "calls: of a rank. size: from so many bytes to below twice as many. own: a call "
              "where nobody is late, by estimate: of each call one rank comes last and waits for "
              "nobody. late: waiting for late ranks. x bound: own beside what the calls on as many "
              "ranks reached at best in this run, or beside --bandwidth.");
}

static void
add_side(struct ar_html *page, const struct ar_row *row, bool is_mixed)
{
    const bool timed = row->counts.calls > 0 && row->counts.least_ns != UINT64_MAX;
    ar_html_cell(page, "%s%s", row->counts.calls ? row->key.ran : "-", is_mixed ? ", ..." : "");
    add_known(page, "%.2f", (double)ar_row_own_ns(row) * 1e-3, timed);
}

static void
add_pairs(struct ar_html *page, const struct ar_pair *pairs, size_t n)
{
    static const struct ar_html_column columns[] = {
        {"ranks", AR_HTML_RIGHT},
        {"size", AR_HTML_RIGHT},
        {"type", AR_HTML_LEFT},
        {"op", AR_HTML_LEFT},
        {"first ran", AR_HTML_LEFT},
        {"own us", AR_HTML_RIGHT},
        {"second ran", AR_HTML_LEFT},
        {"own us", AR_HTML_RIGHT},
        {"first / second", AR_HTML_RIGHT},
    };
    ar_html_heading(page, "Side by side");
    ar_html_table_begin(page, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < n; i++) {
        const struct ar_row *a = &pairs[i].rows[0], *b = &pairs[i].rows[1];
        const double x = (double)ar_row_own_ns(a), y = (double)ar_row_own_ns(b);
        ar_html_cell(page, "%d", a->key.nranks);
        add_size(page, a);
        ar_html_cell(page, "%s", a->key.type);
        ar_html_cell(page, "%s", a->key.op);
        add_side(page, a, pairs[i].is_mixed[0]);
        add_side(page, b, pairs[i].is_mixed[1]);
        add_known(page, "%.2f", y > 0 ? x / y : 0, x > 0 && y > 0);
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

/* What a plot shows of a row; 0: nothing. */
typedef double value_fn(const struct ar_fact *fact);

static double
own_us(const struct ar_fact *fact)
{
    return fact->own_ns * 1e-3;
}

static double
median_us(const struct ar_fact *fact)
{
    return (double)ar_row_quantile(fact->row, 0.5) * 1e-3;
}

static double
bus_gb(const struct ar_fact *fact)
{
    return fact->bus;
}

/* A line of a plot: the rows of a run on nranks ranks that ran the same. */
struct line {
    const struct ar_facts *facts;
    const struct ar_row *like; /* the first of them */
    char title[AR_CHOICE_TEXT + 64];
    double *x, *y;
    size_t n;
};

static bool
belongs(const struct line *line, const struct ar_fact *f)
{
    return f->own_ns > 0 && f->row->key.nranks == line->like->key.nranks &&
           strcmp(f->row->key.ran, line->like->key.ran) == 0;
}

struct point {
    double x, y;
};

static int
by_size(const void *a, const void *b)
{
    const double x = ((const struct point *)a)->x, y = ((const struct point *)b)->x;
    return (x > y) - (x < y);
}

/* Without memory, a line without points. */
static void
fill(struct line *line, value_fn *value)
{
    struct point *points = calloc(line->facts->n + 1, sizeof *points);
    line->x = calloc(line->facts->n + 1, sizeof *line->x);
    line->y = calloc(line->facts->n + 1, sizeof *line->y);
    line->n = 0;
    for (size_t i = 0; points && line->x && line->y && i < line->facts->n; i++)
        if (belongs(line, &line->facts->facts[i]))
            points[line->n++] =
                (struct point){line->facts->facts[i].bytes, value(&line->facts->facts[i])};
    if (line->n > 0)
        qsort(points, line->n, sizeof *points, by_size);
    for (size_t i = 0; i < line->n; i++) {
        line->x[i] = points[i].x;
        line->y[i] = points[i].y;
    }
    free(points);
}

/* More lines than that are no picture. */
#define LINES_MAX 8

static size_t
find_lines(struct line *lines, const struct ar_facts *facts, size_t nruns)
{
    size_t n = 0;
    for (size_t run = 0; run < nruns; run++)
        for (size_t i = 0; i < facts[run].n && n < LINES_MAX; i++) {
            const struct ar_fact *f = &facts[run].facts[i];
            bool is_new = f->own_ns > 0 && f->row->key.nranks > 1;
            for (size_t k = 0; k < n && is_new; k++)
                is_new = lines[k].facts != &facts[run] || !belongs(&lines[k], f);
            if (!is_new)
                continue;
            lines[n] = (struct line){.facts = &facts[run], .like = f->row};
            snprintf(lines[n].title, sizeof lines[n].title, "%s%s on %d ranks",
                     nruns < 2  ? ""
                     : run == 0 ? "first: "
                                : "second: ",
                     f->row->key.ran, f->row->key.nranks);
            n++;
        }
    return n;
}

static int
add_plot(struct ar_html *page, const struct ar_facts *facts, size_t nruns, value_fn *value,
         const char *label, const char *caption)
{
    struct line *lines = calloc(LINES_MAX, sizeof *lines);
    struct ar_plot_series series[LINES_MAX];
    const size_t n = lines ? find_lines(lines, facts, nruns) : 0;
    struct ar_plot plot = {.title = "",
                           .x = {"bytes", AR_PLOT_BYTES},
                           .y = {label, AR_PLOT_LOG},
                           .nseries = n,
                           .series = series};
    char *svg = NULL;
    for (size_t i = 0; i < n; i++) {
        fill(&lines[i], value);
        series[i] = (struct ar_plot_series){lines[i].title, AR_PLOT_MARKED, lines[i].n, lines[i].x,
                                            lines[i].y};
    }
    const int status = n > 0 ? ar_plot_draw(&svg, &plot) : AR_EXIT_DONE;
    if (svg)
        ar_html_figure(page, svg, caption);
    for (size_t i = 0; i < n; i++) {
        free(lines[i].x);
        free(lines[i].y);
    }
    free(lines);
    free(svg);
    return status;
}

static int
add_plots(struct ar_html *page, const struct ar_facts *facts, size_t nruns)
{
    ar_html_heading(page, "By size of the message");
    int status =
        add_plot(page, facts, nruns, own_us, "us", "Own time of a call: where nobody is late.");
    if (status == AR_EXIT_DONE)
        status = add_plot(page, facts, nruns, median_us, "us",
                          "Median of all calls: late ranks included. Far above the own time: the "
                          "ranks come at different times.");
    if (status == AR_EXIT_DONE)
        status = add_plot(page, facts, nruns, bus_gb, "GB/s",
                          "Rate: the bytes that any allreduce has to send, 2(p-1)/p n, by the own "
                          "time.");
    return status;
}

int
ar_report_write_html(const char *path, const struct ar_facts *facts, size_t n,
                     const struct ar_pair *pairs, size_t npairs, const struct ar_table *all)
{
    struct ar_html page;
    int status = ar_html_open(&page, path, "Where the time in MPI_Allreduce went");
    if (status != AR_EXIT_DONE)
        return status;
    add_totals(&page, facts, n);
    if (n == 2)
        add_pairs(&page, pairs, npairs);
    add_alarms(&page, all);
    status = add_plots(&page, facts, n);
    for (size_t i = 0; i < n; i++)
        add_facts(&page, &facts[i]);
    const int closed = ar_html_close(&page);
    return status == AR_EXIT_DONE ? closed : status;
}
