#include "report/events.h"

#include <stdlib.h>

#define FIRST_ROOM 512

/* Takes room for so many events, but at most half of what is left: others need some, too.  How many
 * events that is. */
static size_t
take(atomic_size_t *left_bytes, size_t wanted)
{
    size_t left = atomic_load(left_bytes), taken;
    do {
        taken = left / 2 / sizeof(struct ar_event);
        taken = taken < wanted ? taken : wanted;
    } while (
        !atomic_compare_exchange_weak(left_bytes, &left, left - taken * sizeof(struct ar_event)));
    return taken;
}

bool
ar_events_grow(struct ar_events *log)
{
    const size_t more = take(log->left_bytes, log->room > 0 ? log->room : FIRST_ROOM);
    struct ar_event *const events =
        more > 0 ? realloc(log->events, (log->room + more) * sizeof *events) : NULL;
    log->is_full = !events;
    if (!events)
        return false;
    log->events = events;
    log->room += more;
    return true;
}

bool
ar_events_afford(struct ar_events *log, size_t bytes)
{
    size_t left = atomic_load(log->left_bytes);
    while (left >= bytes)
        if (atomic_compare_exchange_weak(log->left_bytes, &left, left - bytes))
            return true;
    return false;
}

void
ar_events_note_work(struct ar_events *log, const struct ar_event *work)
{
    struct ar_event *const last = log->n > log->call_begin ? &log->events[log->n - 1] : NULL;
    if (last && last->kind == AR_EVENT_WORK && last->run == log->run && last->lane == work->lane &&
        last->segment == work->segment && last->round == work->round) {
        last->end_ns = work->end_ns;
        last->bytes += work->bytes;
        return;
    }
    ar_events_note(log, *work);
}

bool
ar_events_extend_round(struct ar_events *log, const struct ar_event *round)
{
    for (size_t i = log->n; i-- > log->call_begin;) {
        struct ar_event *const e = &log->events[i];
        if (e->kind == AR_EVENT_ROUND && e->run == log->run && e->segment == round->segment &&
            e->round == round->round) {
            e->end_ns = round->end_ns;
            return true;
        }
    }
    return false;
}

void
ar_events_begin(struct ar_events *log, uint32_t call)
{
    log->call = call;
    log->run = 0;
    log->waiting_since_ns = 0;
    log->call_begin = log->n;
}

void
ar_events_run(struct ar_events *log)
{
    log->run++;
    log->waiting_since_ns = 0;
}

void
ar_events_drop(struct ar_events *log)
{
    log->n = log->call_begin;
}
