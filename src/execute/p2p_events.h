/* What the point-to-point executor notes of a run for a timeline; run->events is there. */
#ifndef AR_P2P_EVENTS_H
#define AR_P2P_EVENTS_H

#include "execute/p2p.h"

/* The instance begins its round, and sends what that sends from now on. */
void ar_p2p_note_begin(const struct ar_p2p *run, struct ar_instance *x);

/* The plan has the first `found` numbers of completed messages; 0: a poll in vain. */
void ar_p2p_note_poll(const struct ar_p2p *run, int found);

/* The round's messages had come at came_ns, and its local part is done. */
void ar_p2p_note_round(const struct ar_p2p *run, const struct ar_instance *x, uint64_t came_ns);

#endif
