/* The point-to-point executor: runs any plan by PMPI_Isend and PMPI_Irecv, and within a node
 * by a channel through shared memory. */
#ifndef AR_P2P_H
#define AR_P2P_H

#include <mpi.h>
#include <stdint.h>

#include "execute/plan.h"
#include "execute/wait.h"
#include "execute/wire.h"
#include "reduce/reduce.h"
#include "report/events.h"

/* What a run works on.  in may be out (MPI_IN_PLACE); both are buffers of
 * plan->count elements as MPI has them; scratch has ar_plan_scratch_bytes(plan)
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
    uint64_t *waited_ticks;   /* gets the time of polls in vain added; NULL: nobody asks */
    struct ar_events *events; /* notes what the run does; NULL: nobody asks */
};

/* Adds to the marks of each of the plan's ranks AR_AWAITED_GIVING and _TAKING where another
 * thread's run waits for that rank; see wait.h. */
void ar_p2p_awaited(const struct ar_p2p *run, unsigned char *marks);

/* Runs the plan to its end.  Allocates nothing.  MPI_SUCCESS, or the first error
 * of a PMPI call: out is then undefined and the communicator not usable. */
int ar_p2p_run(const struct ar_p2p *run);

#endif
