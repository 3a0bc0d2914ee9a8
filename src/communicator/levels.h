/* The levels of a communicator inside its nodes: from the cores that its ranks are bound to, and
 * from what is asked for, to groups of ranks. */
#ifndef AR_COMMUNICATOR_LEVELS_H
#define AR_COMMUNICATOR_LEVELS_H

#include "communicator/communicator.h"

/* "no room for levels: flat": the slots of shared memory do not hold what each level stores of a
 * vector that is not to be cut. */
extern const char ar_reason_no_room[];

/* Gives d's choice, if it takes levels, the groups that run: its own levels, where these are auto
 * ALLREDUCE_LEVELS, flat where the call's bits must stay and the levels do not keep them, and auto
 * flat where ranks share cores.  The choice then has the levels that there are, and a grouping that
 * is kept with c.  Where named ones come to nothing the reason tells.  A choice that has its levels
 * inside nodes needs c's engine, its auto is flat, and the first with names is collective over
 * comm.  Else no MPI is called but for groups.  Alike on all ranks.  MPI_SUCCESS, MPI_ERR_NO_MEM,
 * or an error of that collective's. */
int ar_levels_settle(struct ar_communicator *c, MPI_Comm comm, struct ar_decision *d);

/* Frees the groupings. */
void ar_levels_forget(struct ar_communicator *c);

#endif
