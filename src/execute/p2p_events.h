/* What the point-to-point executor records of a run for a timeline; run->events is not NULL. */
#ifndef AR_P2P_EVENTS_H
#define AR_P2P_EVENTS_H

#include "execute/p2p.h"

/* The instance begins its round, and sends the round's messages from now on. */
void ar_p2p_note_begin(const struct ar_p2p *run, struct ar_instance *x);

/* The plan has the first `found` numbers of completed messages; 0: the poll found none. */
void ar_p2p_note_poll(const struct ar_p2p *run, int found);

/* All messages of the round had arrived at came_ns, and its local part is done. */
void ar_p2p_note_round(const struct ar_p2p *run, const struct ar_instance *x, uint64_t came_ns);

#endif
