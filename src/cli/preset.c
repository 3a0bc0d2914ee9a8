/* The preset course: the tables of a classic exercise. */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/bench.h"
#include "cli/cli.h"
#include "select/select.h"

/* Algorithms that cut the vector into p blocks themselves make p slices of a segment, and the
 * others make one. */
static const struct {
    const char *label;
    const char *begin; /* of the choice, up to its segments */
    bool cuts;
    const char *lesson; /* what a reader of the tables should see */
} algorithms[] = {
    {"star", "star(", false,
     "It takes two rounds, however many ranks there are. But every byte passes through the root, "
     "and all ranks wait for it."},
    {"circle", "circle(", false,
     "No rank sends more than two vectors. But whole vectors are passed from rank to rank, so it "
     "gains most when slices are pipelined."},
    {"recursive", "recursive(", false,
     "A tree takes few rounds up and as many down. But half of the ranks have nothing to do after "
     "the first round."},
    {"butterfly, whole", "butterfly(exchange=whole,", false,
     "No rank is idle, and it takes half the rounds of recursive. But all ranks send whole vectors "
     "in each round."},
    {"butterfly, halves", "butterfly(exchange=halves,", false,
     "Partners share the arithmetic of an exchange: each does half of it, in twice the rounds."},
    {"ring", "ring(", true,
     "No algorithm sends less from its busiest rank. But it takes many rounds, which is costly for "
     "short messages."},
};

/* How slices follow each other. */
static const struct {
    const char *suffix; /* of a label */
    const char *window;
} forms[] = {{"", "1"}, {", pipelined", "auto"}};

static const size_t slices_a_rank[] = {1, 4, 5};

enum {
    NALGORITHMS = sizeof algorithms / sizeof algorithms[0],
    NFORMS = sizeof forms / sizeof forms[0],
    NSLICES = sizeof slices_a_rank / sizeof slices_a_rank[0],
    NBASELINES = 2 /* native and MPI_Reduce + MPI_Bcast, which every measurement begins with */
};
_Static_assert((int)NSLICES == (int)AR_PRESET_COLUMNS, "a column for each number of slices");

size_t
ar_preset_nlines(void)
{
    return NBASELINES + NALGORITHMS * NFORMS;
}

struct ar_preset_line
ar_preset_line_at(size_t i)
{
    static const char *const baselines[NBASELINES][2] = {
        {"native", "MPI_Allreduce of the MPI library: the time to beat."},
        {"MPI_Reduce+Bcast", "The two MPI calls that together do the same, one after the other."}};
    if (i < NBASELINES)
        return (struct ar_preset_line){
            .name = baselines[i][0], .lesson = baselines[i][1], .first = i, .n = 1};
    const size_t form = (i - NBASELINES) % NFORMS, row = (i - NBASELINES) / NFORMS;
    return (struct ar_preset_line){.name = algorithms[row].label,
                                   .begin = algorithms[row].begin,
                                   .lesson = algorithms[row].lesson,
                                   .is_pipelined = form > 0,
                                   .first = NBASELINES + (i - NBASELINES) * NSLICES,
                                   .n = NSLICES};
}

size_t
ar_preset_slices(size_t column, int nranks)
{
    return slices_a_rank[column] * (size_t)nranks;
}

int
ar_preset_add(struct ar_measurement *m)
{
    int status = AR_EXIT_DONE;
    for (int i = 0; i < NALGORITHMS * NFORMS * NSLICES && !status; i++) {
        char label[64], text[128];
        const int row = i / NSLICES / NFORMS, form = i / NSLICES % NFORMS;
        const size_t a_rank = slices_a_rank[i % NSLICES];
        const size_t slices = ar_preset_slices((size_t)i % NSLICES, m->nranks);
        snprintf(label, sizeof label, "%s N=%zu%s", algorithms[row].label, slices,
                 forms[form].suffix);
        snprintf(text, sizeof text, "%ssegment=n/%zu,window=%s)", algorithms[row].begin,
                 algorithms[row].cuts ? a_rank : slices, forms[form].window);
        status = ar_measurement_add(m, label, text);
    }
    return status;
}

/* --- tables --- */

#define NAME_WIDTH 18

static void
print_cell(const struct ar_result *row)
{
    char ms[AR_NUMBER_TEXT], error[16], from_native[16], extra[AR_NUMBER_TEXT];
    const struct ar_outcome *const o = &row->outcome;
    printf(" %c%6.6s %7s %7s %5s", o->wrong ? '!' : ' ',
           ar_number_print(o->us.median * 1e-3, ms, sizeof ms),
           ar_error_print(o->error, error, sizeof error),
           ar_error_print(o->from_native, from_native, sizeof from_native),
           row->kind == AR_MEASURED_OURS ? ar_bytes_print(o->extra_bytes, extra, sizeof extra)
                                         : "-");
}

static void
print_head(const struct ar_results *results, const struct ar_result *row)
{
    char elements[AR_SIZE_TEXT], bytes[AR_SIZE_TEXT], batches[48] = "";
    if (row->batches < results->bench->repetitions)
        snprintf(batches, sizeof batches, "%d of ", row->batches);
    printf("\n%d rank%s on %d cpu%s, %s elements of %s (%s bytes), %s, %s%d batches\n",
           results->nranks, ar_plural((size_t)results->nranks), results->cpus,
           ar_plural((size_t)results->cpus), ar_size_print(row->count, elements, sizeof elements),
           results->type, ar_size_print(row->bytes, bytes, sizeof bytes),
           ar_place_words(row->place), batches, results->bench->repetitions);
    printf("%-*s", NAME_WIDTH, "slices");
    for (int k = 0; k < NSLICES; k++)
        printf("      N=%-*zu", k + 1 < NSLICES ? 22 : 1,
               ar_preset_slices((size_t)k, results->nranks));
    printf("\n%-*s", NAME_WIDTH, "");
    for (int k = 0; k < NSLICES; k++)
        printf("  %6s %7s %7s %5s", "ms", "error", "native", "extra");
    printf("\n");
}

void
ar_preset_print(const struct ar_results *results, size_t first)
{
    const struct ar_result *const rows = &results->rows[first];
    if (first == 0)
        printf("Slices one after another (window=1), and pipelined (window=auto). ms per call of "
               "the slowest rank, the\nmedian of the batches; error: the largest difference from a "
               "sum in long double, relative to its largest\nelement; native: the same against "
               "native's result; extra: scratch bytes of the rank that takes most.\n");
    if (first == 0)
        ar_results_print_conditions(results);
    print_head(results, rows);
    for (size_t i = 0; i < ar_preset_nlines(); i++) {
        const struct ar_preset_line line = ar_preset_line_at(i);
        printf("%-*s", NAME_WIDTH, line.is_pipelined ? "  pipelined" : line.name);
        for (size_t k = 0; k < line.n; k++)
            print_cell(&rows[line.first + k]);
        printf("\n");
    }
    fflush(stdout);
}
