/* Reads what ALLREDUCE_TRACE wrote. */
#include <config.h>

#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/read_timeline.h"
#include "cli/report.h"
#include "config/input.h"

/* The file while it is read. */
struct reader {
    struct ar_read_trace *t;
    const json_t *events;
    struct ar_read_trace_call *heads; /* of each slice of a call */
    size_t nheads;
    json_int_t *ids; /* of each arrow; they ascend in the file */
};

static int
complain(const struct ar_read_trace *t, const char *what)
{
    fprintf(stderr, "allreduce report: --timeline: %s: %s\n", t->path, what);
    return AR_EXIT_FAILED;
}

/* --- values --- */

/* -1 where it is not there, or no int. */
static int
number(const json_t *object, const char *name)
{
    const json_t *const value = json_object_get(object, name);
    const json_int_t found = json_is_integer(value) ? json_integer_value(value) : -1;
    return found >= 0 && found <= INT_MAX ? (int)found : -1;
}

static bool
take_real(double *value, const json_t *object, const char *name)
{
    const json_t *const found = json_object_get(object, name);
    *value = json_number_value(found);
    return json_is_number(found) && *value >= 0;
}

static bool
take_key(struct ar_read_trace_key *key, const json_t *args)
{
    const char *const comm = json_string_value(json_object_get(args, "comm"));
    const int call = number(args, "call");
    char *end = NULL;
    if (!comm || call < 1)
        return false;
    key->call = (uint32_t)call;
    key->id[0] = (int)strtol(comm, &end, 10);
    if (end == comm || *end != '.')
        return false;
    key->id[1] = (int)strtol(end + 1, &end, 10);
    return *end == '\0';
}

/* --- events; false: not as we write them --- */

static bool
take_head(struct reader *r, const json_t *args)
{
    struct ar_read_trace_call *const head = &r->heads[r->nheads++];
    ar_json_text(head->comm, sizeof head->comm, args, "comm_name");
    ar_json_text(head->type, sizeof head->type, args, "type");
    ar_json_text(head->op, sizeof head->op, args, "op");
    ar_json_text(head->ran, sizeof head->ran, args, "ran");
    ar_json_text(head->reason, sizeof head->reason, args, "reason");
    head->nranks = number(args, "comm_size");
    return take_real(&head->bytes, args, "bytes") && head->bytes < 0x1p62 && head->nranks > 0 &&
           number(args, "comm_rank") >= 0;
}

static bool
take_slice(struct reader *r, const json_t *event)
{
    static const char *const names[AR_SLICE_KINDS] = {"call", "setup", "round", "wait", "work"};
    static const char *const details[AR_SLICE_KINDS] = {"comm_rank", "", "round", "rank", ""};
    const char *const cat = json_string_value(json_object_get(event, "cat"));
    const json_t *const args = json_object_get(event, "args");
    struct ar_slice slice = {.rank = number(event, "pid")};
    int kind = 0;
    double lasts;
    while (cat && kind < AR_SLICE_KINDS && strcmp(cat, names[kind]) != 0)
        kind++;
    if (!cat || kind == AR_SLICE_KINDS || slice.rank < 0 || slice.rank >= r->t->world ||
        !take_key(&slice.key, args) || !take_real(&slice.begin, event, "ts") ||
        !take_real(&lasts, event, "dur"))
        return false;
    slice.kind = (enum ar_slice_kind)kind;
    slice.detail = number(args, details[kind]);
    slice.end = slice.begin + lasts;
    if (kind == AR_SLICE_CALL && !take_head(r, args))
        return false;
    r->t->slices[r->t->nslices++] = slice;
    return true;
}

/* Its end comes later in the file. */
static bool
take_arrow(struct reader *r, const json_t *event)
{
    const json_t *const args = json_object_get(event, "args");
    const char *const name = json_string_value(json_object_get(event, "name"));
    const json_t *const id = json_object_get(event, "id");
    struct ar_read_trace_arrow arrow = {.from = number(event, "pid"), .to = -1};
    if (!name || !json_is_integer(id) || arrow.from < 0 || arrow.from >= r->t->world ||
        !take_key(&arrow.key, args) || !take_real(&arrow.begin, event, "ts") ||
        !take_real(&arrow.bytes, args, "bytes"))
        return false;
    if (r->t->narrows > 0 && json_integer_value(id) <= r->ids[r->t->narrows - 1])
        return false;
    arrow.is_flag = strcmp(name, "flag") == 0;
    r->ids[r->t->narrows] = json_integer_value(id);
    r->t->arrows[r->t->narrows++] = arrow;
    return true;
}

static bool
end_arrow(struct reader *r, const json_t *event)
{
    const json_t *const id = json_object_get(event, "id");
    size_t low = 0, high = r->t->narrows;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (r->ids[middle] < json_integer_value(id))
            low = middle + 1;
        else
            high = middle;
    }
    if (!json_is_integer(id) || low == r->t->narrows || r->ids[low] != json_integer_value(id))
        return false;
    r->t->arrows[low].to = number(event, "pid");
    return r->t->arrows[low].to >= 0 && r->t->arrows[low].to < r->t->world &&
           take_real(&r->t->arrows[low].end, event, "ts");
}

