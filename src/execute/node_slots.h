/* Where the flags of a turn and the programs of a plan are: for those who run them, and for another
 * thread that asks what they wait for. */
#ifndef AR_NODE_SLOTS_H
#define AR_NODE_SLOTS_H

#include <stddef.h>
#include <stdint.h>

#include "execute/node.h"
#include "execute/node_plan.h"

static inline char *
ar_node_slots(const struct ar_node *node, uint64_t sequence)
{
    const struct ar_piece *piece = &node->piece;
    return piece->slots + (size_t)(sequence % AR_SLOTS) * (size_t)piece->stride * piece->slot_bytes;
}

static inline struct ar_flag *
ar_node_flag(const struct ar_node *node, uint64_t sequence, ptrdiff_t at)
{
    return (struct ar_flag *)(void *)(ar_node_slots(node, sequence) + at);
}

/* The programs of a plan, by number. */
enum { AR_NODE_MEETING = 2 * AR_WAYS, AR_NODE_PROGRAMS = 8 };

static inline const struct ar_node_program *
ar_node_program_at(const struct ar_node_plan *plan, unsigned number)
{
    return number >= AR_NODE_MEETING ? &plan->meet
           : number % 2              ? &plan->tail[number / 2]
                                     : &plan->full[number / 2];
}

/* What is awaited, in one number: the chunk's sequence number, the step and the program. */
#define AR_NODE_STEPS ((uint64_t)1 << 20)

static inline uint64_t
ar_node_awaiting(uint64_t sequence, uint64_t step, unsigned program)
{
    return (sequence * AR_NODE_STEPS + step) * AR_NODE_PROGRAMS + program;
}

#endif
