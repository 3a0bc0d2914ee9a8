#include "config.h"

#include "cli/results.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "select/select.h"

static void
fill(struct ar_result *row, const struct ar_entrant *e, double native, const struct ar_results *all)
{
    const double bus = 2.0 * (all->nranks - 1) / all->nranks;
    row->kind = e->kind;
    row->reason = e->reason ? e->reason : "";
    row->median_us = e->median * 1e6;
    row->average_us = e->average * 1e6;
    row->least_us = e->least * 1e6;
    row->most_us = e->most * 1e6;
    row->times_native = native / e->median;
    row->algorithm_gbs = (double)row->bytes / e->median * 1e-9;
    row->bus_gbs = row->algorithm_gbs * bus;
    row->error = e->error;
    row->from_native = e->from_native;
    row->wrong = e->wrong;
}

int
ar_results_add(struct ar_results *results, const struct ar_contest *contest,
               const struct ar_contest_round *round)
{
    struct ar_result *more =
        realloc(results->rows, (results->n + contest->nentrants) * sizeof *more);
    if (more)
        results->rows = more;
    for (size_t i = 0; more && i < contest->nentrants; i++) {
        const struct ar_entrant *const e = &contest->entrants[i];
        struct ar_result *const row = &results->rows[results->n++];
        *row = (struct ar_result){.place = round->place,
                                  .count = round->count,
                                  .bytes = round->count * contest->reduction.size,
                                  .label = strdup(e->label),
                                  .ran = strdup(e->ran)};
        fill(row, e, contest->entrants[0].median, results);
        if (!row->label || !row->ran)
            more = NULL;
    }
    if (!more)
        ar_say("out of memory");
    return more ? AR_EXIT_DONE : AR_EXIT_FAILED;
}

void
ar_results_fini(struct ar_results *results)
{
    for (size_t i = 0; i < results->n; i++) {
        free(results->rows[i].label);
        free(results->rows[i].ran);
    }
    free(results->rows);
}

size_t
ar_results_fastest(const struct ar_results *results, size_t i)
{
    const struct ar_result *const rows = results->rows;
    size_t fastest = i;
    for (size_t k = 0; k < results->n; k++)
        if (rows[k].bytes == rows[i].bytes && rows[k].place == rows[i].place &&
            rows[k].kind != AR_ENTRANT_EXCHANGE &&
            (rows[fastest].kind == AR_ENTRANT_EXCHANGE ||
             rows[k].median_us < rows[fastest].median_us))
            fastest = k;
    return fastest;
}

bool
ar_result_is_as_named(const struct ar_result *row)
{
    return row->kind != AR_ENTRANT_OURS || strcmp(row->reason, ar_reason_named) == 0;
}

const char *
ar_place_name(enum ar_place place)
{
    return place == AR_IN_PLACE ? "in" : "out";
}

/* --- text --- */

static int
label_width(const struct ar_results *results)
{
    size_t width = strlen("algorithm");
    for (size_t i = 0; i < results->n; i++)
        width = strlen(results->rows[i].label) > width ? strlen(results->rows[i].label) : width;
    return (int)width;
}

static void
print_text_head(const struct ar_results *results)
{
    char size[AR_SIZE_TEXT];
    printf("%s %s, %d ranks on %d cpus, %d batches; us a call of the slowest rank, GB/s\n",
           results->type, results->op, results->nranks, results->cpus, results->repetitions);
    if (results->rotate_bytes > 0)
        printf("cold cache: calls walk through %s of buffers\n",
               ar_size_print(results->rotate_bytes, size, sizeof size));
    printf("%8s  %s%-*s %10s %10s %10s %10s %9s %7s %7s %8s\n", "size",
           results->places_differ ? "place  " : "", label_width(results), "algorithm", "median",
           "min", "avg", "max", "x native", "algbw", "busbw", "error");
}

/* What else is to be said about a row. */
static void
print_remark(const struct ar_result *row)
{
    if (!ar_result_is_as_named(row))
        printf("  ran %s: %s", row->ran, row->reason);
    if (row->wrong)
        printf("  WRONG RESULT");
    printf("\n");
}

static void
print_text(const struct ar_results *results, size_t i)
{
    const struct ar_result *const row = &results->rows[i];
    const char *const mark = ar_results_fastest(results, i) == i ? "*" : " ";
    char size[AR_SIZE_TEXT];
    printf("%8s  ", ar_size_print(row->bytes, size, sizeof size));
    if (results->places_differ)
        printf("%-5s  ", ar_place_name(row->place));
    printf("%-*s %10.2f %10.2f %10.2f %10.2f %8.2f%s %7.3f %7.3f", label_width(results), row->label,
           row->median_us, row->least_us, row->average_us, row->most_us, row->times_native, mark,
           row->algorithm_gbs, row->bus_gbs);
    if (row->kind == AR_ENTRANT_EXCHANGE)
        printf(" %8s", "-");
    else
        printf(" %8.1e", row->error);
    print_remark(row);
}

void
ar_results_print_text(const struct ar_results *results, size_t first)
{
    if (first == 0)
        print_text_head(results);
    for (size_t i = first; i < results->n; i++)
        print_text(results, i);
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

static void
print_csv(const struct ar_results *results, const struct ar_result *row)
{
    printf("%d,%zu,", results->nranks, row->bytes);
    print_csv_text(row->label);
    printf(",%.3f,%.3f,%.3f,%.3f,%s", row->median_us, row->least_us, row->most_us,
           row->times_native,
           row->kind == AR_ENTRANT_EXCHANGE ? ""
           : row->wrong                     ? "wrong"
                                            : "right");
    printf(",%.3f,%.6f,%.6f,%.3g,%.3g,%s,%s,%s,%zu,%zu,", row->average_us, row->algorithm_gbs,
           row->bus_gbs, row->error, row->from_native, ar_place_name(row->place), results->type,
           results->op, row->count, results->rotate_bytes);
    print_csv_text(row->ran);
    putchar(',');
    print_csv_text(row->reason);
    putchar('\n');
}

static void
print_csv_head(void)
{
    printf("ranks,bytes,algorithm,median_us,min_us,max_us,times_native,result,avg_us,algbw_gbs,"
           "busbw_gbs,error,from_native,place,type,op,count,rotate_bytes,ran,reason\n");
}

void
ar_results_print_csv(const struct ar_results *results, size_t first)
{
    if (first == 0)
        print_csv_head();
    for (size_t i = first; i < results->n; i++)
        print_csv(results, &results->rows[i]);
    fflush(stdout);
}
