#include "execute/node_events.h"

/* A flag is known by where it is in its rank's slot. */
static uint32_t
flag_of(const struct ar_node_run *run, const struct ar_node_step *step, int rank)
{
    return (uint32_t)((size_t)step->flag - (size_t)rank * run->node->piece.slot_bytes);
}

static void
note_awaited(const struct ar_node_run *run, const struct ar_event *event,
             const struct ar_node_step *step, size_t bytes, bool waited)
{
    struct ar_event see = *event;
    see.peer = step->rank;
    see.step = flag_of(run, step, step->rank);
    see.bytes = bytes;
    see.kind = AR_EVENT_WAIT;
    if (waited)
        ar_events_note(run->events, see);
    see.kind = AR_EVENT_SEE;
    see.begin_ns = see.end_ns;
    ar_events_note(run->events, see);
}

void
ar_node_note_step(const struct ar_node_run *run, const struct ar_event *event,
                  const struct ar_node_step *step, size_t without, bool waited)
{
    const size_t size = run->reduction->size;
    const size_t unit = step->kind == AR_ACCESS_AWAIT ? 1 : size; /* of the step's length */
    const size_t all = step->length * unit, less = without * size;
    const size_t bytes = all > less ? all - less : 0;
    struct ar_event noted = *event;
    if (step->kind == AR_ACCESS_AWAIT) {
        note_awaited(run, event, step, bytes, waited);
    } else if (step->kind == AR_ACCESS_RAISE) {
        noted.kind = AR_EVENT_RAISE;
        noted.step = flag_of(run, step, run->node->rank);
        noted.end_ns = noted.begin_ns; /* from then on others may see it */
        ar_events_note(run->events, noted);
    } else {
        noted.kind = AR_EVENT_WORK;
        noted.bytes = bytes;
        ar_events_note_work(run->events, &noted);
    }
}

void
ar_node_note_round(const struct ar_node_run *run, const struct ar_event *stage)
{
    struct ar_event round = *stage;
    round.kind = AR_EVENT_ROUND;
    round.end_ns = ar_clock_system_ns();
    if (round.round > 0 || !ar_events_extend_round(run->events, &round))
        ar_events_note(run->events, round);
}
