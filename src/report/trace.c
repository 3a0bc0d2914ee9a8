#include "report/trace.h"

#include <inttypes.h>
#include <stdlib.h>

#include "report/json.h"
#include "report/trace_arrows.h"

/* The tracks of a log, of which a rank has one for each communicator.  The first track has calls
 * and waits, the others have the segments in flight. */
#define TRACKS 1000

struct output {
    FILE *to;
    const struct ar_trace *trace;
    uint64_t zero_ns; /* of the first event */
    const char *comma;
};

/* --- parts of an event --- */

static unsigned long
track_of(const struct ar_trace_place *place)
{
    const struct ar_event *const e = place->event;
    const bool is_of_call =
        e->kind == AR_EVENT_CALL || e->kind == AR_EVENT_SETUP || e->kind == AR_EVENT_WAIT;
    return place->log_number * TRACKS + (is_of_call ? 0 : 1UL + e->lane % (TRACKS - 1));
}

/* Times are microseconds; by hand, since the program's locale may write a comma. */
static void
put_time(const struct output *out, const char *name, uint64_t ns)
{
    fprintf(out->to, ", \"%s\": %" PRIu64 ".%03u", name, ns / 1000, (unsigned)(ns % 1000));
}

static void
put_text(FILE *to, const char *name, const char *text)
{
    fprintf(to, ", \"%s\": ", name);
    ar_json_string(to, text);
}

/* Begins an event at a time of its place. */
static void
begin(struct output *out, char phase, const struct ar_trace_place *place, uint64_t ns)
{
    fprintf(out->to, "%s\n{\"ph\": \"%c\", \"pid\": %d, \"tid\": %lu", out->comma, phase,
            place->rank->rank, track_of(place));
    put_time(out, "ts", ns - out->zero_ns);
    out->comma = ",";
}

/* The number in the job of a rank of the log's communicator; -1 where it has no part here. */
static int
rank_in_job(const struct ar_trace *trace, const struct ar_trace_log *of, int rank)
{
    const struct ar_trace_log *log = trace->logs;
    for (size_t r = 0; r < trace->nranks; r++)
        for (size_t l = 0; l < trace->ranks[r].nlogs; l++, log++)
            if (log->rank == rank && log->id[0] == of->id[0] && log->id[1] == of->id[1])
                return trace->ranks[r].rank;
    return -1;
}

/* --- spans --- */

static void
put_call(const struct output *out, const struct ar_trace_place *place)
{
    const struct ar_trace_log *const log = place->log;
    const struct ar_trace_kind *const kind = &place->kinds[place->event->step];
    put_text(out->to, "name", kind->ran);
    fprintf(out->to,
            ", \"cat\": \"call\", \"args\": {\"call\": %" PRIu32 ", \"comm\": \"%d.%d\", "
            "\"comm_rank\": %d, \"comm_size\": %d, \"bytes\": %" PRIu64,
            place->event->call, log->id[0], log->id[1], log->rank, log->nranks,
            place->event->bytes);
    put_text(out->to, "comm_name", log->name);
    put_text(out->to, "type", kind->type);
    put_text(out->to, "op", kind->op);
    put_text(out->to, "ran", kind->ran);
    put_text(out->to, "reason", kind->reason);
    fputc('}', out->to);
}

static void
put_part(const struct output *out, const struct ar_trace_place *place)
{
    const struct ar_event *const e = place->event;
    const int peer = e->kind == AR_EVENT_WAIT ? rank_in_job(out->trace, place->log, e->peer) : -1;
    if (e->kind == AR_EVENT_ROUND)
        fprintf(out->to, ", \"name\": \"round %" PRIu32 "\", \"cat\": \"round\"", e->round + 1);
    else if (e->kind == AR_EVENT_WORK)
        fprintf(out->to, ", \"name\": \"work\", \"cat\": \"work\"");
    else if (e->kind == AR_EVENT_SETUP)
        fprintf(out->to, ", \"name\": \"set-up\", \"cat\": \"setup\"");
    else if (peer >= 0)
        fprintf(out->to, ", \"name\": \"wait for rank %d\", \"cat\": \"wait\"", peer);
    else
        fprintf(out->to, ", \"name\": \"wait\", \"cat\": \"wait\"");
    fprintf(out->to, ", \"args\": {\"call\": %" PRIu32 ", \"comm\": \"%d.%d\"", e->call,
            place->log->id[0], place->log->id[1]);
    if (e->kind == AR_EVENT_ROUND)
        fprintf(out->to, ", \"schedule\": %d, \"segment\": %" PRIu32 ", \"round\": %" PRIu32,
                e->run, e->segment, e->round + 1);
    if (e->kind == AR_EVENT_WORK)
        fprintf(out->to, ", \"bytes\": %" PRIu64, e->bytes);
    if (peer >= 0)
        fprintf(out->to, ", \"rank\": %d", peer);
    fputc('}', out->to);
}

static void
put_span(void *state, const struct ar_trace_place *place)
{
    struct output *const out = state;
    const struct ar_event *const e = place->event;
    if (e->kind > AR_EVENT_WORK)
        return;
    begin(out, 'X', place, e->begin_ns);
    put_time(out, "dur", e->end_ns - e->begin_ns);
    if (e->kind == AR_EVENT_CALL)
        put_call(out, place);
    else
        put_part(out, place);
    fputc('}', out->to);
}

