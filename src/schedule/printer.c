/* Two passes over one figure: the first finds the width of a column, the second prints. */
#include "schedule/figure.h"

#include <stdlib.h>
#include <string.h>

#define MARGIN     10 /* columns left of rank 0 */
#define LINE_WIDTH 79 /* of the list of blocks */

struct picture {
    FILE *file;
    struct ar_figure figure;
    int gap; /* columns from rank to rank */
};

/* --- drawing --- */

static int
column(const struct picture *p, int rank)
{
    return MARGIN + rank * p->gap;
}

static void
draw_arrow(const struct picture *p, char *line, const struct ar_arrow *arrow)
{
    const int from = column(p, arrow->from), to = column(p, arrow->to);
    const int step = from < to ? 1 : -1, length = (int)arrow->label.length;
    for (int x = from + step; x != to; x += step)
        line[x] = '-';
    memcpy(line + (step > 0 ? from + 1 : from - length), arrow->label.at, (size_t)length);
    if (arrow->reduces)
        line[to - step] = '+';
    line[to - step * (arrow->reduces ? 2 : 1)] = step > 0 ? '>' : '<';
}

/* Draws as many of the remaining arrows as fit side by side; returns how many. */
static size_t
draw_row(struct picture *p, char *line, bool *drawn)
{
    bool taken[AR_HOLDINGS_RANKS_MAX] = {false}; /* between ranks i and i+1 */
    size_t n = 0;
    for (size_t i = 0; i < p->figure.narrows; i++) {
        const struct ar_arrow *a = &p->figure.arrows[i];
        int low = a->from < a->to ? a->from : a->to, high = a->from + a->to - low;
        bool fits = !drawn[i];
        for (int k = low; k < high; k++)
            fits = fits && !taken[k];
        if (!fits)
            continue;
        for (int k = low; k < high; k++)
            taken[k] = true;
        draw_arrow(p, line, a);
        drawn[i] = true;
        n++;
    }
    return n;
}

static bool
print_arrows(struct picture *p, size_t round)
{
    char *line = malloc((size_t)column(p, p->figure.nranks) + 2);
    bool *drawn = calloc(p->figure.narrows + 1, sizeof *drawn);
    char label[32];
    snprintf(label, sizeof label, "round %zu", round);
    for (size_t left = p->figure.narrows; line && drawn && left > 0; label[0] = '\0') {
        memset(line, ' ', (size_t)column(p, p->figure.nranks));
        for (int r = 0; r < p->figure.nranks; r++)
            line[column(p, r)] = '|';
        line[column(p, p->figure.nranks - 1) + 1] = '\0';
        left -= draw_row(p, line, drawn);
        fprintf(p->file, "%-*s%s\n", MARGIN, label, line + MARGIN);
    }
    bool done = line && drawn;
    free(line);
    free(drawn);
    return done;
}

static void
print_work(const struct picture *p, size_t round)
{
    bool any = false;
    for (int r = 0; r < p->figure.nranks; r++)
        any |= ar_figure_work(&p->figure, r, round) != '|';
    if (!any)
        return;
    fprintf(p->file, "%-*s", MARGIN, round > 0 ? "" : "at first");
    for (int r = 0; r < p->figure.nranks; r++)
        fprintf(p->file, "%-*c", r + 1 < p->figure.nranks ? p->gap : 1,
                ar_figure_work(&p->figure, r, round));
    fprintf(p->file, "\n");
}

static bool
same_row(const struct picture *p, size_t x, size_t y)
{
    for (int r = 0; r < p->figure.nranks; r++)
        if (strcmp(ar_figure_held(&p->figure, r, x).at, ar_figure_held(&p->figure, r, y).at) != 0)
            return false;
    return true;
}

static void
print_held(const struct picture *p)
{
    for (size_t b = 0, last; b < p->figure.nblocks; b = last + 1) {
        for (last = b; last + 1 < p->figure.nblocks && same_row(p, b, last + 1); last++)
            ;
        struct ar_caption t = {"   ", 3};
        ar_caption_blocks(&t, b, last);
        fprintf(p->file, "%-*s", MARGIN, t.at);
        for (int r = 0; r < p->figure.nranks; r++)
            fprintf(p->file, "%-*s", r + 1 < p->figure.nranks ? p->gap : 1,
                    ar_figure_held(&p->figure, r, b).at);
        fprintf(p->file, "\n");
    }
}

static void
print_blocks(const struct picture *p)
{
    struct ar_caption line = {"", 0};
    ar_caption_add(&line, "%zu element%s:", p->figure.count, p->figure.count == 1 ? "" : "s");
    for (size_t b = 0; b < p->figure.nblocks; b++) {
        struct ar_caption t = {"", 0};
        ar_caption_block(&t, b);
        ar_caption_add(&t, "=%zu", p->figure.first[b]);
        if (p->figure.first[b + 1] > p->figure.first[b] + 1)
            ar_caption_add(&t, "-%zu", p->figure.first[b + 1] - 1);
        if (line.length + t.length >= LINE_WIDTH) {
            fprintf(p->file, "%s\n", line.at);
            line = (struct ar_caption){"   ", 3};
        }
        ar_caption_add(&line, " %s", t.at);
    }
    fprintf(p->file, "%s\n\n%*s", line.at, MARGIN, "");
    for (int r = 0; r < p->figure.nranks; r++)
        fprintf(p->file, "%-*d", r + 1 < p->figure.nranks ? p->gap : 1, r);
    fprintf(p->file, "\n");
}

/* --- passes --- */

static void
widen(int *gap, size_t columns)
{
    if ((int)columns > *gap)
        *gap = (int)columns;
}

/* Finds the gap that the widest label needs. */
static int
measure(struct picture *p)
{
    struct ar_figure *const f = &p->figure;
    const size_t rounds = ar_figure_rounds(f);
    p->gap = 6;
    for (size_t round = 0; round <= rounds; round++) {
        ar_figure_run(f, round);
        for (size_t i = 0; i < f->narrows; i++) {
            const size_t ranks = (size_t)abs(f->arrows[i].to - f->arrows[i].from);
            widen(&p->gap, (f->arrows[i].label.length + 5 + ranks - 1) / ranks);
        }
        for (size_t b = 0; b < f->nblocks; b++)
            for (int r = 0; r < f->nranks; r++)
                widen(&p->gap, ar_figure_held(f, r, b).length + 2);
    }
    return ar_figure_restart(f);
}

static int
print(struct picture *p)
{
    const size_t rounds = ar_figure_rounds(&p->figure);
    print_blocks(p);
    for (size_t round = 0; round <= rounds; round++) {
        ar_figure_run(&p->figure, round);
        if (!print_arrows(p, round))
            return AR_ERR_MEMORY;
        print_work(p, round);
        if (round > 0 || rounds == 0)
            print_held(p);
    }
    return AR_OK;
}

int
ar_figure_print(FILE *file, const struct ar_schedule *schedules, int nranks)
{
    struct picture p = {.file = file};
    int error = ar_figure_init(&p.figure, schedules, nranks);
    if (error)
        return error;
    error = measure(&p);
    if (!error)
        error = print(&p);
    ar_figure_fini(&p.figure);
    return error;
}
