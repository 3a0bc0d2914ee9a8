/* The results of a bench as a page. */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/cli.h"
#include "cli/html.h"
#include "cli/plot.h"
#include "cli/results.h"
#include "select/select.h"

/* A number of a row, for the y axis of a plot. */
typedef double value_fn(const struct ar_result *row);

static double
median_us(const struct ar_result *row)
{
    return row->median_us;
}

static double
times_native(const struct ar_result *row)
{
    return row->times_native;
}

static double
bus_gbs(const struct ar_result *row)
{
    return row->bus_gbs;
}

static const struct {
    const char *title;
    struct ar_plot_axis y;
    value_fn *value;
    const char *caption;
} plots[] = {
    {"Time",
     {"us a call", AR_PLOT_LOG},
     median_us,
     "Median time of a call, of the slowest rank. Lower is better."},
    {"Speed-up",
     {"times faster than native", AR_PLOT_LOG},
     times_native,
     "Native's median by the algorithm's, from the same run. Above 1 is faster than the MPI "
     "library's own allreduce."},
    {"Bandwidth against the bound",
     {"bus bandwidth, GB/s", AR_PLOT_LOG},
     bus_gbs,
     "Bytes of the message, times 2(p-1)/p, by the time: what each rank at least sends and "
     "receives of a long message. Exchange: each rank does just that, with its neighbours, and "
     "reduces nothing. Bound: the best of exchange over all sizes. Shared memory, which moves "
     "no messages, may pass it."},
};

enum { NPLOTS = sizeof plots / sizeof plots[0] };

/* --- series --- */

static bool
is_first_of_label(const struct ar_results *results, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (strcmp(results->rows[k].label, results->rows[i].label) == 0)
            return false;
    return true;
}

/* All sizes of one entrant in one place, as points in x and y. */
static struct ar_plot_series
series_of(const struct ar_results *results, const struct ar_result *entrant, enum ar_place place,
          value_fn *value, double *x, double *y)
{
    struct ar_plot_series s = {.title = entrant->label,
                               .style = entrant->kind == AR_ENTRANT_EXCHANGE ? AR_PLOT_DASHED
                                                                             : AR_PLOT_MARKED,
                               .x = x,
                               .y = y};
    for (size_t i = 0; i < results->n; i++) {
        const struct ar_result *const row = &results->rows[i];
        if (row->place == place && strcmp(row->label, entrant->label) == 0) {
            x[s.n] = (double)row->bytes;
            y[s.n++] = value(row);
        }
    }
    return s;
}

static const char *
place_words(enum ar_place place)
{
    return place == AR_IN_PLACE ? "in place" : "out of place";
}

/* The best that exchange came to in one place, in GB/s; 0 where it was not measured. */
static double
bound_gbs(const struct ar_results *results, enum ar_place place)
{
    double best = 0;
    for (size_t i = 0; i < results->n; i++)
        if (results->rows[i].place == place && results->rows[i].kind == AR_ENTRANT_EXCHANGE)
            best = fmax(best, results->rows[i].bus_gbs);
    return best;
}

/* A line at the bound from the shortest to the longest message. */
static struct ar_plot_series
bound_series(const struct ar_results *results, double bound, double *x, double *y)
{
    x[0] = x[1] = (double)results->rows[0].bytes;
    for (size_t i = 0; i < results->n; i++) {
        x[0] = fmin(x[0], (double)results->rows[i].bytes);
        x[1] = fmax(x[1], (double)results->rows[i].bytes);
    }
    y[0] = y[1] = bound;
    return (struct ar_plot_series){"bound", AR_PLOT_DASHED, 2, x, y};
}

/* Room for as many series as there are rows and one more, and so many points and two. */
struct room {
    struct ar_plot_series *series;
    double *x, *y;
};

