/* The preset course: the tables of a classic exercise. */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "cli/bench.h"
#include "cli/cli.h"
#include "select/select.h"

#define WINDOW 4 /* segments in flight */

/* Algorithms that cut the vector into p blocks themselves make p slices of a segment, and the
 * others make one. */
static const struct {
    const char *name;
    bool cuts;
} algorithms[] = {
    {"star", false}, {"circle", false}, {"recursive", false}, {"butterfly", false}, {"ring", true}};

static const size_t slices_a_rank[] = {1, 4, 5};

enum {
    NALGORITHMS = sizeof algorithms / sizeof algorithms[0],
    NSLICES = sizeof slices_a_rank / sizeof slices_a_rank[0]
};

int
ar_preset_add(struct ar_measurement *m, size_t count)
{
    int status = AR_EXIT_DONE;
    for (int i = 0; i < NALGORITHMS && !status; i++)
        for (int k = 0; k < NSLICES && !status; k++) {
            char label[64], text[128];
            const size_t slices = slices_a_rank[k] * (size_t)m->nranks;
            const size_t segments = algorithms[i].cuts ? slices_a_rank[k] : slices;
            const size_t segment = (count + segments - 1) / segments * m->reduction.size;
            snprintf(label, sizeof label, "%s N=%zu", algorithms[i].name, slices);
            snprintf(text, sizeof text, "%s(segment=%zu,window=%d)", algorithms[i].name, segment,
                     WINDOW);
            status = ar_measurement_add(m, label, text);
        }
    return status;
}

void
ar_preset_print(const struct ar_results *results, size_t first)
{
    const struct ar_result *const rows = &results->rows[first];
    char size[AR_SIZE_TEXT];
    printf("\n%d ranks on %d cpus, %s elements of %s, %s\n", results->nranks, results->cpus,
           ar_size_print(rows->count, size, sizeof size), results->type,
           rows->place == AR_IN_PLACE ? "in place" : "out of place");
    printf("%-21s", "slices");
    for (int k = 0; k < NSLICES; k++)
        printf("  %17s%-3zu", "N=", slices_a_rank[k] * (size_t)results->nranks);
    printf("\n%-21s", "");
    for (int k = 0; k < NSLICES; k++)
        printf("  %11s %8s", "ms", "error");
    printf("\n");
    for (size_t i = 0; first + i < results->n; i++) {
        const bool ours = rows[i].kind == AR_MEASURED_OURS;
        const size_t column = ours ? (i - 2) % NSLICES : 0;
        if (column == 0)
            printf("%-21.*s", (int)strcspn(rows[i].label, " "), rows[i].label);
        printf("  %c %9.3f %8.1e", rows[i].outcome.wrong ? '!' : ' ',
               rows[i].outcome.median_us * 1e-3, rows[i].outcome.error);
        if (!ours || column + 1 == NSLICES)
            printf("\n");
    }
}
