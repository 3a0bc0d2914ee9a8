/* Two passes over one trace: the first finds the blocks, the second is the caller's. */
#include "schedule/figure.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schedule/walk.h"

static void __attribute__((format(printf, 2, 3)))
add_text(struct ar_caption *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(t->at + t->length, AR_CAPTION_ROOM - t->length, format, args);
    va_end(args);
    t->length +=
        (size_t)n < AR_CAPTION_ROOM - t->length ? (size_t)n : AR_CAPTION_ROOM - t->length - 1;
}

/* --- blocks --- */

static void
mark_region(struct ar_figure *f, struct ar_region region)
{
    if (region.length == 0 || region.buffer == AR_TMP)
        return;
    f->starts[region.offset] = true;
    f->starts[region.offset + region.length] = true;
}

static void
mark_payload(struct ar_figure *f, const struct ar_cell *payload, size_t n)
{
    f->starts[payload[0].element] = true;
    for (size_t i = 1; i < n; i++)
        if (payload[i].element != payload[i - 1].element + 1) {
            f->starts[payload[i - 1].element + 1] = true;
            f->starts[payload[i].element] = true;
        }
    f->starts[payload[n - 1].element + 1] = true;
}

static void
mark_blocks(struct ar_figure *f)
{
    f->starts[0] = true;
    for (int r = 0; r < f->nranks; r++)
        for (size_t i = 0; i < f->schedules[r].nsteps; i++) {
            const struct ar_step *step = &f->schedules[r].steps[i];
            mark_region(f, step->dst);
            mark_region(f, step->a);
            mark_region(f, step->b);
            if (step->kind == AR_SEND)
                mark_payload(f, ar_holdings_payload(&f->trace, r, i), step->a.length);
        }
}

static int
find_blocks(struct ar_figure *f)
{
    ar_holdings_advance(&f->trace, ar_figure_rounds(f));
    mark_blocks(f);
    for (size_t e = 0; e < f->count; e++) {
        if (f->starts[e])
            f->first[f->nblocks++] = e;
        f->block_of[e] = f->nblocks - 1;
    }
    f->first[f->nblocks] = f->count;
    return ar_figure_restart(f);
}

void
ar_caption_block(struct ar_caption *t, size_t block)
{
    if (block < 26)
        add_text(t, "%c", (char)('A' + block));
    else if (block < 52)
        add_text(t, "%c", (char)('a' + block - 26));
    else
        add_text(t, "#%zu", block);
}

static void
add_blocks(struct ar_caption *t, size_t first, size_t last)
{
    ar_caption_block(t, first);
    if (last > first + 1)
        add_text(t, "-");
    if (last > first)
        ar_caption_block(t, last);
}

/* --- what a rank holds of a block --- */

/* "013" where ranks are digits, else "0-1,13". */
static void
add_set(struct ar_caption *t, uint64_t set, int nranks)
{
    const char *comma = "";
    if (__builtin_popcountll(set) == nranks) {
        add_text(t, "all");
        return;
    }
    for (int r = 0; r < nranks; r++) {
        int last = r;
        if (!(set >> r & 1))
            continue;
        while (nranks > 10 && last + 1 < nranks && set >> (last + 1) & 1)
            last++;
        add_text(t, "%s%d", comma, r);
        if (last > r)
            add_text(t, "-%d", last);
        comma = nranks > 10 ? "," : "";
        r = last;
    }
}

static void
add_once(uint64_t *sets, size_t *n, size_t room, uint64_t set)
{
    for (size_t i = 0; i < *n; i++)
        if (sets[i] == set)
            return;
    if (*n < room)
        sets[(*n)++] = set;
}

static int
compare_sets(const void *x, const void *y)
{
    uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
    if (__builtin_ctzll(a) != __builtin_ctzll(b))
        return __builtin_ctzll(a) < __builtin_ctzll(b) ? -1 : 1;
    return a < b ? -1 : a > b;
}