static int
put_plot(struct ar_html *page, const struct ar_results *results, int which, enum ar_place place,
         const struct room *room)
{
    char title[64], *svg;
    size_t points = 0;
    snprintf(title, sizeof title, "%s, %s", plots[which].title, place_words(place));
    struct ar_plot plot = {.title = title,
                           .x = {"bytes of the message", AR_PLOT_BYTES},
                           .y = plots[which].y,
                           .series = room->series};
    for (size_t i = 0; i < results->n; i++) {
        if (!is_first_of_label(results, i))
            continue;
        struct ar_plot_series *const s = &room->series[plot.nseries++];
        *s = series_of(results, &results->rows[i], place, plots[which].value, room->x + points,
                       room->y + points);
        points += s->n;
    }
    const double bound = bound_gbs(results, place);
    if (plots[which].value == bus_gbs && bound > 0)
        room->series[plot.nseries++] =
            bound_series(results, bound, room->x + points, room->y + points);
    const int status = ar_plot_draw(&svg, &plot);
    if (status)
        return status;
    ar_html_figure(page, svg, plots[which].caption);
    free(svg);
    return AR_EXIT_DONE;
}

static int
put_plots(struct ar_html *page, const struct ar_results *results, enum ar_place place)
{
    const struct room room = {calloc(results->n + 1, sizeof *room.series),
                              calloc(results->n + 2, sizeof *room.x),
                              calloc(results->n + 2, sizeof *room.y)};
    int status = room.series && room.x && room.y ? AR_EXIT_DONE : AR_EXIT_FAILED;
    if (status)
        fprintf(stderr, "allreduce bench: out of memory\n");
    for (int i = 0; i < NPLOTS && !status; i++)
        status = put_plot(page, results, i, place, &room);
    free(room.series);
    free(room.x);
    free(room.y);
    return status;
}

/* --- tables --- */

/* A line for each size: who was fastest. */
static void
put_fastest(struct ar_html *page, const struct ar_results *results, enum ar_place place)
{
    static const struct ar_html_column columns[] = {
        {"bytes", AR_HTML_RIGHT},       {"fastest", AR_HTML_LEFT},   {"us", AR_HTML_RIGHT},
        {"native, us", AR_HTML_RIGHT},  {"x native", AR_HTML_RIGHT}, {"busbw, GB/s", AR_HTML_RIGHT},
        {"of the bound", AR_HTML_RIGHT}};
    const double bound = bound_gbs(results, place);
    ar_html_table_begin(page, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < results->n; i++) {
        const struct ar_result *const row = &results->rows[i];
        if (row->place != place || ar_results_fastest(results, i) != i)
            continue;
        char size[AR_SIZE_TEXT];
        ar_html_cell(page, "%s", ar_size_print(row->bytes, size, sizeof size));
        if (!ar_result_is_as_named(row))
            ar_html_cell(page, "%s: %s", row->label, row->ran);
        else
            ar_html_cell(page, "%s", row->label);
        ar_html_cell(page, "%.2f", row->median_us);
        ar_html_cell(page, "%.2f", row->median_us * row->times_native);
        ar_html_cell(page, "%.2f", row->times_native);
        ar_html_cell(page, "%.3f", row->bus_gbs);
        if (bound > 0)
            ar_html_cell_bar(page, row->bus_gbs / bound, "%.0f %%", 100 * row->bus_gbs / bound);
        else
            ar_html_cell(page, "-");
    }
    ar_html_table_end(page);
}