/* --- arrows --- */

static void
put_arrow(struct output *out, const struct ar_trace_arrow *arrow, size_t number)
{
    const struct ar_event *const e = arrow->from.event;
    const char *const name = e->kind == AR_EVENT_SEND ? "message" : "flag";
    begin(out, 's', &arrow->from, e->end_ns);
    fprintf(out->to,
            ", \"id\": %zu, \"name\": \"%s\", \"cat\": \"message\", \"args\": {\"call\": %" PRIu32
            ", \"comm\": \"%d.%d\", \"bytes\": %" PRIu64 "}}",
            number, name, e->call, arrow->from.log->id[0], arrow->from.log->id[1],
            arrow->to.event->bytes);
    begin(out, 'f', &arrow->to, arrow->to.event->end_ns);
    fprintf(out->to, ", \"id\": %zu, \"name\": \"%s\", \"cat\": \"message\", \"bp\": \"e\"}",
            number, name);
}

/* --- names --- */

static void
put_name(struct output *out, const char *what, int rank, unsigned long track, const char *name)
{
    fprintf(out->to, "%s\n{\"ph\": \"M\", \"name\": \"%s\", \"pid\": %d, \"tid\": %lu, \"args\": {",
            out->comma, what, rank, track);
    fprintf(out->to, "\"name\": ");
    ar_json_string(out->to, name);
    fputs("}}", out->to);
    out->comma = ",";
}

static void
put_rank(struct output *out, const struct ar_trace_rank *rank)
{
    char name[AR_HOST_TEXT + 32];
    snprintf(name, sizeof name, "rank %d on %s", rank->rank, rank->host);
    put_name(out, "process_name", rank->rank, 0, name);
    fprintf(out->to,
            ",\n{\"ph\": \"M\", \"name\": \"process_sort_index\", \"pid\": %d, \"tid\": 0, "
            "\"args\": {\"sort_index\": %d}}",
            rank->rank, rank->rank);
}

static unsigned long
lanes_of(const struct ar_trace_log *log, const struct ar_event *events)
{
    unsigned long lanes = 0;
    for (uint64_t i = 0; i < log->nevents; i++)
        if (events[i].kind != AR_EVENT_CALL && events[i].lane >= lanes)
            lanes = events[i].lane + 1UL;
    return lanes;
}

static void
put_names(struct output *out)
{
    const struct ar_trace *const trace = out->trace;
    const struct ar_trace_log *log = trace->logs;
    const struct ar_event *events = trace->events;
    char name[AR_COMM_TEXT + 64];
    for (size_t r = 0; r < trace->nranks; r++) {
        put_rank(out, &trace->ranks[r]);
        for (size_t l = 0; l < trace->ranks[r].nlogs; l++, events += log->nevents, log++) {
            const char *const comm = *log->name ? log->name : "a communicator";
            const unsigned long lanes = lanes_of(log, events);
            snprintf(name, sizeof name, "%s: calls and waits", comm);
            put_name(out, "thread_name", trace->ranks[r].rank, l * TRACKS, name);
            for (unsigned long lane = 0; lane < lanes && lane < TRACKS - 1; lane++) {
                snprintf(name, sizeof name, "%s: rounds, segment in flight %lu", comm, lane);
                put_name(out, "thread_name", trace->ranks[r].rank, l * TRACKS + 1 + lane, name);
            }
        }
    }
}

/* --- the file --- */

static void
find_zero(void *state, const struct ar_trace_place *place)
{
    struct output *const out = state;
    if (place->event->begin_ns < out->zero_ns)
        out->zero_ns = place->event->begin_ns;
}

static void
put_head(const struct output *out, const struct ar_run *run)
{
    uint64_t lost = 0, error_ns = 0;
    for (size_t r = 0; r < out->trace->nranks; r++) {
        const struct ar_trace_rank *const rank = &out->trace->ranks[r];
        lost += rank->lost;
        error_ns = rank->error_ns > error_ns ? rank->error_ns : error_ns;
    }
    fputs("{\"displayTimeUnit\": \"ns\", \"otherData\": {\"format\": 1", out->to);
    put_text(out->to, "liballreduce", run->version);
    put_text(out->to, "mpi", run->family);
    put_text(out->to, "program", run->program);
    put_text(out->to, "when", run->when);
    fprintf(out->to, ", \"world\": %d, \"ranks\": %d, \"calls_lost\": %" PRIu64, run->nranks,
            run->ranks, lost);
    if (error_ns == UINT64_MAX)
        fputs(", \"clock_error_us\": null", out->to);
    else
        put_time(out, "clock_error_us", error_ns);
    fputs("},\n\"traceEvents\": [", out->to);
}

bool
ar_trace_write(FILE *to, const struct ar_trace *trace, const struct ar_run *run)
{
    struct output out = {.to = to, .trace = trace, .zero_ns = UINT64_MAX, .comma = ""};
    size_t n = 0;
    struct ar_trace_arrow *const arrows = ar_trace_arrows(trace, &n);
    if (!arrows)
        return false;
    ar_trace_walk(trace, find_zero, &out);
    put_head(&out, run);
    put_names(&out);
    ar_trace_walk(trace, put_span, &out);
    for (size_t i = 0; i < n; i++)
        put_arrow(&out, &arrows[i], i);
    fputs("\n]}\n", to);
    free(arrows);
    return true;
}
