#include "config.h"

#include "helper/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "config/output.h"
#include "report/columns.h"
#include "report/json.h"
#include "select/select.h"

int
ar_results_add(struct ar_results *results, const struct ar_measurement *m,
               const struct ar_workload *work)
{
    const double bus = 2.0 * (results->nranks - 1) / results->nranks;
    struct ar_result *more = realloc(results->rows, (results->n + m->nmeasured) * sizeof *more);
    if (more)
        results->rows = more;
    for (size_t i = 0; more && i < m->nmeasured; i++) {
        const struct ar_measured *const e = &m->measured[i];
        struct ar_result *const row = &results->rows[results->n++];
        const size_t bytes = work->count * m->reduction.size;
        const double rate = (double)bytes / e->outcome.us.median * 1e-3;
        *row = (struct ar_result){.kind = e->kind,
                                  .place = work->place,
                                  .bytes = bytes,
                                  .count = work->count,
                                  .label = strdup(e->label),
                                  .batches = m->batches,
                                  .outcome = e->outcome,
                                  .times_native =
                                      m->measured[0].outcome.us.median / e->outcome.us.median,
                                  .algorithm_gbs = rate,
                                  .bus_gbs = rate * bus};
        if (!row->label)
            more = NULL;
    }
    if (!more)
        ar_say("out of memory");
    return more ? AR_EXIT_DONE : AR_EXIT_FAILED;
}

void
ar_results_fini(struct ar_results *results)
{
    for (size_t i = 0; i < results->n; i++)
        free(results->rows[i].label);
    free(results->rows);
}

/* The fastest of the rows of the same size and place as row i, the exchange left out. */
static size_t
fastest_beside(const struct ar_results *results, size_t i)
{
    const struct ar_result *const rows = results->rows;
    size_t fastest = i;
    for (size_t k = 0; k < results->n; k++)
        if (rows[k].bytes == rows[i].bytes && rows[k].place == rows[i].place &&
            rows[k].kind != AR_MEASURED_EXCHANGE &&
            (rows[fastest].kind == AR_MEASURED_EXCHANGE ||
             rows[k].outcome.us.median < rows[fastest].outcome.us.median))
            fastest = k;
    return fastest;
}

enum ar_result_order
ar_results_order(const struct ar_results *results, size_t i)
{
    const size_t fastest = fastest_beside(results, i);
    const struct ar_estimate *const mine = &results->rows[i].outcome.us;
    const struct ar_estimate *const best = &results->rows[fastest].outcome.us;
    if (results->rows[i].kind == AR_MEASURED_EXCHANGE)
        return AR_RESULT_NONE;
    if (!ar_estimates_are_sure(mine, best))
        return AR_RESULT_UNKNOWN;
    if (i == fastest)
        return AR_RESULT_FASTEST;
    return ar_estimates_tie(mine, best) ? AR_RESULT_TIE : AR_RESULT_SLOWER;
}

/* As a sign behind a number: '*' the fastest, '=' a tie with it, '?' what seems to be the fastest
 * where no interval says so, ' ' any other. */
static char
mark_of(const struct ar_results *results, size_t i)
{
    static const char marks[] = {[AR_RESULT_FASTEST] = '*',
                                 [AR_RESULT_TIE] = '=',
                                 [AR_RESULT_SLOWER] = ' ',
                                 [AR_RESULT_UNKNOWN] = '?',
                                 [AR_RESULT_NONE] = ' '};
    const enum ar_result_order order = ar_results_order(results, i);
    const bool is_behind = order == AR_RESULT_UNKNOWN && fastest_beside(results, i) != i;
    return is_behind ? ' ' : marks[order];
}

void
ar_results_warn(const struct ar_results *results)
{
    size_t wide = 0, widest = 0;
    char size[AR_SIZE_TEXT], most[AR_NUMBER_TEXT];
    for (size_t i = 0; i < results->n; i++) {
        const double spread = results->rows[i].outcome.us.spread;
        if (spread > AR_SPREAD_WIDE &&
            (wide++ == 0 || spread > results->rows[widest].outcome.us.spread))
            widest = i;
    }
    if (wide > 0)
        ar_cli_warn("bench",
                    "in %zu of %zu rows the spread of the batches is above %.0f %%, at most %s %% "
                    "(%s, %s)",
                    wide, results->n, AR_SPREAD_WIDE * 100,
                    ar_percent_print(results->rows[widest].outcome.us.spread, most, sizeof most),
                    results->rows[widest].label,
                    ar_size_print(results->rows[widest].bytes, size, sizeof size));
}

/* Did an algorithm run just as it was named?  Else ran and reason are worth telling. */
static bool
is_as_named(const struct ar_result *row)
{
    return row->kind != AR_MEASURED_OURS || strcmp(row->outcome.reason, ar_reason_named) == 0;
}

const char *
ar_place_words(enum ar_place place)
{
    return place == AR_IN_PLACE ? "in place" : "out of place";
}

