#include "config.h"

#include "helper/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
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

size_t
ar_results_fastest(const struct ar_results *results, size_t i)
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
    const size_t fastest = ar_results_fastest(results, i);
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
    switch (ar_results_order(results, i)) {
    case AR_RESULT_FASTEST:
        return '*';
    case AR_RESULT_TIE:
        return '=';
    case AR_RESULT_UNKNOWN:
        return ar_results_fastest(results, i) == i ? '?' : ' ';
    default:
        return ' ';
    }
}

const char *
ar_result_order_name(enum ar_result_order order)
{
    static const char *const names[] = {[AR_RESULT_FASTEST] = "fastest",
                                        [AR_RESULT_TIE] = "tie",
                                        [AR_RESULT_SLOWER] = "slower",
                                        [AR_RESULT_UNKNOWN] = "unknown",
                                        [AR_RESULT_NONE] = ""};
    return names[order];
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
        fprintf(stderr,
                "allreduce bench: warning: in %zu of %zu rows the spread of the batches is above "
                "%.0f %%, at most %s %% (%s, %s)\n",
                wide, results->n, AR_SPREAD_WIDE * 100,
                ar_percent_print(results->rows[widest].outcome.us.spread, most, sizeof most),
                results->rows[widest].label,
                ar_size_print(results->rows[widest].bytes, size, sizeof size));
}

bool
ar_result_is_as_named(const struct ar_result *row)
{
    return row->kind != AR_MEASURED_OURS || strcmp(row->outcome.reason, ar_reason_named) == 0;
}

const char *
ar_place_words(enum ar_place place)
{
    return place == AR_IN_PLACE ? "in place" : "out of place";
}

const char *
ar_place_name(enum ar_place place)
{
    return place == AR_IN_PLACE ? "in" : "out";
}

bool
ar_result_has_extra(const struct ar_result *row)
{
    return row->kind == AR_MEASURED_OURS && !isnan(row->outcome.extra_bytes);
}

/* --- text --- */

#define RATE_WIDTH 9 /* of "12.3 GB/s" */

char *
ar_error_print(double error, char *text, size_t room)
{
    snprintf(text, room, error > 0 ? "%.1e" : "%.0f", error);
    return text;
}

static void
print_number(int width, double x)
{
    char text[AR_NUMBER_TEXT];
    printf(" %*s", width, ar_number_print(x, text, sizeof text));
}

static void
print_rate(double gbytes)
{
    char text[AR_NUMBER_TEXT];
    printf(" %*s", RATE_WIDTH, ar_rate_print(gbytes, text, sizeof text));
}

/* Prints a line for each option that says where the ranks are and how they use their buffers. */
static void
print_conditions(const struct ar_results *results)
{
    const struct ar_bench *const bench = results->bench;
    char text[AR_NODE_PLACES_TEXT], size[AR_SIZE_TEXT];
    if (results->places->text)
        printf("%s\n", ar_node_places_describe(results->places, text));
    if (bench->rotate_bytes > 0)
        printf("cold cache: calls rotate through %s of buffers\n",
               ar_size_print(bench->rotate_bytes, size, sizeof size));
    if (bench->fresh)
        printf("fresh data: each rank writes its input before each call and reads its result after "
               "it; turn: the time of all of that\n");
}