#define SETS_MAX ((size_t)2 * AR_HOLDINGS_RANKS_MAX)

/* The partial results of a block that are of use to rank, each once. */
static size_t
held_sets(const struct ar_figure *f, uint64_t *sets, int rank, size_t block)
{
    const struct ar_holder *h = &f->trace.holders[rank];
    size_t n = 0;
    for (int b = AR_IN; b <= AR_TMP; b++)
        for (size_t i = 0; i < h->length[b]; i++) {
            const struct ar_cell *cell = &h->memory[b][i];
            if (cell->ranks && cell->element == f->first[block] &&
                ar_holdings_is_live(&f->trace, rank, (enum ar_buffer)b, i))
                add_once(sets, &n, SETS_MAX, cell->ranks);
        }
    return n;
}

/* Length of the run of single ranks r, r+1, ... that sets begins with. */
static size_t
singles(const uint64_t *sets, size_t n)
{
    size_t i = 0;
    while (i < n && sets[i] == sets[0] << i && __builtin_popcountll(sets[i]) == 1)
        i++;
    return i;
}

struct ar_caption
ar_figure_held(const struct ar_figure *f, int rank, size_t block)
{
    struct ar_caption t = {"", 0};
    uint64_t sets[SETS_MAX];
    const size_t n = held_sets(f, sets, rank, block);
    qsort(sets, n, sizeof *sets, compare_sets);
    for (size_t i = 0, run; i < n; i += run) {
        run = singles(sets + i, n - i);
        add_text(&t, "%s", i > 0 ? "/" : "");
        if (run > 2)
            add_text(&t, "%d..%d", __builtin_ctzll(sets[i]), __builtin_ctzll(sets[i + run - 1]));
        else
            add_set(&t, sets[i], f->nranks);
        run = run > 2 ? run : 1;
    }
    if (n == 0)
        add_text(&t, ".");
    return t;
}

int
ar_figure_held_ranks(const struct ar_figure *f, int rank, size_t block)
{
    uint64_t sets[SETS_MAX];
    const size_t n = held_sets(f, sets, rank, block);
    int most = 0;
    for (size_t i = 0; i < n; i++)
        most = __builtin_popcountll(sets[i]) > most ? __builtin_popcountll(sets[i]) : most;
    return most;
}

/* --- arrows --- */

static struct ar_arrow *
arrow_between(struct ar_figure *f, int from, int to)
{
    for (size_t i = 0; i < f->narrows; i++)
        if (f->arrows[i].from == from && f->arrows[i].to == to)
            return &f->arrows[i];
    f->arrows[f->narrows] = (struct ar_arrow){.from = from, .to = to};
    return &f->arrows[f->narrows++];
}

static void
label_arrow(struct ar_figure *f, struct ar_arrow *arrow, const struct ar_cell *payload, size_t n)
{
    memset(f->times, 0, f->nblocks * sizeof *f->times);
    for (size_t i = 0; i < n; i++)
        if (f->starts[payload[i].element])
            f->times[f->block_of[payload[i].element]]++;
    for (size_t b = 0, last; b < f->nblocks; b = last + 1) {
        last = b;
        if (f->times[b] == 0)
            continue;
        while (last + 1 < f->nblocks && f->times[last + 1] == f->times[b])
            last++;
        if (arrow->label.length > 0)
            add_text(&arrow->label, ",");
        if (f->times[b] > 1)
            add_text(&arrow->label, "%zu", f->times[b]);
        add_blocks(&arrow->label, b, last);
    }
}

