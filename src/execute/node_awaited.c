/* What a run waits for: another thread asks. */
#include <stddef.h>
#include <stdint.h>

#include "execute/node.h"
#include "execute/node_plan.h"
#include "execute/node_slots.h"

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
