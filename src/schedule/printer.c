/* Three passes over one trace: the first finds the blocks, the second the width
 * of a column, the third prints.  A block is a longest run of elements that no
 * message parts. */
#include "schedule/printer.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MARGIN     10 /* columns left of rank 0 */
#define LINE_WIDTH 79 /* of the list of blocks */
#define TEXT_ROOM  512

struct text {
    char at[TEXT_ROOM];
    size_t length;
};

struct arrow {
    int from, to;
    bool reduces;
    struct text label;
};

struct figure {
    FILE *file;
    const struct ar_schedule *schedules;
    int nranks;
    size_t count;
    struct ar_trace trace;
    bool *starts;     /* does a block start at this element? count + 1 entries */
    size_t *block_of; /* of an element */
    size_t *first;    /* element of a block; nblocks + 1 entries */
    size_t nblocks;
    size_t *times;        /* scratch of a label: how often each block is sent */
    struct arrow *arrows; /* of one round */
    size_t narrows;
    int gap; /* columns from rank to rank */
};

static void
add(struct text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(t->at + t->length, TEXT_ROOM - t->length, format, args);
    va_end(args);
    t->length += (size_t)n < TEXT_ROOM - t->length ? (size_t)n : TEXT_ROOM - t->length - 1;
}

/* --- blocks --- */

static void
mark_region(struct figure *f, struct ar_region region)
{
    if (region.length == 0 || region.buffer == AR_TMP)
        return;
    f->starts[region.offset] = true;
    f->starts[region.offset + region.length] = true;
}

static void
mark_payload(struct figure *f, const struct ar_cell *payload, size_t n)
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
mark_blocks(struct figure *f)
{
    f->starts[0] = true;
    for (int r = 0; r < f->nranks; r++)
        for (size_t i = 0; i < f->schedules[r].nsteps; i++) {
            const struct ar_step *step = &f->schedules[r].steps[i];
            mark_region(f, step->dst);
            mark_region(f, step->a);
            mark_region(f, step->b);
            if (step->kind == AR_SEND)
                mark_payload(f, ar_trace_payload(&f->trace, r, i), step->a.length);
        }
}

static void
number_blocks(struct figure *f)
{
    for (size_t e = 0; e < f->count; e++) {
        if (f->starts[e])
            f->first[f->nblocks++] = e;
        f->block_of[e] = f->nblocks - 1;
    }
    f->first[f->nblocks] = f->count;
}

static void
add_block(struct text *t, size_t block)
{
    if (block < 26)
        add(t, "%c", (char)('A' + block));
    else if (block < 52)
        add(t, "%c", (char)('a' + block - 26));
    else
        add(t, "#%zu", block);
}

static void
add_blocks(struct text *t, size_t first, size_t last)
{
    add_block(t, first);
    if (last > first + 1)
        add(t, "-");
    if (last > first)
        add_block(t, last);
}

/* --- what a rank holds of a block --- */

static int
set_size(uint64_t set)
{
    return __builtin_popcountll(set);
}

static int
set_first(uint64_t set)
{
    return __builtin_ctzll(set);
}

/* "013" where ranks are digits, else "0-1,13". */
static void
add_set(struct text *t, uint64_t set, int nranks)
{
    const char *comma = "";
    if (set_size(set) == nranks) {
        add(t, "all");
        return;
    }
    for (int r = 0; r < nranks; r++) {
        int last = r;
        if (!(set >> r & 1))
            continue;
        while (nranks > 10 && last + 1 < nranks && set >> (last + 1) & 1)
            last++;
        add(t, "%s%d", comma, r);
        if (last > r)
            add(t, "-%d", last);
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
    if (set_first(a) != set_first(b))
        return set_first(a) < set_first(b) ? -1 : 1;
    return a < b ? -1 : a > b;
}

#define SETS_MAX ((size_t)2 * AR_TRACE_RANKS_MAX)

/* The partial results of a block that are of use to rank, each once. */
static size_t
held_sets(const struct figure *f, uint64_t *sets, int rank, size_t block)
{
    const struct ar_holder *h = &f->trace.holders[rank];
    size_t n = 0;
    for (int b = AR_IN; b <= AR_TMP; b++)
        for (size_t i = 0; i < h->length[b]; i++) {
            const struct ar_cell *cell = &h->memory[b][i];
            if (cell->ranks && cell->element == f->first[block] &&
                ar_trace_is_live(&f->trace, rank, (enum ar_buffer)b, i))
                add_once(sets, &n, SETS_MAX, cell->ranks);
        }
    qsort(sets, n, sizeof *sets, compare_sets);
    return n;
}

/* Length of the run of single ranks r, r+1, ... that sets begins with. */
static size_t
singles(const uint64_t *sets, size_t n)
{
    size_t i = 0;
    while (i < n && sets[i] == sets[0] << i && set_size(sets[i]) == 1)
        i++;
    return i;
}

static struct text
held_text(const struct figure *f, int rank, size_t block)
{
    struct text t = {"", 0};
    uint64_t sets[SETS_MAX];
    size_t n = held_sets(f, sets, rank, block);
    for (size_t i = 0, run; i < n; i += run) {
        run = singles(sets + i, n - i);
        add(&t, "%s", i > 0 ? "/" : "");
        if (run > 2)
            add(&t, "%d..%d", set_first(sets[i]), set_first(sets[i + run - 1]));
        else
            add_set(&t, sets[i], f->nranks);
        run = run > 2 ? run : 1;
    }
    if (n == 0)
        add(&t, ".");
    return t;
}

/* --- arrows --- */

static struct arrow *
arrow_between(struct figure *f, int from, int to)
{
    for (size_t i = 0; i < f->narrows; i++)
        if (f->arrows[i].from == from && f->arrows[i].to == to)
            return &f->arrows[i];
    f->arrows[f->narrows] = (struct arrow){.from = from, .to = to};
    return &f->arrows[f->narrows++];
}

static void
label_arrow(struct figure *f, struct arrow *arrow, const struct ar_cell *payload, size_t n)
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
            add(&arrow->label, ",");
        if (f->times[b] > 1)
            add(&arrow->label, "%zu", f->times[b]);
        add_blocks(&arrow->label, b, last);
    }
}

