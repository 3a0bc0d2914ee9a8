#include "config.h"

#include "cli/bench.h"

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
        const double rate = (double)bytes / e->outcome.median_us * 1e-3;
        *row = (struct ar_result){.kind = e->kind,
                                  .place = work->place,
                                  .bytes = bytes,
                                  .count = work->count,
                                  .label = strdup(e->label),
                                  .batches = m->batches,
                                  .outcome = e->outcome,
                                  .times_native =
                                      m->measured[0].outcome.median_us / e->outcome.median_us,
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
             rows[k].outcome.median_us < rows[fastest].outcome.median_us))
            fastest = k;
    return fastest;
}

bool
ar_result_is_as_named(const struct ar_result *row)
{
    return row->kind != AR_MEASURED_OURS || strcmp(row->outcome.reason, ar_reason_named) == 0;
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

void
ar_results_print_conditions(const struct ar_results *results)
{
    const struct ar_bench *const bench = results->bench;
    char text[AR_NODE_PLACES_TEXT], size[AR_SIZE_TEXT];
    if (results->places->text)
        printf("%s\n", ar_node_places_describe(results->places, text));
    if (bench->rotate_bytes > 0)
        printf("cold cache: calls walk through %s of buffers\n",
               ar_size_print(bench->rotate_bytes, size, sizeof size));
    if (bench->fresh)
        printf("fresh data: each rank writes its input before each call and reads its result after "
               "it; turn: all of that\n");
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
        printf("%s %s, %d rank%s on %d cpu%s, %d batch%s; us a call of the slowest "
               "rank, GB/s\n",
               results->type, results->op, results->nranks, ar_plural((size_t)results->nranks),
               results->cpus, ar_plural((size_t)results->cpus), bench->repetitions,
               bench->repetitions == 1 ? "" : "es");
        ar_results_print_conditions(results);
        printf("%8s  %s%-*s %10s %10s %10s %10s%s %9s %8s %8s %8s\n", "size",
               places_differ ? "place  " : "", width, "algorithm", "median", "min", "avg", "max",
               bench->fresh ? "       turn" : "", "x native", "algbw", "busbw", "error");
    }
    for (size_t i = first; i < results->n; i++) {
        const struct ar_result *const row = &results->rows[i];
        const struct ar_outcome *const o = &row->outcome;
        char error[AR_NUMBER_TEXT];
        printf("%8s  ", ar_size_print(row->bytes, size, sizeof size));
        if (places_differ)
            printf("%-5s  ", ar_place_name(row->place));
        printf("%-*s", width, row->label);
        print_number(10, o->median_us);
        print_number(10, o->least_us);
        print_number(10, o->average_us);
        print_number(10, o->most_us);
        if (bench->fresh)
            print_number(10, o->turn_us);
        print_number(8, row->times_native);
        printf("%s", ar_results_fastest(results, i) == i ? "*" : " ");
        print_number(8, row->algorithm_gbs);
        print_number(8, row->bus_gbs);
        if (row->kind == AR_MEASURED_EXCHANGE)
            printf(" %8s", "-");
        else
            printf(" %8s", ar_error_print(o->error, error, sizeof error));
        if (!ar_result_is_as_named(row))
            printf("  ran %s: %s", o->ran, o->reason);
        if (row->batches < bench->repetitions)
            printf("  %d of %d batches", row->batches, bench->repetitions);
        printf(o->wrong ? "  WRONG RESULT\n" : "\n");
    }
    fflush(stdout);
}

/* --- comma-separated values --- */

/* As RFC 4180 has it. */
static void
print_csv_text(const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, stdout);
        return;
    }
    putchar('"');
    for (; *text; text++)
        printf(*text == '"' ? "\"\"" : "%c", *text);
    putchar('"');
}

void
ar_results_print_csv(const struct ar_results *results, size_t first)
{
    const struct ar_bench *const bench = results->bench;
    if (first == 0)
        printf("ranks,bytes,algorithm,median_us,min_us,max_us,times_native,result,"
               "avg_us,algbw_gbs,busbw_gbs,error,from_native,place,type,op,count,rotate_bytes,ran,"
               "reason,batches,extra_bytes,nodes,nodes_are,turn_us\n");
    for (size_t i = first; i < results->n; i++) {
        const struct ar_result *const row = &results->rows[i];
        const struct ar_outcome *const o = &row->outcome;
        printf("%d,%zu,", results->nranks, row->bytes);
        print_csv_text(row->label);
        printf(",%.9g,%.9g,%.9g,%.9g,%s", o->median_us, o->least_us, o->most_us, row->times_native,
               row->kind == AR_MEASURED_EXCHANGE ? ""
               : o->wrong                        ? "wrong"
                                                 : "right");
        printf(",%.9g,%.9g,%.9g,%.9g,%.9g,%s,%s,%s,%zu,%zu,", o->average_us, row->algorithm_gbs,
               row->bus_gbs, o->error, o->from_native, ar_place_name(row->place), results->type,
               results->op, row->count, bench->rotate_bytes);
        print_csv_text(o->ran);
        putchar(',');
        print_csv_text(o->reason);
        printf(",%d,", row->batches);
        if (ar_result_has_extra(row))
            printf("%.0f", o->extra_bytes);
        putchar(',');
        print_csv_text(results->places->text ? results->places->text : "");
        printf(",%s,", ar_node_places_are(results->places));
        if (bench->fresh)
            printf("%.9g", o->turn_us);
        putchar('\n');
    }
    fflush(stdout);
}
