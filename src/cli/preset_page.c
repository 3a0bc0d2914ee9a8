/* The page of the preset course: the verdict, one table of all times, plots, the lessons, and every
 * number below. */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "algorithms/card.h"
#include "cli/bench.h"
#include "cli/cli.h"
#include "cli/html.h"
#include "select/select.h"

#define COLUMNS_TEXT 2048 /* room for the titles of a table */

/* One size in one place: rows in the order of preset.c. */
struct table {
    const struct ar_results *results;
    const struct ar_result *rows;
    size_t first; /* of the results' rows */
};

static size_t
rows_of_table(void)
{
    const struct ar_preset_line last = ar_preset_line_at(ar_preset_nlines() - 1);
    return last.first + last.n;
}

static size_t
ntables(const struct ar_results *results)
{
    return results->n / rows_of_table();
}

static struct table
table_at(const struct ar_results *results, size_t i)
{
    const size_t first = i * rows_of_table();
    return (struct table){results, &results->rows[first], first};
}

/* The table's row where this line is fastest. */
static size_t
best_of(const struct table *t, const struct ar_preset_line *line)
{
    size_t best = line->first;
    for (size_t k = 1; k < line->n; k++)
        if (t->rows[line->first + k].outcome.us.median < t->rows[best].outcome.us.median)
            best = line->first + k;
    return best;
}

static size_t
slices_of(const struct table *t, const struct ar_preset_line *line, size_t row)
{
    return ar_preset_slices(row - line->first, t->results->nranks);
}

/* "8M elements, in place" */
static void
add_where(struct ar_text *text, const struct ar_result *row)
{
    char elements[AR_SIZE_TEXT];
    ar_text_add(text, "%s elements, %s", ar_size_print(row->count, elements, sizeof elements),
                ar_place_words(row->place));
}

/* --- the verdict --- */

static const char *
how_sure(const struct ar_estimate *ours, const struct ar_estimate *native)
{
    if (!ar_estimates_are_sure(ours, native))
        return " There were too few batches to say how certain this is.";
    return ar_estimates_tie(ours, native) ? " Their intervals overlap, so this may be chance." : "";
}

static void
put_verdict(struct ar_html *page, const struct table *t)
{
    struct ar_preset_line fastest = ar_preset_line_at(0);
    size_t best = 0;
    char text[160], ms[AR_NUMBER_TEXT], times[AR_NUMBER_TEXT];
    struct ar_text where;
    for (size_t i = 0; i < ar_preset_nlines(); i++) {
        const struct ar_preset_line line = ar_preset_line_at(i);
        const size_t row = best_of(t, &line);
        if (line.begin &&
            (!fastest.begin || t->rows[row].outcome.us.median < t->rows[best].outcome.us.median)) {
            fastest = line;
            best = row;
        }
    }
    const struct ar_result *const row = &t->rows[best];
    const bool is_faster = row->times_native >= 1;
    ar_text_init(&where, text, sizeof text);
    add_where(&where, row);
    ar_html_verdict(
        page,
        "%s: the fastest algorithm is %s in %zu slices%s: %s per call, %s times as %s as the MPI "
        "library's MPI_Allreduce.%s",
        text, fastest.name, slices_of(t, &fastest, best),
        fastest.is_pipelined ? ", pipelined" : ", one after another",
        ar_time_print(row->outcome.us.median * 1e3, ms, sizeof ms),
        ar_number_print(is_faster ? row->times_native : 1 / row->times_native, times, sizeof times),
        is_faster ? "fast" : "slow", how_sure(&row->outcome.us, &t->rows[0].outcome.us));
}

/* Of the longest message in each place. */
static void
put_verdicts(struct ar_html *page, const struct ar_results *results)
{
    const size_t n = ntables(results);
    for (size_t i = 0; i < n; i++) {
        const struct table t = table_at(results, i);
        bool is_last = true;
        for (size_t k = i + 1; k < n; k++)
            is_last &= table_at(results, k).rows->place != t.rows->place;
        if (is_last)
            put_verdict(page, &t);
    }
}

/* --- the main table --- */

static void
put_name(struct ar_html *page, const struct ar_preset_line *line)
{
    ar_html_cell(page, "%s%s", line->name, line->is_pipelined ? ", pipelined" : "");
}

