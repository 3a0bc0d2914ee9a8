/* What the node executor notes of a run for a timeline; run->events is there. */
#ifndef AR_NODE_EVENTS_H
#define AR_NODE_EVENTS_H

#include "execute/node.h"
#include "execute/node_plan.h"

/* A step was run from event->begin_ns to end_ns; event has its place in the call, too.  waited: its
 * flag was not there at once. */
void ar_node_note_step(const struct ar_node_run *run, const struct ar_event *event,
                       const struct ar_node_step *step, bool waited);

/* A stage that began at stage->begin_ns, and is of this place in the call, ends: the round's, or a
 * part of it, of which the parts follow each other. */
void ar_node_note_round(const struct ar_node_run *run, const struct ar_event *stage);

#endif
