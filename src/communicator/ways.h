/* How ranks that share memory get at each other's vectors: through slots, or in place. */
#ifndef AR_COMMUNICATOR_WAYS_H
#define AR_COMMUNICATOR_WAYS_H

#include "communicator/communicator.h"
#include "execute/stores.h"

/* Why a call of auto went through slots that could have gone in place. */
extern const char ar_reason_yielded[];

/* Why vectors are not read in place that were to be, beside ar_in_place_lacking. */
extern const char ar_reason_unmapped[]; /* "buffers cannot be mapped: through slots": of a call */
extern const char ar_reason_derived[];  /* "derived type: through slots": each rank has a layout of
                                           its own; the choice stays in place all the same */

/* Settles d's choice, if it takes a copy: AUTO becomes IN_PLACE where that is faster and the ranks
 * can, and stays otherwise.  IN_PLACE becomes SLOTS where it cannot be, as the reason tells, and
 * AUTO where d goes by messages.  Alike on all ranks; collective over comm where in place is
 * first wanted.  MPI_SUCCESS or an error of MPI's. */
int ar_copy_settle(struct ar_communicator *c, MPI_Comm comm, struct ar_decision *d);

/* Settles how calls of d, by ranks with these cores, store what others read; can: as in stores.
 * stores must stay where it is, in d's plan, since a pick's trial is in it; other calls share a
 * trial with c's calls of about their size.  Without memory there is no trial. */
void ar_copy_settle_stores(struct ar_stores *stores, struct ar_communicator *c,
                           const struct ar_decision *d, struct ar_crowd crowd, bool can);

/* After a call by d: later communicators begin with what its trial has found. */
void ar_copy_learn(const struct ar_communicator *c, const struct ar_decision *d,
                   const struct ar_stores *stores);

/* Is a trial of how calls of d store under way on this rank?  None ever begins where all of them go
 * in place. */
bool ar_copy_is_trying(const struct ar_decision *d);

/* Ends that, as if it had found what was known before. */
void ar_copy_stop_trying(const struct ar_decision *d);

#endif
