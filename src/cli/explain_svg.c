/* One algorithm as a picture. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/explain.h"
#include "cli/svg.h"

static void
note_count(FILE *notes, const char *what, double measured, double bound)
{
    fprintf(notes, "%s %.6g", what, measured);
    if (bound > 0)
        fprintf(notes, " (no algorithm below %.6g: %.2f times that)", bound, measured / bound);
    fputc('\n', notes);
}

static void
write_notes(FILE *notes, const struct ar_explained *e)
{
    const struct ar_explain *const request = e->request;
    const size_t bytes = e->count * request->element_bytes;
    fprintf(notes, "%s\n%d ranks; %zu elements of %zu bytes", e->choice.algorithm->title,
            request->nranks, e->count, request->element_bytes);
    if (e->drawn_count < e->count)
        fprintf(notes, ", drawn as %zu", e->drawn_count);
    fputc('\n', notes);
    fprintf(notes,
            "Proved: each rank counts once, %s, in one expression on all ranks; no "
            "deadlock, no hazard\n",
            e->verdict.in_rank_order ? "in rank order" : "in an order of its own");
    note_count(notes, "Rounds", (double)e->cost.rounds,
               e->cost.ports ? (double)ar_bound_rounds(request->nranks, e->cost.ports) : 0);
    note_count(notes, "Elements sent by a rank", (double)e->cost.sent.most,
               ar_bound_sent(request->nranks, e->count));
    note_count(notes, "Elements reduced by a rank", (double)e->cost.reduced.most,
               ar_bound_reduced(request->nranks, e->count));
    fprintf(notes, "Time: %s\n", e->choice.algorithm->cost);
    fprintf(notes, "with p = %d, n = %zu bytes, a = %g us, B = %g GB/s, 1/C = %g GB/s\n",
            request->nranks, bytes, request->latency_us, request->bandwidth_gbytes,
            request->reduction_gbytes);
    note_count(notes, "Microseconds", e->time_us, e->bound_us);
}

static int
draw(FILE *file, const struct ar_explained *e)
{
    char name[AR_CHOICE_TEXT];
    char *lines = NULL;
    size_t length;
    FILE *const notes = open_memstream(&lines, &length);
    if (!notes)
        return AR_ERR_MEMORY;
    write_notes(notes, e);
    int error = fclose(notes) ? AR_ERR_MEMORY : AR_OK;
    const struct ar_svg_text text = {ar_choice_print(&e->choice, name, sizeof name), lines};
    if (!error)
        error = ar_svg_draw(file, e->drawn.schedules, e->drawn.nranks, &text);
    free(lines);
    return error;
}

int
ar_explain_draw(const struct ar_explained *e)
{
    const char *const path = e->request->svg;
    FILE *const file = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
    if (file && draw(file, e)) {
        fprintf(stderr, "allreduce explain: out of memory\n");
        return AR_EXIT_FAILED;
    }
    if (file == stdout)
        return AR_EXIT_DONE; /* the caller looks after it */
    const int failed = !file || ferror(file);
    if ((file && fclose(file)) || failed) {
        fprintf(stderr, "allreduce explain: --svg %s: %s\n", path, strerror(errno));
        return AR_EXIT_FAILED;
    }
    return AR_EXIT_DONE;
}
