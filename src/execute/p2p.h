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

/* What a run works on.  in may be out (MPI_IN_PLACE); both are buffers of
 * plan->count elements as MPI has them; scratch has ar_plan_scratch_bytes(plan)
 * bytes, aligned to 64. */
struct ar_p2p {
    struct ar_plan *plan;
    const struct ar_reduction *reduction;
    const char *in;
    char *out;
    char *scratch;
    struct ar_channel *channel; /* NULL: by messages of MPI's; else window <= AR_CHANNEL_LANES */
    const int *member_of;       /* number of each rank in the channel; -1: by messages of MPI's */
    const struct ar_wire *wire;
    struct ar_wait wait;
    bool whole;             /* the op needs all elements of a step in one call */
    uint64_t *waited_ticks; /* gets the time of polls in vain added; NULL: nobody asks */
};

/* Adds to the marks of each of the plan's ranks what keeps a run of another thread's from going on,
 * of AR_AWAITED_GIVING and _TAKING; see awaited.h. */
void ar_p2p_awaited(const struct ar_p2p *run, unsigned char *marks);

/* Runs the plan to its end.  Allocates nothing.  MPI_SUCCESS, or the first error
 * of a PMPI call: out is then undefined and the communicator not usable. */
int ar_p2p_run(const struct ar_p2p *run);

#endif