static void
put_row(struct ar_html *page, const struct ar_result *row)
{
    char size[AR_SIZE_TEXT];
    ar_html_cell(page, "%s", ar_size_print(row->bytes, size, sizeof size));
    ar_html_cell(page, "%s", row->label);
    ar_html_cell(page, "%s", ar_result_is_as_named(row) ? "" : row->ran);
    ar_html_cell(page, "%.2f", row->median_us);
    ar_html_cell(page, "%.2f", row->least_us);
    ar_html_cell(page, "%.2f", row->average_us);
    ar_html_cell(page, "%.2f", row->most_us);
    ar_html_cell(page, "%.2f", row->times_native);
    ar_html_cell(page, "%.3f", row->algorithm_gbs);
    ar_html_cell(page, "%.3f", row->bus_gbs);
    if (row->kind == AR_ENTRANT_EXCHANGE) {
        ar_html_cell(page, "-");
        ar_html_cell(page, "-");
    } else {
        if (row->wrong)
            ar_html_cell_alarm(page, "wrong result");
        else
            ar_html_cell(page, "%.1e", row->error);
        ar_html_cell(page, "%.1e", row->from_native);
    }
}

static void
put_all(struct ar_html *page, const struct ar_results *results, enum ar_place place)
{
    static const struct ar_html_column columns[] = {
        {"bytes", AR_HTML_RIGHT},      {"algorithm", AR_HTML_LEFT}, {"ran", AR_HTML_LEFT},
        {"median, us", AR_HTML_RIGHT}, {"min", AR_HTML_RIGHT},      {"avg", AR_HTML_RIGHT},
        {"max", AR_HTML_RIGHT},        {"x native", AR_HTML_RIGHT}, {"algbw, GB/s", AR_HTML_RIGHT},
        {"busbw", AR_HTML_RIGHT},      {"error", AR_HTML_RIGHT},    {"from native", AR_HTML_RIGHT}};
    ar_html_table_begin(page, columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < results->n; i++)
        if (results->rows[i].place == place)
            put_row(page, &results->rows[i]);
    ar_html_table_end(page);
}

/* --- the page --- */

static void
put_preface(struct ar_html *page, const struct ar_results *results, const char *command)
{
    char day[32];
    struct tm when;
    const time_t now = time(NULL);
    strftime(day, sizeof day, "%Y-%m-%d %H:%M", localtime_r(&now, &when));
    ar_html_paragraph(page,
                      "%s, %d ranks on %d cpus (of the first rank), %s. Every algorithm took its "
                      "turn in each of %d batches; times are those of the slowest rank.",
                      results->mpi, results->nranks, results->cpus, day, results->repetitions);
    if (results->rotate_bytes > 0)
        ar_html_paragraph(page, "Cold cache: calls walk through %zu bytes of buffers.",
                          results->rotate_bytes);
    ar_html_code(page, command);
}

static bool
has_place(const struct ar_results *results, enum ar_place place)
{
    for (size_t i = 0; i < results->n; i++)
        if (results->rows[i].place == place)
            return true;
    return false;
}

static int
put_place(struct ar_html *page, const struct ar_results *results, enum ar_place place)
{
    char heading[64];
    snprintf(heading, sizeof heading, "Fastest, %s", place_words(place));
    ar_html_heading(page, heading);
    put_fastest(page, results, place);
    const int status = put_plots(page, results, place);
    snprintf(heading, sizeof heading, "All numbers, %s", place_words(place));
    ar_html_heading(page, heading);
    put_all(page, results, place);
    return status;
}

int
ar_results_page(const struct ar_results *results, const char *path, const char *command)
{
    char title[128];
    struct ar_html page;
    snprintf(title, sizeof title, "allreduce: %s of %s on %d ranks", results->op, results->type,
             results->nranks);
    int status = ar_html_open(&page, path, title);
    if (status)
        return status;
    put_preface(&page, results, command);
    for (int place = AR_OUT_OF_PLACE; place <= AR_IN_PLACE && !status; place++)
        if (has_place(results, (enum ar_place)place))
            status = put_place(&page, results, (enum ar_place)place);
    ar_html_paragraph(&page,
                      "Error: the largest difference from a reference with twice the digits, "
                      "relative to the largest element; from native: the same from what the MPI "
                      "library's own allreduce gave.");
    const int closed = ar_html_close(&page);
    return status ? status : closed;
}
