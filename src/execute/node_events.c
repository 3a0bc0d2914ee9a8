#include "execute/node_events.h"

#include <stddef.h>
#include <stdint.h>

#include "execute/node.h"
#include "execute/node_plan.h"
#include "execute/node_slots.h"

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

/* --- for another thread: what a run waits for --- */

/* The last chunk that the rank has begun; its slots hold the last AR_SLOTS of them. */
static uint64_t
last_begun(const struct ar_node *node, int rank)
{
    const ptrdiff_t at = (ptrdiff_t)((size_t)rank * node->piece.slot_bytes +
                                     offsetof(struct ar_slot, line[ar_slot_line_of(0)]));
    uint64_t last = 0;
    for (uint64_t turn = 0; turn < AR_SLOTS; turn++) {
        const uint64_t sequence = ar_flag_read(ar_node_flag(node, turn, at));
        last = sequence > last ? sequence : last;
    }
    return last;
}

void
ar_node_awaited(const struct ar_node_run *run, unsigned char *marks)
{
    const struct ar_node *const node = run->node;
    const struct ar_node_plan *const plan = run->plan;
    const uint64_t awaited = __atomic_load_n(&node->awaited, __ATOMIC_RELAXED);
    const uint64_t before = __atomic_load_n(&node->sequence, __ATOMIC_RELAXED);
    const uint64_t sequence = awaited / AR_NODE_PROGRAMS / AR_NODE_STEPS,
                   first = awaited / AR_NODE_PROGRAMS % AR_NODE_STEPS;
    const struct ar_node_program *const program =
        ar_node_program_at(plan, awaited % AR_NODE_PROGRAMS);
    size_t stage = 0;
    while (stage < program->nstages && program->stage_end[stage] <= first)
        stage++;
    const bool is_old = sequence <= before || sequence > before + plan->chunks + AR_MEETINGS;
    if (is_old || stage == program->nstages)
        return;
    for (size_t i = first; i < program->stage_end[stage]; i++) {
        const struct ar_node_step *const step = &program->steps[i];
        if (step->kind != AR_ACCESS_AWAIT ||
            ar_flag_read(ar_node_flag(node, sequence, step->flag)) >= sequence)
            continue;
        marks[step->rank] |= AR_AWAITED_GIVING;
        if (last_begun(node, step->rank) <= before)
            marks[step->rank] |= AR_AWAITED_COMING;
    }
}
