/* The results of a bench as a page. */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/html.h"
#include "helper/bench.h"
#include "report/clock.h"
#include "select/select.h"

/* --- plots --- */

static const struct {
    const char *title;
    const char *y_title;
    const char *caption;
} plots[] = {
    {"Time", "us per call", "Median time of a call on the slowest rank. Lower is better."},
    {"Speed-up", "times faster than native",
     "Native's median divided by the algorithm's, from the same run. Above 1, the algorithm is "
     "faster than the MPI library's own allreduce."},
    {"Bandwidth against the bound", "bus bandwidth, GB/s",
     "The bytes of the message times 2(p-1)/p, divided by the time: what each rank must at least "
     "send and receive of a long message. Exchange: each rank does just that, with its neighbours, "
     "and reduces nothing. Bound: the best of exchange over all sizes. Shared memory, which moves "
     "no messages, may exceed it."},
};

enum { BANDWIDTH = 2, NPLOTS = sizeof plots / sizeof plots[0] };

/* The best that exchange came to in one place, in GB/s; 0 where it was not measured. */
static double
bound_gbs(const struct ar_results *results, enum ar_place place)
{
    double best = 0;
    for (size_t i = 0; i < results->n; i++)
        if (results->rows[i].place == place && results->rows[i].kind == AR_MEASURED_EXCHANGE)
            best = fmax(best, results->rows[i].bus_gbs);
    return best;
}

static void
put_plots(struct ar_html *page, const struct ar_results *results, enum ar_place place)
{
    const double bound = bound_gbs(results, place);
    for (int k = 0; k < NPLOTS; k++) {
        char title[64];
        struct ar_plot plot = {.title = title, .y_title = plots[k].y_title};
        snprintf(title, sizeof title, "%s, %s", plots[k].title, ar_place_words(place));
        for (size_t i = 0; i < results->n; i++) {
            const struct ar_result *const row = &results->rows[i];
            const bool expected = row->kind == AR_MEASURED_EXCHANGE;
            const double values[] = {row->outcome.us.median, row->times_native, row->bus_gbs};
            if (row->place == place)
                ar_plot_add(&plot, row->label, expected ? AR_PLOT_DASHED : AR_PLOT_MARKED,
                            (double)row->bytes, values[k]);
        }
        for (size_t i = 0; i < results->n && k == BANDWIDTH; i++)
            if (results->rows[i].place == place)
                ar_plot_add(&plot, "bound", AR_PLOT_DASHED, (double)results->rows[i].bytes, bound);
        ar_plot_put(page, &plot, plots[k].caption);
    }
}

/* --- tables --- */

static void
put_number(struct ar_html *page, double x)
{
    char text[AR_NUMBER_TEXT];
    ar_html_cell(page, "%s", ar_number_print(x, text, sizeof text));
}

static void
put_rate(struct ar_html *page, double gbytes)
{
    char text[AR_NUMBER_TEXT];
    ar_html_cell(page, "%s", ar_rate_print(gbytes, text, sizeof text));
}

static void
put_spread(struct ar_html *page, double spread)
{
    char text[AR_NUMBER_TEXT];
    ar_percent_print(spread, text, sizeof text);
    if (spread > AR_SPREAD_WIDE)
        ar_html_cell_alarm(page, "%s %%", text);
    else if (isnan(spread))
        ar_html_cell(page, "-");
    else
        ar_html_cell(page, "%s %%", text);
}

static void
put_interval(struct ar_html *page, const struct ar_estimate *us)
{
    char text[AR_INTERVAL_TEXT];
    ar_html_cell(page, "%s", ar_interval_print(us->low, us->high, text, sizeof text));
}

/* How many rows tie with the fastest, which is row i. */
static void
put_ties(struct ar_html *page, const struct ar_results *results, size_t i)
{
    const struct ar_result *const rows = results->rows;
    size_t ties = 0;
    for (size_t k = 0; k < results->n; k++)
        ties += rows[k].bytes == rows[i].bytes && rows[k].place == rows[i].place &&
                ar_results_order(results, k) == AR_RESULT_TIE;
    if (ar_results_order(results, i) == AR_RESULT_FASTEST)
        ar_html_cell(page, "%zu", ties);
    else
        ar_html_cell(page, "-");
}