/* Messages between two ranks that arrive together make one arrow. */
static void
collect_arrows(struct ar_figure *f, size_t time)
{
    const struct ar_unit_times *t = &f->trace.timeline;
    f->narrows = 0;
    for (int r = 0; r < f->nranks; r++)
        for (size_t i = 0; i < f->schedules[r].nsteps; i++) {
            const struct ar_step *step = &f->schedules[r].steps[i];
            const size_t message = t->first_step[r] + i;
            if (step->kind != AR_SEND || t->arrival[message] != time)
                continue;
            struct ar_arrow *arrow = arrow_between(f, r, step->peer);
            const struct ar_step *received = &f->schedules[step->peer].steps[t->partner[message]];
            arrow->reduces |= received->kind == AR_RECV_REDUCE;
            label_arrow(f, arrow, ar_holdings_payload(&f->trace, r, i), step->a.length);
        }
}

char
ar_figure_work(const struct ar_figure *f, int rank, size_t round)
{
    const struct ar_schedule *s = &f->schedules[rank];
    const size_t *end = f->trace.timeline.round_end + f->trace.timeline.first_round[rank];
    char mark = '|';
    for (size_t k = 0; k < s->nrounds; k++)
        for (size_t i = ar_round_begin(s, k); end[k] == round && i < s->round_end[k]; i++)
            if (s->steps[i].kind == AR_REDUCE)
                mark = '+';
            else if (s->steps[i].kind == AR_COPY && mark == '|')
                mark = '=';
    return mark;
}

/* --- passes --- */

size_t
ar_figure_rounds(const struct ar_figure *f)
{
    return f->trace.timeline.end;
}

int
ar_figure_restart(struct ar_figure *f)
{
    ar_holdings_fini(&f->trace);
    return ar_holdings_init(&f->trace, f->schedules, f->nranks);
}

void
ar_figure_run(struct ar_figure *f, size_t round)
{
    collect_arrows(f, round);
    ar_holdings_advance(&f->trace, round);
}

static int
allocate(struct ar_figure *f)
{
    size_t n = f->count + 2, most = 1;
    for (int r = 0; r < f->nranks; r++)
        most += f->schedules[r].nsteps;
    f->starts = calloc(n, sizeof *f->starts);
    f->block_of = calloc(n, sizeof *f->block_of);
    f->first = calloc(n, sizeof *f->first);
    f->times = calloc(n, sizeof *f->times);
    f->arrows = calloc(most, sizeof *f->arrows);
    return f->starts && f->block_of && f->first && f->times && f->arrows ? AR_OK : AR_ERR_MEMORY;
}

int
ar_figure_init(struct ar_figure *f, const struct ar_schedule *schedules, int nranks)
{
    *f = (struct ar_figure){.schedules = schedules, .nranks = nranks};
    f->count = schedules[0].count;
    int error = nranks <= AR_HOLDINGS_RANKS_MAX ? ar_holdings_init(&f->trace, schedules, nranks)
                                                : AR_ERR_PARAM;
    if (!error)
        error = allocate(f);
    if (!error)
        error = find_blocks(f);
    if (error)
        ar_figure_fini(f);
    return error;
}

void
ar_figure_fini(struct ar_figure *f)
{
    ar_holdings_fini(&f->trace);
    free(f->starts);
    free(f->block_of);
    free(f->first);
    free(f->times);
    free(f->arrows);
    *f = (struct ar_figure){0};
}

/* --- two passes over one figure: the first finds the width of a column, the second prints --- */

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
        add_blocks(&t, b, last);
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
    add_text(&line, "%zu element%s:", p->figure.count, p->figure.count == 1 ? "" : "s");
    for (size_t b = 0; b < p->figure.nblocks; b++) {
        struct ar_caption t = {"", 0};
        ar_caption_block(&t, b);
        add_text(&t, "=%zu", p->figure.first[b]);
        if (p->figure.first[b + 1] > p->figure.first[b] + 1)
            add_text(&t, "-%zu", p->figure.first[b + 1] - 1);
        if (line.length + t.length >= LINE_WIDTH) {
            fprintf(p->file, "%s\n", line.at);
            line = (struct ar_caption){"   ", 3};
        }
        add_text(&line, " %s", t.at);
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
