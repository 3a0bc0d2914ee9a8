/* The page of one call of a timeline: what happened, as data for src/page/timeline.js.  Times are
 * microseconds, since the call's begin where they are moments. */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/page.h"
#include "cli/read_timeline.h"
#include "report/json.h"

/* What a page of 200 KB has room for; of more, that which lasted longest is drawn. */
#define SLICES_DRAWN 3000
#define ARROWS_DRAWN 1500
#define ROWS_DRAWN   64

/* --- what is drawn --- */

static int
compare_lengths(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return a > b ? -1 : a < b;
}

/* Only what is longer is drawn: a length, or less than any where there is room for all.  Sorts
 * lengths. */
static double
find_shortest(double *lengths, size_t n, size_t room)
{
    if (n <= room)
        return -INFINITY;
    qsort(lengths, n, sizeof *lengths, compare_lengths);
    return lengths[room];
}

/* The row's place in the picture; -1: not drawn.  Of too many rows those on the critical path come
 * first, and then those of the last arrivals. */
static int *
place_rows(const struct ar_read_trace_view *v)
{
    const size_t n = (size_t)v->call->nparts;
    int *const place = calloc(n + 1, sizeof *place);
    size_t left = ROWS_DRAWN;
    int next = 0;
    if (!place)
        return NULL;
    for (size_t i = 0; i < v->nlegs && left > 0; i++) {
        left -= !place[v->legs[i].row];
        place[v->legs[i].row] = 1;
    }
    for (; left > 0; left--) {
        size_t latest = n;
        for (size_t i = 0; i < n; i++)
            if (!place[i] && (latest == n || v->rows[i].begin > v->rows[latest].begin))
                latest = i;
        if (latest == n)
            break;
        place[latest] = 1;
    }
    for (size_t i = 0; i < n; i++)
        place[i] = place[i] ? next++ : -1;
    return place;
}

static int
place_of(const struct ar_read_trace_view *v, const int *places, int rank)
{
    for (int i = 0; i < v->call->nparts; i++)
        if (v->rows[i].rank == rank)
            return places[i];
    return -1;
}

/* --- the data --- */

/* [how many there are, those that are no longer than this are left out], if some are. */
static void
put_left_out(struct ar_json *json, const char *name, size_t n, double shortest)
{
    if (isfinite(shortest))
        ar_json_put(json, name, "[%zu,%.3f]", n, shortest);
}

static void
put_call(struct ar_json *json, const char *name, const struct ar_read_trace *t,
         const struct ar_read_trace_call *call)
{
    ar_json_begin(json, name, '{');
    ar_json_put(json, "number", "%td", call - t->calls + 1);
    ar_json_put(json, "ranks", "%d", call->nranks);
    ar_json_put(json, "bytes", "%.0f", call->bytes);
    ar_json_put(json, "last", "%.3f", call->last - call->begin);
    ar_json_put(json, "span", "%.3f", call->end - call->begin);
    ar_json_put_text(json, "type", call->type);
    ar_json_put_text(json, "op", call->op);
    ar_json_put_text(json, "ran", call->ran);
    ar_json_put_text(json, "reason", call->reason);
    ar_json_put_text(json, "comm", call->comm);
    ar_json_end(json, '}');
}

static void
put_longest_calls(struct ar_json *json, const struct ar_read_trace *t)
{
    size_t numbers[AR_READ_TRACE_CALLS_TOLD];
    const size_t n = ar_read_trace_longest(t, numbers, AR_READ_TRACE_CALLS_TOLD);
    ar_json_put(json, "ncalls", "%zu", t->ncalls);
    ar_json_begin(json, "calls", '[');
    for (size_t i = 0; i < n; i++)
        put_call(json, NULL, t, &t->calls[numbers[i]]);
    ar_json_end(json, ']');
}

static void
put_rows(struct ar_json *json, const struct ar_read_trace_view *v, const int *places)
{
    ar_json_put(json, "nrows", "%d", v->call->nparts);
    ar_json_begin(json, "rows", '[');
    for (int i = 0; i < v->call->nparts; i++) {
        const struct ar_read_trace_row *const row = &v->rows[i];
        if (places[i] < 0)
            continue;
        ar_json_begin(json, NULL, '{');
        ar_json_put(json, "rank", "%d", row->rank);
        ar_json_put_text(json, "host", ar_read_trace_host(v->timeline, row->rank));
        ar_json_put(json, "came", "%.3f", row->begin - v->call->begin);
        ar_json_put(json, "setup", "%.3f", row->setup);
        ar_json_put(json, "waiting", "%.3f", row->waiting);
        ar_json_put(json, "work", "%.3f", row->work);
        ar_json_put(json, "left", "%.3f", row->end - v->call->begin);
        ar_json_put(json, "awaited", "%d", row->awaited);
        ar_json_end(json, '}');
    }
    ar_json_end(json, ']');
}

/* The critical path: [row, begin, end]. */
static void
put_legs(struct ar_json *json, const struct ar_read_trace_view *v, const int *places)
{
    ar_json_begin(json, "legs", '[');
    for (size_t i = 0; i < v->nlegs; i++)
        if (places[v->legs[i].row] >= 0)
            ar_json_put(json, NULL, "[%d,%.3f,%.3f]", places[v->legs[i].row],
                        v->legs[i].begin - v->call->begin, v->legs[i].end - v->call->begin);
    ar_json_end(json, ']');
}