/* A line for each size: who was fastest. */
static void
put_fastest(struct ar_html *page, const struct ar_results *results, enum ar_place place)
{
    const double bound = bound_gbs(results, place);
    ar_html_table_begin(page, ">bytes|fastest|>us|>95 %|>native, us|>x native|"
                              ">busbw|>of the bound|>ties");
    for (size_t i = 0; i < results->n; i++) {
        const struct ar_result *const row = &results->rows[i];
        if (row->place != place || ar_results_fastest(results, i) != i)
            continue;
        char size[AR_SIZE_TEXT];
        ar_html_cell(page, "%s", ar_size_print(row->bytes, size, sizeof size));
        if (!ar_result_is_as_named(row))
            ar_html_cell(page, "%s: %s", row->label, row->outcome.ran);
        else
            ar_html_cell(page, "%s", row->label);
        put_number(page, row->outcome.us.median);
        put_interval(page, &row->outcome.us);
        put_number(page, row->outcome.us.median * row->times_native);
        put_number(page, row->times_native);
        put_rate(page, row->bus_gbs);
        if (bound > 0)
            ar_html_cell_bar(page, row->bus_gbs / bound, "%s %%",
                             ar_percent_print(row->bus_gbs / bound, size, sizeof size));
        else
            ar_html_cell(page, "-");
        put_ties(page, results, i);
    }
    ar_html_table_end(page);
}

static void
put_all(struct ar_html *page, const struct ar_results *results, enum ar_place place)
{
    ar_html_table_begin(page, ">bytes|algorithm|ran|>median, us|>95 %|>min|>avg|>max|>spread|"
                              ">x native|>algbw|>busbw|>error|>from native");
    for (size_t i = 0; i < results->n; i++) {
        const struct ar_result *const row = &results->rows[i];
        char size[AR_SIZE_TEXT], error[AR_NUMBER_TEXT];
        if (row->place != place)
            continue;
        ar_html_cell(page, "%s", ar_size_print(row->bytes, size, sizeof size));
        ar_html_cell(page, "%s", row->label);
        ar_html_cell(page, "%s", ar_result_is_as_named(row) ? "" : row->outcome.ran);
        put_number(page, row->outcome.us.median);
        put_interval(page, &row->outcome.us);
        put_number(page, row->outcome.least_us);
        put_number(page, row->outcome.average_us);
        put_number(page, row->outcome.most_us);
        put_spread(page, row->outcome.us.spread);
        put_number(page, row->times_native);
        put_rate(page, row->algorithm_gbs);
        put_rate(page, row->bus_gbs);
        if (row->kind == AR_MEASURED_EXCHANGE)
            ar_html_cell(page, "-");
        else if (row->outcome.wrong)
            ar_html_cell_alarm(page, "wrong result");
        else
            ar_html_cell(page, "%s", ar_error_print(row->outcome.error, error, sizeof error));
        if (row->kind == AR_MEASURED_EXCHANGE)
            ar_html_cell(page, "-");
        else
            ar_html_cell(page, "%s", ar_error_print(row->outcome.from_native, error, sizeof error));
    }
    ar_html_table_end(page);
}

/* --- the page --- */

