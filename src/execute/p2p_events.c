#include "execute/p2p_events.h"

#include "schedule/walk.h"

/* An event of the instance's round that begins and ends now. */
static struct ar_event
event_of(const struct ar_p2p *run, const struct ar_instance *x, enum ar_event_kind kind)
{
    const uint64_t now = ar_clock_system_ns();
    return (struct ar_event){.kind = (unsigned char)kind,
                             .begin_ns = now,
                             .end_ns = now,
                             .lane = (unsigned char)(x - run->plan->instances),
                             .segment = (uint32_t)x->segment,
                             .round = (uint32_t)x->round,
                             .peer = -1};
}

static size_t
length_of(const struct ar_step *step)
{
    return step->kind == AR_SEND ? step->a.length : step->dst.length;
}

static void
set_message(struct ar_event *event, const struct ar_p2p *run, const struct ar_step *step,
            int number)
{
    event->peer = step->peer;
    event->step = (uint32_t)number;
    event->bytes = length_of(step) * run->reduction->size;
}

void
ar_p2p_note_begin(const struct ar_p2p *run, struct ar_instance *x)
{
    const struct ar_schedule *const s = &x->routine->schedule;
    struct ar_event event = event_of(run, x, AR_EVENT_SEND);
    int number = 0;
    x->begun_ns = event.begin_ns;
    for (size_t i = ar_round_begin(s, x->round); i < s->round_end[x->round]; i++)
        if (s->steps[i].kind == AR_SEND) {
            set_message(&event, run, &s->steps[i], number++);
            ar_events_note(run->events, event);
        }
}

/* The step of the instance's message of this number, in the order in which they were posted: the
 * sends first. */
static const struct ar_step *
step_of(const struct ar_instance *x, int number)
{
    const struct ar_schedule *const s = &x->routine->schedule;
    const struct ar_step *found = NULL;
    for (int receives = 0; receives < 2; receives++)
        for (size_t i = ar_round_begin(s, x->round); i < s->round_end[x->round] && !found; i++) {
            const struct ar_step *const step = &s->steps[i];
            if (ar_step_is_message(step) && ar_step_receives(step) == receives && number-- == 0)
                found = step;
        }
    return found;
}

/* The message that ends a wait is the first one of those that were found together. */
void
ar_p2p_note_poll(const struct ar_p2p *run, int found)
{
    struct ar_events *const log = run->events;
    const struct ar_plan *const plan = run->plan;
    if (found == 0) {
        log->waiting_since_ns =
            log->waiting_since_ns ? log->waiting_since_ns : ar_clock_system_ns();
        return;
    }
    for (int i = 0; i < found; i++) {
        const struct ar_instance *const x = &plan->instances[plan->completed[i] / plan->messages];
        const int number = plan->completed[i] % plan->messages;
        const struct ar_step *const step = step_of(x, number);
        struct ar_event event = event_of(run, x, AR_EVENT_RECEIVE);
        set_message(&event, run, step, number);
        if (ar_step_receives(step))
            ar_events_note(log, event);
        if (log->waiting_since_ns == 0)
            continue;
        event.kind = AR_EVENT_WAIT;
        event.begin_ns = log->waiting_since_ns;
        ar_events_note(log, event);
        log->waiting_since_ns = 0;
    }
}

static uint64_t
work_bytes(const struct ar_p2p *run, const struct ar_instance *x)
{
    const struct ar_schedule *const s = &x->routine->schedule;
    size_t length = 0;
    for (size_t i = ar_round_begin(s, x->round); i < s->round_end[x->round]; i++)
        if (s->steps[i].kind == AR_RECV_REDUCE || !ar_step_is_message(&s->steps[i]))
            length += s->steps[i].dst.length;
    return length * run->reduction->size;
}

void
ar_p2p_note_round(const struct ar_p2p *run, const struct ar_instance *x, uint64_t came_ns)
{
    struct ar_event event = event_of(run, x, AR_EVENT_WORK);
    event.begin_ns = came_ns;
    event.bytes = work_bytes(run, x);
    if (event.bytes > 0)
        ar_events_note(run->events, event);
    event.kind = AR_EVENT_ROUND;
    event.begin_ns = x->begun_ns;
    ar_events_note(run->events, event);
}
