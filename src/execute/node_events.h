/* What the node executor records of a run for a timeline; run->events is not NULL. */
#ifndef AR_NODE_EVENTS_H
#define AR_NODE_EVENTS_H

#include "execute/node.h"
#include "execute/node_plan.h"

/* A step ran without so many of its elements from event->begin_ns to end_ns; event also has its
 * place in the call.  waited: its flag was not raised at once. */
void ar_node_note_step(const struct ar_node_run *run, const struct ar_event *event,
                       const struct ar_node_step *step, size_t without, bool waited);

/* A stage ends that began at stage->begin_ns and has this place in the call: that of a round, or
 * one of the consecutive parts of a round. */
void ar_node_note_round(const struct ar_node_run *run, const struct ar_event *stage);

#endif