/* --- tables --- */

/* The distance of two results as people read it: "3.1e-07", "0"; returns text. */
static char *
print_error(double error, char *text, size_t room)
{
    snprintf(text, room, error > 0 ? "%.1e" : "%.0f", error);
    return text;
}

/* What is to be said behind a row, with two spaces before each. */
static void
add_notes(struct ar_text *t, const struct ar_results *results, const struct ar_result *row)
{
    const struct ar_outcome *const o = &row->outcome;
    char spread[AR_NUMBER_TEXT];
    if (o->us.spread > AR_SPREAD_WIDE)
        ar_text_add(t, "  spread %s %%", ar_percent_print(o->us.spread, spread, sizeof spread));
    if (!is_as_named(row))
        ar_text_add(t, "  ran %s: %s", o->ran, o->reason);
    if (row->batches < results->bench->repetitions)
        ar_text_add(t, "  %d of %d batches", row->batches, results->bench->repetitions);
    ar_text_add(t, o->wrong ? "  WRONG RESULT" : "");
}

static const char *
order_name(enum ar_result_order order)
{
    static const char *const names[] = {[AR_RESULT_FASTEST] = "fastest",
                                        [AR_RESULT_TIE] = "tie",
                                        [AR_RESULT_SLOWER] = "slower",
                                        [AR_RESULT_UNKNOWN] = "unknown"};
    return order == AR_RESULT_NONE ? NULL : names[order];
}

static void
state_row(struct ar_columns *c, const void *table, size_t i)
{
    const struct ar_results *const results = table;
    const struct ar_result *const row = &results->rows[i];
    const struct ar_outcome *const o = &row->outcome;
    const bool judged = row->kind != AR_MEASURED_EXCHANGE;
    const bool has_extra = row->kind == AR_MEASURED_OURS && !isnan(o->extra_bytes);
    char size[AR_SIZE_TEXT], times[AR_NUMBER_TEXT + 1], error[AR_NUMBER_TEXT], notes[1024];
    struct ar_text t;
    ar_text_init(&t, notes, sizeof notes);
    add_notes(&t, results, row);
    ar_number_print(row->times_native, error, sizeof error);
    snprintf(times, sizeof times, "%s%c", error, mark_of(results, i));
    ar_column_count(c, "ranks", AR_NUMBER, NULL, (uint64_t)results->nranks);
    ar_column_count(c, "bytes", AR_BYTES, NULL, row->bytes);
    ar_column_shown(c, "size", "    size", ar_size_print(row->bytes, size, sizeof size));
    ar_column_text(c, "algorithm", "algorithm", row->label);
    ar_column_real(c, "median_us", AR_US, "    median", o->us.median);
    ar_column_real(c, "min_us", AR_US, "       min", o->least_us);
    ar_column_real(c, "max_us", AR_US, "       max", o->most_us);
    ar_column_real(c, "times_native", AR_NUMBER, NULL, row->times_native);
    ar_column_shown(c, "times", " x native", times);
    ar_column_text(c, "result", NULL, !judged ? NULL : o->wrong ? "wrong" : "right");
    ar_column_real(c, "avg_us", AR_US, "       avg", o->average_us);
    ar_column_real(c, "algbw_gbs", AR_GBS, "    algbw", row->algorithm_gbs);
    ar_column_real(c, "busbw_gbs", AR_GBS, "    busbw", row->bus_gbs);
    ar_column_real(c, "error", AR_NUMBER, NULL, judged ? o->error : NAN);
    ar_column_shown(c, "distance", "   error",
                    judged ? print_error(o->error, error, sizeof error) : "-");
    ar_column_real(c, "from_native", AR_NUMBER, NULL, judged ? o->from_native : NAN);
    ar_column_text(c, "place", "place", row->place == AR_IN_PLACE ? "in" : "out");
    ar_column_text(c, "type", NULL, results->type);
    ar_column_text(c, "op", NULL, results->op);
    ar_column_count(c, "count", AR_NUMBER, NULL, row->count);
    ar_column_count(c, "rotate_bytes", AR_BYTES, NULL, results->bench->rotate_bytes);
    ar_column_text(c, "ran", NULL, o->ran);
    ar_column_text(c, "reason", NULL, o->reason);
    ar_column_words(c, "notes", "", t.length > 0 ? notes + 2 : "");
    ar_column_count(c, "batches", AR_NUMBER, NULL, (uint64_t)row->batches);
    ar_column_count(c, "extra_bytes", AR_BYTES, NULL,
                    has_extra ? (uint64_t)o->extra_bytes : AR_UNKNOWN);
    ar_column_text(c, "nodes", NULL, results->places->text);
    ar_column_text(c, "nodes_are", NULL, ar_node_places_are(results->places));
    ar_column_real(c, "turn_us", AR_US, "      turn", o->turn_us);
    ar_column_real(c, "median_low_us", AR_US, "      from", o->us.low);
    ar_column_real(c, "median_high_us", AR_US, "        to", o->us.high);
    ar_column_real(c, "spread", AR_NUMBER, NULL, o->us.spread);
    ar_column_text(c, "order", NULL, order_name(ar_results_order(results, i)));
}

