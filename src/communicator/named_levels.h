/* The levels of a communicator inside its nodes: from the cores that its ranks are bound to, and
 * from what is asked for, to groups of ranks. */
#ifndef AR_COMMUNICATOR_LEVELS_H
#define AR_COMMUNICATOR_LEVELS_H

#include "communicator/communicator.h"

/* "no room for levels: flat": the slots of shared memory do not hold what each level stores of a
 * vector that is not to be cut. */
extern const char ar_reason_no_room[];

/* Gives d's choice, if it takes levels, the groups that run.  They follow its own levels, or if
 * these are auto, ALLREDUCE_LEVELS.  They are flat if the call's bits must stay and the levels do
 * not keep them; auto is flat if ranks share cores.  The choice then has the levels that there are,
 * and a grouping that is kept with c.  If levels that were asked for come to nothing, the reason
 * tells.  For a choice with its levels inside nodes c's engine must be ready, auto is flat, and the
 * first such call with names is collective over comm.  Otherwise no MPI is called but for groups.
 * Alike on all ranks.  MPI_SUCCESS, MPI_ERR_NO_MEM, or an error of that collective's. */
int ar_levels_settle(struct ar_communicator *c, MPI_Comm comm, struct ar_decision *d);

/* Frees the groupings. */
void ar_levels_forget(struct ar_communicator *c);

#endif