/* [row, kind, begin, how long, detail]. */
static void
put_slices(struct ar_json *json, const struct ar_read_trace_view *v, const int *places,
           double *lengths)
{
    const struct ar_slice *const slices = &v->timeline->slices[v->call->first_slice];
    size_t n = 0;
    for (size_t i = 0; i < v->call->nslices; i++)
        if (slices[i].kind != AR_SLICE_CALL && place_of(v, places, slices[i].rank) >= 0)
            lengths[n++] = slices[i].end - slices[i].begin;
    const double shortest = find_shortest(lengths, n, SLICES_DRAWN);
    put_left_out(json, "slices_left_out", n, shortest);
    ar_json_begin(json, "slices", '[');
    for (size_t i = 0; i < v->call->nslices; i++) {
        const struct ar_slice *const s = &slices[i];
        const int place = place_of(v, places, s->rank);
        if (place >= 0 && (s->kind == AR_SLICE_CALL || s->end - s->begin > shortest))
            ar_json_put(json, NULL, "[%d,%d,%.3f,%.3f,%d]", place, s->kind,
                        s->begin - v->call->begin, s->end - s->begin, s->detail);
    }
    ar_json_end(json, ']');
}

static bool
is_on_path(const struct ar_read_trace_view *v, const struct ar_read_trace_arrow *arrow)
{
    for (size_t i = 0; i < v->nlegs; i++)
        if (v->legs[i].arrow == arrow)
            return true;
    return false;
}

/* [row, row, begin, end, bytes, is it a flag, is it on the critical path]. */
static void
put_arrows(struct ar_json *json, const struct ar_read_trace_view *v, const int *places,
           double *lengths)
{
    const struct ar_read_trace_arrow *const arrows = &v->timeline->arrows[v->call->first_arrow];
    size_t n = 0;
    for (size_t i = 0; i < v->call->narrows; i++)
        if (place_of(v, places, arrows[i].from) >= 0 && place_of(v, places, arrows[i].to) >= 0)
            lengths[n++] = arrows[i].end - arrows[i].begin;
    const double shortest = find_shortest(lengths, n, ARROWS_DRAWN);
    put_left_out(json, "arrows_left_out", n, shortest);
    ar_json_begin(json, "arrows", '[');
    for (size_t i = 0; i < v->call->narrows; i++) {
        const struct ar_read_trace_arrow *const a = &arrows[i];
        const int from = place_of(v, places, a->from), to = place_of(v, places, a->to);
        const bool on_path = is_on_path(v, a);
        if (from >= 0 && to >= 0 && (on_path || a->end - a->begin > shortest))
            ar_json_put(json, NULL, "[%d,%d,%.3f,%.3f,%.0f,%d,%d]", from, to,
                        a->begin - v->call->begin, a->end - v->call->begin, a->bytes, a->is_flag,
                        on_path);
    }
    ar_json_end(json, ']');
}

/* The parts of the model's time: [name, how long]; none where it has no time. */
static void
put_model(struct ar_json *json, const struct ar_read_trace_view *v)
{
    ar_json_begin(json, "model", '[');
    for (int i = 0; i < AR_PARTS && !v->unknown; i++)
        ar_json_put(json, NULL, "[\"%s\",%.3f]", ar_part_names[i],
                    v->predicted.end.parts[i] * 1e-3);
    ar_json_end(json, ']');
}

static void
put_texts(struct ar_json *json, const struct ar_read_trace_view *v)
{
    const struct ar_read_trace *const t = v->timeline;
    char text[AR_READ_TRACE_TEXT];
    snprintf(text, sizeof text, "A call of MPI_Allreduce in %s, %d rank%s, %s", t->program,
             t->ranks, ar_plural((size_t)t->ranks), t->when);
    ar_json_put_text(json, "title", text);
    ar_json_put_text(json, "verdict", ar_read_trace_verdict(v, text, sizeof text));
    ar_json_put_text(json, "path", ar_read_trace_path(v, text, sizeof text));
    ar_json_put_text(json, "caution", ar_read_trace_caution(v, text, sizeof text));
    ar_json_put_text(json, "model_supposes", ar_read_trace_model(v, text, sizeof text));
}

static bool
print_text(const void *view)
{
    ar_read_trace_print(view, ROWS_DRAWN);
    return true;
}

static bool
print_document(const void *view)
{
    const struct ar_read_trace_view *const v = view;
    const size_t most = v->call->nslices > v->call->narrows ? v->call->nslices : v->call->narrows;
    double *const lengths = malloc((most + 1) * sizeof *lengths);
    int *const places = place_rows(v);
    const bool is_done = lengths && places;
    struct ar_json json = {.to = stdout};
    ar_json_begin(&json, NULL, '{');
    put_texts(&json, v);
    put_call(&json, "call", v->timeline, v->call);
    put_longest_calls(&json, v->timeline);
    if (is_done) {
        put_rows(&json, v, places);
        put_legs(&json, v, places);
        put_slices(&json, v, places, lengths);
        put_arrows(&json, v, places, lengths);
    }
    put_model(&json, v);
    ar_json_end(&json, '}');
    free(lengths);
    free(places);
    return is_done;
}

int
ar_read_trace_write_html(const char *path, const struct ar_read_trace_view *v)
{
    return ar_page_write(path, "timeline.js", print_text, print_document, v);
}