void
ar_results_print_text(const struct ar_results *results, size_t first)
{
    const struct ar_bench *const bench = results->bench;
    const bool places_differ = bench->places == (AR_PLACES_OUT | AR_PLACES_IN);
    char size[AR_SIZE_TEXT];
    size_t letters = strlen("algorithm");
    for (size_t i = 0; i < results->n; i++)
        letters =
            strlen(results->rows[i].label) > letters ? strlen(results->rows[i].label) : letters;
    const int width = (int)letters;
    if (first == 0) {
        printf("%s %s, %d rank%s on %d cpu%s, %d batch%s; us per call of the slowest rank; from, "
               "to: 95 %% interval of the median\n",
               results->type, results->op, results->nranks, ar_plural((size_t)results->nranks),
               results->cpus, ar_plural((size_t)results->cpus), bench->repetitions,
               bench->repetitions == 1 ? "" : "es");
        print_conditions(results);
        printf("%8s  %s%-*s %10s %10s %10s %10s %10s %10s%s %9s %*s %*s %8s\n", "size",
               places_differ ? "place  " : "", width, "algorithm", "median", "from", "to", "min",
               "avg", "max", bench->fresh ? "       turn" : "", "x native", RATE_WIDTH, "algbw",
               RATE_WIDTH, "busbw", "error");
    }
    for (size_t i = first; i < results->n; i++) {
        const struct ar_result *const row = &results->rows[i];
        const struct ar_outcome *const o = &row->outcome;
        char error[AR_NUMBER_TEXT];
        printf("%8s  ", ar_size_print(row->bytes, size, sizeof size));
        if (places_differ)
            printf("%-5s  ", ar_place_name(row->place));
        printf("%-*s", width, row->label);
        print_number(10, o->us.median);
        print_number(10, o->us.low);
        print_number(10, o->us.high);
        print_number(10, o->least_us);
        print_number(10, o->average_us);
        print_number(10, o->most_us);
        if (bench->fresh)
            print_number(10, o->turn_us);
        print_number(8, row->times_native);
        putchar(mark_of(results, i));
        print_rate(row->algorithm_gbs);
        print_rate(row->bus_gbs);
        if (row->kind == AR_MEASURED_EXCHANGE)
            printf(" %8s", "-");
        else
            printf(" %8s", ar_error_print(o->error, error, sizeof error));
        if (o->us.spread > AR_SPREAD_WIDE)
            printf("  spread %s %%", ar_percent_print(o->us.spread, error, sizeof error));
        if (!ar_result_is_as_named(row))
            printf("  ran %s: %s", o->ran, o->reason);
        if (row->batches < bench->repetitions)
            printf("  %d of %d batches", row->batches, bench->repetitions);
        printf(o->wrong ? "  WRONG RESULT\n" : "\n");
    }
    fflush(stdout);
}

/* --- comma-separated values --- */

/* Empty where there is none. */
static void
print_csv_interval(const struct ar_estimate *us)
{
    if (isnan(us->low))
        printf(",,");
    else
        printf(",%.9g,%.9g", us->low, us->high);
}

void
ar_results_print_csv(const struct ar_results *results, size_t first)
{
    const struct ar_bench *const bench = results->bench;
    if (first == 0)
        printf("ranks,bytes,algorithm,median_us,min_us,max_us,times_native,result,"
               "avg_us,algbw_gbs,busbw_gbs,error,from_native,place,type,op,count,rotate_bytes,ran,"
               "reason,batches,extra_bytes,nodes,nodes_are,turn_us,"
               "median_low_us,median_high_us,spread,order\n");
    for (size_t i = first; i < results->n; i++) {
        const struct ar_result *const row = &results->rows[i];
        const struct ar_outcome *const o = &row->outcome;
        printf("%d,%zu,", results->nranks, row->bytes);
        ar_cli_print_csv(row->label);
        printf(",%.9g,%.9g,%.9g,%.9g,%s", o->us.median, o->least_us, o->most_us, row->times_native,
               row->kind == AR_MEASURED_EXCHANGE ? ""
               : o->wrong                        ? "wrong"
                                                 : "right");
        printf(",%.9g,%.9g,%.9g,", o->average_us, row->algorithm_gbs, row->bus_gbs);
        if (row->kind != AR_MEASURED_EXCHANGE)
            printf("%.9g,%.9g", o->error, o->from_native);
        else
            putchar(','); /* nothing was judged */
        printf(",%s,%s,%s,%zu,%zu,", ar_place_name(row->place), results->type, results->op,
               row->count, bench->rotate_bytes);
        ar_cli_print_csv(o->ran);
        putchar(',');
        ar_cli_print_csv(o->reason);
        printf(",%d,", row->batches);
        if (ar_result_has_extra(row))
            printf("%.0f", o->extra_bytes);
        putchar(',');
        ar_cli_print_csv(results->places->text ? results->places->text : "");
        printf(",%s,", ar_node_places_are(results->places));
        if (bench->fresh)
            printf("%.9g", o->turn_us);
        print_csv_interval(&o->us);
        putchar(',');
        if (!isnan(o->us.spread))
            printf("%.9g", o->us.spread);
        printf(",%s\n", ar_result_order_name(ar_results_order(results, i)));
    }
    fflush(stdout);
}