static void
put_times(struct ar_html *page, const struct ar_results *results)
{
    char titles[COLUMNS_TEXT];
    struct ar_text columns;
    ar_text_init(&columns, titles, sizeof titles);
    ar_text_add(&columns, " ");
    for (size_t i = 0; i < ntables(results); i++) {
        const struct ar_result *const row = table_at(results, i).rows;
        char elements[AR_SIZE_TEXT];
        ar_text_add(&columns, "|>%s, %s", ar_size_print(row->count, elements, sizeof elements),
                    ar_place_name(row->place));
    }
    ar_html_table_begin(page, titles);
    for (size_t i = 0; i < ar_preset_nlines(); i++) {
        const struct ar_preset_line line = ar_preset_line_at(i);
        put_name(page, &line);
        for (size_t k = 0; k < ntables(results); k++) {
            const struct table t = table_at(results, k);
            const size_t best = best_of(&t, &line);
            const double us = t.rows[best].outcome.us.median;
            double longest = 0;
            char ms[AR_NUMBER_TEXT], slices[32] = "";
            for (size_t row = 0; row < rows_of_table(); row++)
                longest = fmax(longest, t.rows[row].outcome.us.median);
            if (line.n > 1)
                snprintf(slices, sizeof slices, ", N=%zu", slices_of(&t, &line, best));
            ar_html_cell_bar(page, us / longest, "%c %s%s",
                             ar_results_mark(results, t.first + best),
                             ar_time_print(us * 1e3, ms, sizeof ms), slices);
        }
    }
    ar_html_table_end(page);
}

/* --- plots --- */

/* By size: each algorithm at its best. */
static void
plot_sizes(struct ar_html *page, const struct ar_results *results, enum ar_place place)
{
    struct ar_plot plot = {.title = "", .y_title = "ms a call"};
    for (size_t i = 0; i < ntables(results); i++) {
        const struct table t = table_at(results, i);
        for (size_t k = 0; k < ar_preset_nlines() && t.rows->place == place; k++) {
            struct ar_preset_line line = ar_preset_line_at(k);
            if (line.is_pipelined)
                continue;
            if (line.begin) /* the pipelined line is the next */
                line.n += ar_preset_line_at(k + 1).n;
            const struct ar_result *const row = &t.rows[best_of(&t, &line)];
            ar_plot_add(&plot, line.name, line.begin ? AR_PLOT_MARKED : AR_PLOT_DASHED,
                        (double)row->bytes, row->outcome.us.median * 1e-3);
        }
    }
    ar_plot_put(page, &plot,
                "By size, with the best number of slices of each algorithm, pipelined or not.");
}

/* By the number of slices: one form of all algorithms, with the baselines. */
static void
plot_slices(struct ar_html *page, const struct table *t, bool is_pipelined)
{
    struct ar_plot plot = {.title = "", .x_title = "slices N", .y_title = "ms a call"};
    char text[160], caption[256];
    struct ar_text where;
    for (size_t i = 0; i < ar_preset_nlines(); i++) {
        const struct ar_preset_line line = ar_preset_line_at(i);
        if (line.begin && line.is_pipelined != is_pipelined)
            continue;
        for (size_t k = 0; k < AR_PRESET_COLUMNS; k++)
            ar_plot_add(&plot, line.name, line.begin ? AR_PLOT_MARKED : AR_PLOT_DASHED,
                        (double)ar_preset_slices(k, t->results->nranks),
                        t->rows[line.first + (line.begin ? k : 0)].outcome.us.median * 1e-3);
    }
    ar_text_init(&where, text, sizeof text);
    add_where(&where, t->rows);
    snprintf(caption, sizeof caption, "%s, by the number of slices, %s.", text,
             is_pipelined ? "pipelined" : "one after another");
    ar_plot_put(page, &plot, caption);
}

static void
put_plots(struct ar_html *page, const struct ar_results *results)
{
    for (enum ar_place place = AR_OUT_OF_PLACE; place <= AR_IN_PLACE; place++) {
        struct table longest = {.rows = NULL};
        char text[64];
        for (size_t i = 0; i < ntables(results); i++)
            if (table_at(results, i).rows->place == place)
                longest = table_at(results, i);
        if (!longest.rows)
            continue;
        snprintf(text, sizeof text, "Pictures, %s", ar_place_words(place));
        ar_html_heading(page, text);
        plot_sizes(page, results, place);
        plot_slices(page, &longest, false);
        plot_slices(page, &longest, true);
    }
}

/* --- the lessons --- */

/* Rounds, and what the busiest rank sends, of one slice on these ranks. */
static void
put_counts(struct ar_html *page, const struct ar_preset_line *line, int nranks)
{
    char text[128], number[AR_NUMBER_TEXT];
    struct ar_problem problem;
    struct ar_rules *rules = NULL;
    snprintf(text, sizeof text, "%swindow=1)", line->begin ? line->begin : "");
    if (!line->begin || ar_rules_parse(&rules, text, &problem)) {
        ar_html_cell(page, "-");
        ar_html_cell(page, "-");
        return;
    }
    const struct ar_choice *const c = &rules->clauses->choice;
    const double rounds =
        ar_card_value(c->algorithm, AR_CARD_ROUNDS, &c->params, nranks, nranks, NULL);
    const double sent = ar_card_value(c->algorithm, AR_CARD_SENT, &c->params, nranks, nranks, NULL);
    ar_html_cell(page, "%.0f", rounds);
    ar_html_cell(page, "%s n", ar_number_print(sent / nranks, number, sizeof number));
    ar_rules_destroy(rules);
}

