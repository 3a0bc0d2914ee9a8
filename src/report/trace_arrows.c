#include "report/trace_arrows.h"

#include <stdlib.h>

void
ar_trace_walk(const struct ar_trace *trace,
              void (*visit)(void *state, const struct ar_trace_place *place), void *state)
{
    const struct ar_trace_log *log = trace->logs;
    const struct ar_event *event = trace->events;
    const struct ar_trace_kind *kinds = trace->kinds;
    for (size_t r = 0; r < trace->nranks; r++)
        for (size_t l = 0; l < trace->ranks[r].nlogs; l++, kinds += log->nkinds, log++)
            for (uint64_t e = 0; e < log->nevents; e++, event++)
                visit(state, &(struct ar_trace_place){event, log, &trace->ranks[r], kinds, l});
}

/* --- the ends of arrows --- */

/* Numbers by which ends are sorted.  Ends that agree in those before TOGETHER belong together. */
enum { ID0, ID1, CALL, RUN, FROM, TO, LANE, TOGETHER, SEGMENT = TOGETHER, ROUND, STEP, NUMBERS };

struct end {
    int64_t number[NUMBERS];
    struct ar_trace_place place;
};

struct ends {
    struct end *ends;
    size_t n;
    enum ar_event_kind kinds[2]; /* whose ends these are */
};

static void
count_end(void *state, const struct ar_trace_place *place)
{
    struct ends *const ends = state;
    ends->n += place->event->kind == ends->kinds[0] || place->event->kind == ends->kinds[1];
}

/* All may see a flag: it goes to rank -1. */
static void
add_end(void *state, const struct ar_trace_place *place)
{
    struct ends *const ends = state;
    const struct ar_event *const e = place->event;
    const int own = place->log->rank;
    const bool goes = e->kind == AR_EVENT_SEND || e->kind == AR_EVENT_RAISE;
    const bool is_flag = e->kind == AR_EVENT_RAISE || e->kind == AR_EVENT_SEE;
    if (e->kind != ends->kinds[0] && e->kind != ends->kinds[1])
        return;
    ends->ends[ends->n++] = (struct end){
        .number = {[ID0] = place->log->id[0],
                   [ID1] = place->log->id[1],
                   [CALL] = e->call,
                   [RUN] = e->run,
                   [FROM] = goes ? own : e->peer,
                   [TO] = is_flag ? -1
                          : goes  ? e->peer
                                  : own,
                   [LANE] = e->lane,
                   [SEGMENT] = e->segment,
                   [ROUND] = is_flag ? 0 : e->round,
                   [STEP] = e->step},
        .place = *place,
    };
}

static int
compare(const struct end *a, const struct end *b, int numbers)
{
    for (int i = 0; i < numbers; i++)
        if (a->number[i] != b->number[i])
            return a->number[i] < b->number[i] ? -1 : 1;
    return 0;
}

static int
compare_ends(const void *a, const void *b)
{
    return compare(a, b, NUMBERS);
}

/* False without memory. */
static bool
collect(struct ends *ends, const struct ar_trace *trace)
{
    ar_trace_walk(trace, count_end, ends);
    ends->ends = malloc((ends->n + 1) * sizeof *ends->ends);
    if (!ends->ends)
        return false;
    ends->n = 0;
    ar_trace_walk(trace, add_end, ends);
    qsort(ends->ends, ends->n, sizeof *ends->ends, compare_ends);
    return true;
}

/* --- arrows --- */

/* The first of the ends that, compared by so many numbers, does not come before this one. */
static size_t
find(const struct ends *ends, const struct end *end, int numbers)
{
    size_t low = 0, high = ends->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare(&ends->ends[middle], end, numbers) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Goes through the receiving ends, and finds for each the sending one. */
static size_t
match(struct ar_trace_arrow *arrows, const struct ends *from, const struct ends *to)
{
    size_t n = 0, order = 0;
    for (size_t i = 0; i < to->n; i++) {
        const struct end *const end = &to->ends[i];
        const bool is_flag = end->place.event->kind == AR_EVENT_SEE;
        const int numbers = is_flag ? NUMBERS : TOGETHER;
        order = i > 0 && !is_flag && compare(end, &to->ends[i - 1], numbers) == 0 ? order + 1 : 0;
        const size_t at = find(from, end, numbers) + order;
        if (at < from->n && compare(&from->ends[at], end, numbers) == 0)
            arrows[n++] = (struct ar_trace_arrow){from->ends[at].place, end->place};
    }
    return n;
}

struct ar_trace_arrow *
ar_trace_arrows(const struct ar_trace *trace, size_t *n)
{
    struct ends from = {.kinds = {AR_EVENT_SEND, AR_EVENT_RAISE}};
    struct ends to = {.kinds = {AR_EVENT_RECEIVE, AR_EVENT_SEE}};
    const bool is_done = collect(&from, trace) && collect(&to, trace);
    struct ar_trace_arrow *const arrows = is_done ? malloc((to.n + 1) * sizeof *arrows) : NULL;
    if (arrows)
        *n = match(arrows, &from, &to);
    free(from.ends);
    free(to.ends);
    return arrows;
}