/* "rank 3 on node1" */
static bool
take_host(struct reader *r, const json_t *event)
{
    const char *const what = json_string_value(json_object_get(event, "name"));
    const char *const name =
        json_string_value(json_object_get(json_object_get(event, "args"), "name"));
    const int rank = number(event, "pid");
    const char *const host = name ? strstr(name, " on ") : NULL;
    if (!what || strcmp(what, "process_name") != 0)
        return true;
    if (rank < 0 || rank >= r->t->world || !host)
        return false;
    struct ar_read_trace_host *const named = &r->t->hosts[r->t->nhosts++];
    named->rank = rank;
    snprintf(named->name, sizeof named->name, "%s", host + strlen(" on "));
    return true;
}

/* Events of kinds that we do not write are another's, and read over. */
static bool
take_event(struct reader *r, const json_t *event)
{
    const char *const phase = json_string_value(json_object_get(event, "ph"));
    if (!phase)
        return false;
    switch (*phase) {
    case 'M':
        return take_host(r, event);
    case 'X':
        return take_slice(r, event);
    case 's':
        return take_arrow(r, event);
    case 'f':
        return end_arrow(r, event);
    default:
        return true;
    }
}

/* --- the file --- */

static bool
take_run(struct ar_read_trace *t, const json_t *other)
{
    const json_t *const error = json_object_get(other, "clock_error_us");
    ar_json_text(t->program, sizeof t->program, other, "program");
    ar_json_text(t->version, sizeof t->version, other, "liballreduce");
    ar_json_text(t->family, sizeof t->family, other, "mpi");
    ar_json_text(t->when, sizeof t->when, other, "when");
    t->ranks = number(other, "ranks");
    t->world = number(other, "world");
    t->clock_error = json_is_number(error) ? json_number_value(error) : NAN;
    return *t->version && t->ranks > 0 && t->world >= t->ranks &&
           take_real(&t->calls_lost, other, "calls_lost");
}

/* Room for as many of each as there are events.  False without memory. */
static bool
make_room(struct reader *r)
{
    const size_t n = json_array_size(r->events) + 1;
    r->t->hosts = calloc(n, sizeof *r->t->hosts);
    r->t->slices = calloc(n, sizeof *r->t->slices);
    r->t->arrows = calloc(n, sizeof *r->t->arrows);
    r->ids = calloc(n, sizeof *r->ids);
    for (size_t i = 0; i + 1 < n; i++) {
        const char *const cat =
            json_string_value(json_object_get(json_array_get(r->events, i), "cat"));
        r->nheads += cat && strcmp(cat, "call") == 0;
    }
    r->heads = calloc(r->nheads + 1, sizeof *r->heads);
    r->nheads = 0;
    return r->t->hosts && r->t->slices && r->t->arrows && r->ids && r->heads;
}

static int
take_events(struct reader *r)
{
    struct ar_read_trace *const t = r->t;
    size_t i;
    const json_t *event;
    char what[80];
    if (!make_room(r))
        return complain(t, "out of memory");
    json_array_foreach(r->events, i, event)
    {
        if (take_event(r, event))
            continue;
        snprintf(what, sizeof what, "event %zu of traceEvents is not from ALLREDUCE_TRACE", i + 1);
        return complain(t, what);
    }
    for (i = 0; i < t->narrows; i++)
        if (t->arrows[i].to < 0)
            return complain(t, "an arrow has no end");
    if (r->nheads == 0)
        return complain(t, "contains no call; let ALLREDUCE_TRACE record some");
    return ar_read_trace_sort(t, r->heads) ? AR_EXIT_DONE : complain(t, "out of memory");
}

static int
take_document(struct ar_read_trace *t, const json_t *document)
{
    struct reader reader = {.t = t, .events = json_object_get(document, "traceEvents")};
    const json_t *const other = json_object_get(document, "otherData");
    const int format = number(other, "format");
    int status;
    if (format > 1)
        return complain(t, "was written by a later version of liballreduce");
    if (format != 1 || !json_is_array(reader.events) || !take_run(t, other))
        return complain(t, "is JSON, but not a timeline; --timeline needs a file that a run with "
                           "ALLREDUCE_TRACE=FILE wrote");
    status = take_events(&reader);
    free(reader.ids);
    free(reader.heads);
    return status;
}

int
ar_read_trace_read(struct ar_read_trace *t, const char *path)
{
    char what[JSON_ERROR_TEXT_LENGTH + 200];
    json_error_t error;
    *t = (struct ar_read_trace){.path = path};
    FILE *const file = ar_input_open(path);
    if (!file)
        return complain(t, strerror(errno));
    json_t *const document = json_loadf(file, 0, &error);
    fclose(file);
    if (!document) {
        const bool has_lines = json_error_code(&error) == json_error_end_of_input_expected;
        snprintf(what, sizeof what,
                 has_lines
                     ? "line %d: %s: it looks like statistics, which are read without --timeline"
                     : "line %d: %s: it is truncated, or not a file that a run with "
                       "ALLREDUCE_TRACE=FILE wrote",
                 error.line, error.text);
        return complain(t, what);
    }
    const int status = take_document(t, document);
    json_decref(document);
    if (status != AR_EXIT_DONE)
        ar_read_trace_fini(t);
    return status;
}