static void
put_lessons(struct ar_html *page, const struct ar_results *results)
{
    ar_html_heading(page, "What the rows teach");
    ar_html_table_begin(page, "algorithm|>rounds|>sent|~lesson");
    for (size_t i = 0; i < ar_preset_nlines(); i++) {
        const struct ar_preset_line line = ar_preset_line_at(i);
        if (line.is_pipelined)
            continue;
        ar_html_cell(page, "%s", line.name);
        put_counts(page, &line, results->nranks);
        ar_html_cell(page, "%s", line.lesson);
    }
    ar_html_table_end(page);
    ar_html_paragraph(
        page,
        "For one slice on %d rank%s: the rounds, and how much the busiest rank sends, in vectors "
        "of n elements. `allreduce explain ring -n %d` draws, counts and proves an algorithm. "
        "doc/teaching.md has the formulas, and questions.",
        results->nranks, ar_plural((size_t)results->nranks), results->nranks);
}

/* --- every number --- */

static void
put_row(struct ar_html *page, const struct ar_result *row)
{
    const struct ar_outcome *const o = &row->outcome;
    char text[AR_NUMBER_TEXT];
    if (o->wrong)
        ar_html_cell_alarm(page, "wrong result");
    else
        ar_html_cell(page, "%s", ar_number_print(o->us.median * 1e-3, text, sizeof text));
    ar_html_cell(page, "%s", ar_error_print(o->error, text, sizeof text));
    ar_html_cell(page, "%s", ar_error_print(o->from_native, text, sizeof text));
    ar_html_cell(page, "%s",
                 ar_result_has_extra(row) ? ar_bytes_print(o->extra_bytes, text, sizeof text)
                                          : "-");
}

static void
put_table(struct ar_html *page, const struct table *t)
{
    char text[COLUMNS_TEXT];
    struct ar_text words;
    ar_text_init(&words, text, sizeof text);
    add_where(&words, t->rows);
    if (t->rows->batches < t->results->bench->repetitions)
        ar_text_add(&words, ", %d of %d batches", t->rows->batches, t->results->bench->repetitions);
    ar_html_heading(page, text);
    ar_text_init(&words, text, sizeof text);
    ar_text_add(&words, " ");
    for (size_t k = 0; k < AR_PRESET_COLUMNS; k++)
        ar_text_add(&words, "|>N=%zu, ms|>error|>native|>extra",
                    ar_preset_slices(k, t->results->nranks));
    ar_html_table_begin(page, text);
    for (size_t i = 0; i < ar_preset_nlines(); i++) {
        const struct ar_preset_line line = ar_preset_line_at(i);
        put_name(page, &line);
        for (size_t k = 0; k < AR_PRESET_COLUMNS; k++)
            if (k < line.n)
                put_row(page, &t->rows[line.first + k]);
            else
                for (int cell = 0; cell < 4; cell++)
                    ar_html_cell(page, " ");
    }
    ar_html_table_end(page);
}

void
ar_preset_put(struct ar_html *page, const struct ar_results *results)
{
    if (ntables(results) == 0) {
        ar_html_verdict(page, "No table was measured.");
        put_lessons(page, results);
        return;
    }
    put_verdicts(page, results);
    put_times(page, results);
    ar_html_paragraph(
        page,
        "Columns: number of elements, out of place or in place. Times are those of a call on the "
        "slowest rank: the median of the batches, with the best number of slices N. *: the fastest "
        "of its column. =: its interval overlaps with that of the fastest. ?: it seems to be the "
        "fastest, but there were too few batches (%d are enough). A longer bar is a longer time. "
        "Pipelined: a rank begins a slice as soon as it can; otherwise one slice follows another.",
        AR_INTERVAL_LEAST);
    put_lessons(page, results);
    put_plots(page, results);
    for (size_t i = 0; i < ntables(results); i++) {
        const struct table t = table_at(results, i);
        put_table(page, &t);
    }
    ar_html_paragraph(page,
                      "error: the largest difference from a reduction in long double, relative to "
                      "its largest element. native: the same difference from native's result. "
                      "extra: bytes of scratch memory on the rank that takes most.");
}
