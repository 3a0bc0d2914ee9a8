/* The point-to-point executor: runs any plan with PMPI_Isend and PMPI_Irecv, and within a node
 * with a channel through shared memory. */
#ifndef AR_P2P_H
#define AR_P2P_H

#include <mpi.h>
#include <stdint.h>

#include "execute/plan.h"
#include "execute/wait.h"
#include "execute/wire.h"
#include "reduce/reduce.h"
#include "report/events.h"

/* The operands of a run.  in may be out (MPI_IN_PLACE); both are MPI buffers of
 * plan->count elements; scratch has ar_plan_scratch_bytes(plan)
 * bytes, aligned to 64. */
struct ar_p2p {
    struct ar_plan *plan;
    const struct ar_reduction *reduction;
    const char *in;
    char *out;
    char *scratch;
    struct ar_channel *channel; /* NULL: all messages are MPI's; else window <= AR_CHANNEL_QUEUES */
    const int *member_of;       /* each rank's number in the channel; -1: its messages are MPI's */
    const struct ar_wire *wire;
    struct ar_wait wait;
    bool whole;               /* the op needs all elements of a step in one call */
    uint64_t *waited_ticks;   /* the time of unsuccessful polls is added here; or NULL */
    struct ar_events *events; /* records what the run does; or NULL */
};

/* Adds AR_AWAITED_GIVING and _TAKING to the marks of each of the plan's ranks for which another
 * thread's run waits; see wait.h. */
void ar_p2p_awaited(const struct ar_p2p *run, unsigned char *marks);

/* Runs the whole plan.  Allocates nothing.  MPI_SUCCESS, or the first error of a PMPI
 * call; then out is undefined, and the communicator is no longer usable. */
int ar_p2p_run(const struct ar_p2p *run);

#endif