static bool
is_reduced(const struct figure *f, int rank, size_t i)
{
    const struct ar_step *step = &f->schedules[rank].steps[i];
    size_t partner = f->trace.timeline.partner[f->trace.timeline.first_step[rank] + i];
    return f->schedules[step->peer].steps[partner].kind == AR_RECV_REDUCE;
}

/* Messages between two ranks that arrive together make one arrow. */
static void
collect_arrows(struct figure *f, double time)
{
    f->narrows = 0;
    for (int r = 0; r < f->nranks; r++)
        for (size_t i = 0; i < f->schedules[r].nsteps; i++) {
            const struct ar_step *step = &f->schedules[r].steps[i];
            if (step->kind != AR_SEND ||
                f->trace.timeline.arrival[f->trace.timeline.first_step[r] + i] != time)
                continue;
            struct arrow *arrow = arrow_between(f, r, step->peer);
            arrow->reduces |= is_reduced(f, r, i);
            label_arrow(f, arrow, ar_trace_payload(&f->trace, r, i), step->a.length);
        }
}

/* --- width --- */

static void
widen(int *gap, size_t columns)
{
    if ((int)columns > *gap)
        *gap = (int)columns;
}

static void
measure_round(struct figure *f)
{
    for (size_t i = 0; i < f->narrows; i++) {
        const struct arrow *arrow = &f->arrows[i];
        size_t ranks = (size_t)abs(arrow->to - arrow->from);
        widen(&f->gap, (arrow->label.length + 5 + ranks - 1) / ranks);
    }
    for (size_t b = 0; b < f->nblocks; b++)
        for (int r = 0; r < f->nranks; r++)
            widen(&f->gap, held_text(f, r, b).length + 2);
}

/* --- drawing --- */

static int
column(const struct figure *f, int rank)
{
    return MARGIN + rank * f->gap;
}

static void
blank_line(const struct figure *f, char *line, char lifeline)
{
    memset(line, ' ', (size_t)column(f, f->nranks));
    for (int r = 0; r < f->nranks; r++)
        line[column(f, r)] = lifeline;
    line[column(f, f->nranks - 1) + 1] = '\0';
}

static void
draw_arrow(const struct figure *f, char *line, const struct arrow *arrow)
{
    const int from = column(f, arrow->from), to = column(f, arrow->to);
    const int step = from < to ? 1 : -1, length = (int)arrow->label.length;
    for (int x = from + step; x != to; x += step)
        line[x] = '-';
    memcpy(line + (step > 0 ? from + 1 : from - length), arrow->label.at, (size_t)length);
    if (arrow->reduces)
        line[to - step] = '+';
    line[to - step * (arrow->reduces ? 2 : 1)] = step > 0 ? '>' : '<';
}

/* Draws as many of the arrows left as fit side by side; returns how many. */
static size_t
draw_row(struct figure *f, char *line, bool *drawn)
{
    bool taken[AR_TRACE_RANKS_MAX] = {false}; /* between ranks i and i+1 */
    size_t n = 0;
    for (size_t i = 0; i < f->narrows; i++) {
        const struct arrow *a = &f->arrows[i];
        int low = a->from < a->to ? a->from : a->to, high = a->from + a->to - low;
        bool fits = !drawn[i];
        for (int k = low; k < high; k++)
            fits = fits && !taken[k];
        if (!fits)
            continue;
        for (int k = low; k < high; k++)
            taken[k] = true;
        draw_arrow(f, line, a);
        drawn[i] = true;
        n++;
    }
    return n;
}

static void
print_line(const struct figure *f, const char *label, const char *line)
{
    fprintf(f->file, "%-*s%s\n", MARGIN, label, line + MARGIN);
}