/* How it was measured. */
static void
put_preface(struct ar_html *page, const struct ar_results *results, const char *command)
{
    ar_html_paragraph(page,
                      "%d rank%s on %d CPU%s (of the first rank). Every algorithm was timed in "
                      "turn in each of %d batch%s. Times are those of the slowest rank.",
                      results->nranks, ar_plural((size_t)results->nranks), results->cpus,
                      ar_plural((size_t)results->cpus), results->bench->repetitions,
                      results->bench->repetitions == 1 ? "" : "es");
    if (results->places->text) {
        char text[AR_NODE_PLACES_TEXT];
        ar_html_paragraph(page, "%s.", ar_node_places_describe(results->places, text));
    }
    if (results->incomplete)
        ar_html_paragraph(page, "Incomplete: %s.", results->incomplete);
    if (results->bench->rotate_bytes > 0)
        ar_html_paragraph(page, "Cold cache: calls rotate through %zu bytes of buffers.",
                          results->bench->rotate_bytes);
    if (results->bench->fresh)
        ar_html_paragraph(page, "Fresh data: each rank writes its input before each call and reads "
                                "its result after it. The times are those of the calls alone.");
    ar_html_code(page, command);
}

/* Says for how many sizes an algorithm beats the MPI library's own, and what the largest gain
 * is. */
static void
put_verdict(struct ar_html *page, const struct ar_results *results)
{
    size_t sizes = 0, beaten = 0, best = results->n;
    for (size_t i = 0; i < results->n; i++) {
        const struct ar_result *const row = &results->rows[i];
        const size_t first = ar_results_fastest(results, i);
        if (row->kind != AR_MEASURED_NATIVE)
            continue;
        sizes++;
        if (ar_results_order(results, i) != AR_RESULT_SLOWER)
            continue;
        beaten++;
        if (best == results->n ||
            results->rows[first].times_native > results->rows[best].times_native)
            best = first;
    }
    char times[AR_NUMBER_TEXT], size[AR_SIZE_TEXT];
    if (beaten > 0)
        ar_html_verdict(
            page,
            "At %zu of %zu size%s something is faster than native, the MPI library's own "
            "allreduce, by more than the noise: at most %s times, by %s on %s bytes.",
            beaten, sizes, ar_plural(sizes),
            ar_number_print(results->rows[best].times_native, times, sizeof times),
            results->rows[best].label, ar_size_print(results->rows[best].bytes, size, sizeof size));
    else if (sizes > 0)
        ar_html_verdict(page,
                        "At none of %zu size%s anything is known to be faster than native, the MPI "
                        "library's own allreduce.",
                        sizes, ar_plural(sizes));
}

static void
put_body(struct ar_html *page, const struct ar_results *results)
{
    char text[64];
    for (enum ar_place place = AR_OUT_OF_PLACE; place <= AR_IN_PLACE; place++) {
        bool measured = false;
        for (size_t i = 0; i < results->n; i++)
            measured |= results->rows[i].place == place;
        if (!measured)
            continue;
        snprintf(text, sizeof text, "Fastest, %s", ar_place_words(place));
        ar_html_heading(page, text);
        put_fastest(page, results, place);
        put_plots(page, results, place);
        snprintf(text, sizeof text, "All numbers, %s", ar_place_words(place));
        ar_html_heading(page, text);
        put_all(page, results, place);
    }
    ar_html_paragraph(
        page,
        "95 %%: the median lies between these times with a probability of 95 %%, by order "
        "statistics, which need %d batches. Ties: rows whose interval overlaps with that of the "
        "fastest. Spread: half the distance between the quartiles of the batches, relative to the "
        "median; a single batch has none. Error: the largest difference from a reduction in long "
        "double, relative to its largest element. From native: the same difference from the result "
        "of the MPI library's own allreduce.",
        AR_INTERVAL_LEAST);
}

int
ar_results_page(const struct ar_results *results, const char *path, const char *command)
{
    char title[512], day[AR_DATE_TEXT];
    struct ar_html page;
    snprintf(title, sizeof title, "allreduce: %s of %s on %d rank%s, %s, %s, %s", results->op,
             results->type, results->nranks, ar_plural((size_t)results->nranks), results->mpi,
             results->machine, ar_clock_date(day, false));
    const int status = ar_html_open(&page, path, title);
    if (status)
        return status;
    put_verdict(&page, results);
    put_preface(&page, results, command);
    put_body(&page, results);
    return ar_html_close(&page);
}