/* What the options say of the ranks and of their buffers. */
static void
print_conditions(FILE *to, const struct ar_results *results)
{
    const struct ar_bench *const bench = results->bench;
    char text[AR_NODE_PLACES_TEXT], size[AR_SIZE_TEXT];
    fprintf(to,
            "%s %s, %d rank%s on %d cpu%s, %d batch%s; us per call of the slowest rank; from, to: "
            "95 %% interval of the median\n",
            results->type, results->op, results->nranks, ar_plural((size_t)results->nranks),
            results->cpus, ar_plural((size_t)results->cpus), bench->repetitions,
            bench->repetitions == 1 ? "" : "es");
    if (results->places->text)
        fprintf(to, "%s\n", ar_node_places_describe(results->places, text));
    if (bench->rotate_bytes > 0)
        fprintf(to, "cold cache: calls rotate through %s of buffers\n",
                ar_size_print(bench->rotate_bytes, size, sizeof size));
    if (bench->fresh)
        fprintf(
            to,
            "fresh data: each rank writes its input before each call and reads its result after "
            "it; turn: the time of all of that\n");
}

void
ar_results_print(FILE *to, const struct ar_results *results, enum ar_columns_format format,
                 size_t first)
{
    static struct ar_result none;
    const struct ar_bench *const bench = results->bench;
    struct ar_results table = *results;
    char view[200];
    snprintf(view, sizeof view,
             "size%s algorithm median_us median_low_us median_high_us min_us avg_us max_us%s times "
             "algbw_gbs busbw_gbs distance notes",
             bench->places == (AR_PLACES_OUT | AR_PLACES_IN) ? " place" : "",
             bench->fresh ? " turn_us" : "");
    if (results->n == 0)
        table.rows = &none; /* for the head alone */
    if (format == AR_COLUMNS_TEXT && first == 0)
        print_conditions(to, results);
    ar_columns_write((struct ar_columns){.to = to,
                                         .format = format,
                                         .row = state_row,
                                         .table = &table,
                                         .first = first,
                                         .n = results->n,
                                         .view = view});
    fflush(to);
}

static void
write_warnings(FILE *to)
{
    struct ar_json json = {.to = to};
    ar_json_begin(&json, NULL, '[');
    for (size_t i = 0; ar_cli_warning(i); i++)
        ar_json_put_text(&json, NULL, ar_cli_warning(i));
    ar_json_end(&json, ']');
}

static void
state_run(struct ar_columns *c, const void *table, size_t i)
{
    const struct ar_results *const results = table;
    (void)i;
    ar_column_count(c, "format", AR_NUMBER, NULL, 1);
    ar_column_count(c, "ranks", AR_NUMBER, NULL, (uint64_t)results->nranks);
    ar_column_count(c, "cpus", AR_NUMBER, NULL, (uint64_t)results->cpus);
    ar_column_text(c, "mpi", NULL, results->mpi);
    ar_column_text(c, "type", NULL, results->type);
    ar_column_text(c, "op", NULL, results->op);
    ar_column_count(c, "repetitions", AR_NUMBER, NULL, (uint64_t)results->bench->repetitions);
    ar_column_count(c, "rotate_bytes", AR_BYTES, NULL, results->bench->rotate_bytes);
    ar_column_flag(c, "fresh", results->bench->fresh);
    ar_column_text(c, "nodes", NULL, results->places->text);
    ar_column_text(c, "nodes_are", NULL, ar_node_places_are(results->places));
    ar_column_flag(c, "complete", !results->incomplete);
    write_warnings(ar_column_json(c, "warnings"));
    ar_columns_write((struct ar_columns){.to = ar_column_json(c, "results"),
                                         .format = AR_COLUMNS_JSON,
                                         .row = state_row,
                                         .table = results,
                                         .n = results->n});
}

void
ar_results_write_json(FILE *to, const struct ar_results *results)
{
    ar_columns_write((struct ar_columns){
        .to = to, .format = AR_COLUMNS_JSON_LINES, .row = state_run, .table = results, .n = 1});
}

int
ar_results_save(const struct ar_results *results)
{
    const struct ar_bench *const bench = results->bench;
    struct ar_output output;
    int error = ar_output_begin(&output, bench->output);
    if (!error) {
        if (bench->format == AR_COLUMNS_JSON)
            ar_results_write_json(output.file, results);
        else
            ar_results_print(output.file, results, bench->format, 0);
        error = ar_output_end(&output);
    }
    if (error)
        fprintf(stderr, "allreduce bench: cannot write %s: %s\n", bench->output, strerror(error));
    return error ? AR_EXIT_FAILED : AR_EXIT_DONE;
}