static bool
print_arrows(struct figure *f, size_t round)
{
    char *line = malloc((size_t)column(f, f->nranks) + 2);
    bool *drawn = calloc(f->narrows + 1, sizeof *drawn);
    char label[32];
    snprintf(label, sizeof label, "round %zu", round);
    for (size_t left = f->narrows; line && drawn && left > 0; label[0] = '\0') {
        blank_line(f, line, '|');
        left -= draw_row(f, line, drawn);
        print_line(f, label, line);
    }
    bool done = line && drawn;
    free(line);
    free(drawn);
    return done;
}

static char
work_at_home(const struct figure *f, int rank, double time)
{
    const struct ar_schedule *s = &f->schedules[rank];
    const double *round_end = f->trace.timeline.round_end + f->trace.timeline.first_round[rank];
    char mark = '|';
    for (size_t i = 0, round = 0; i < s->nsteps; i++) {
        round += i == s->round_end[round];
        if (round_end[round] != time)
            continue;
        if (s->steps[i].kind == AR_REDUCE)
            mark = '+';
        else if (s->steps[i].kind == AR_COPY && mark == '|')
            mark = '=';
    }
    return mark;
}

static void
print_work(const struct figure *f, double time)
{
    bool any = false;
    for (int r = 0; r < f->nranks; r++)
        any |= work_at_home(f, r, time) != '|';
    if (!any)
        return;
    fprintf(f->file, "%-*s", MARGIN, time > 0 ? "" : "at first");
    for (int r = 0; r < f->nranks; r++)
        fprintf(f->file, "%-*c", r + 1 < f->nranks ? f->gap : 1, work_at_home(f, r, time));
    fprintf(f->file, "\n");
}

static bool
same_row(const struct figure *f, size_t x, size_t y)
{
    for (int r = 0; r < f->nranks; r++)
        if (strcmp(held_text(f, r, x).at, held_text(f, r, y).at) != 0)
            return false;
    return true;
}

static void
print_held(const struct figure *f)
{
    for (size_t b = 0, last; b < f->nblocks; b = last + 1) {
        for (last = b; last + 1 < f->nblocks && same_row(f, b, last + 1); last++)
            ;
        struct text t = {"   ", 3};
        add_blocks(&t, b, last);
        fprintf(f->file, "%-*s", MARGIN, t.at);
        for (int r = 0; r < f->nranks; r++)
            fprintf(f->file, "%-*s", r + 1 < f->nranks ? f->gap : 1, held_text(f, r, b).at);
        fprintf(f->file, "\n");
    }
}

static void
print_blocks(const struct figure *f)
{
    struct text line = {"", 0};
    add(&line, "%zu element%s:", f->count, f->count == 1 ? "" : "s");
    for (size_t b = 0; b < f->nblocks; b++) {
        struct text t = {"", 0};
        add_block(&t, b);
        add(&t, "=%zu", f->first[b]);
        if (f->first[b + 1] > f->first[b] + 1)
            add(&t, "-%zu", f->first[b + 1] - 1);
        if (line.length + t.length >= LINE_WIDTH) {
            fprintf(f->file, "%s\n", line.at);
            line = (struct text){"   ", 3};
        }
        add(&line, " %s", t.at);
    }
    fprintf(f->file, "%s\n\n%*s", line.at, MARGIN, "");
    for (int r = 0; r < f->nranks; r++)
        fprintf(f->file, "%-*d", r + 1 < f->nranks ? f->gap : 1, r);
    fprintf(f->file, "\n");
}

/* --- passes --- */

static int
restart(struct figure *f)
{
    ar_trace_fini(&f->trace);
    return ar_trace_init(&f->trace, f->schedules, f->nranks);
}

static int
find_blocks(struct figure *f)
{
    ar_trace_advance(&f->trace, (size_t)f->trace.timeline.end);
    mark_blocks(f);
    number_blocks(f);
    return restart(f);
}

static int
measure(struct figure *f)
{
    const size_t rounds = (size_t)f->trace.timeline.end;
    f->gap = 6;
    for (size_t round = 0; round <= rounds; round++) {
        collect_arrows(f, (double)round);
        ar_trace_advance(&f->trace, round);
        measure_round(f);
    }
    return restart(f);
}

static int
print(struct figure *f)
{
    const size_t rounds = (size_t)f->trace.timeline.end;
    print_blocks(f);
    for (size_t round = 0; round <= rounds; round++) {
        collect_arrows(f, (double)round);
        if (!print_arrows(f, round))
            return AR_ERR_MEMORY;
        print_work(f, (double)round);
        ar_trace_advance(&f->trace, round);
        if (round > 0 || rounds == 0)
            print_held(f);
    }
    return AR_OK;
}

static int
allocate(struct figure *f)
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
ar_figure_print(FILE *file, const struct ar_schedule *schedules, int nranks)
{
    struct figure f = {.file = file, .schedules = schedules, .nranks = nranks};
    f.count = schedules[0].count;
    int error = ar_trace_init(&f.trace, schedules, nranks);
    if (!error)
        error = allocate(&f);
    if (!error)
        error = find_blocks(&f);
    if (!error)
        error = measure(&f);
    if (!error)
        error = print(&f);
    ar_trace_fini(&f.trace);
    free(f.starts);
    free(f.block_of);
    free(f.first);
    free(f.times);
    free(f.arrows);
    return error;
}
