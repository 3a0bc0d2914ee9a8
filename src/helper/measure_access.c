/* What a rank itself takes for an access to memory that ranks share: the executor's own calls, in
 * which the other rank's flags are up already and all lines are in this core's cache. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "execute/node_plan.h"
#include "helper/measure_levels.h"
#include "report/clock.h"

#define SAMPLES 500 /* of which the fastest counts, as of messages */
#define CALLS   100 /* in a sample */

/* The slots of two ranks, of which the second has raised all flags for good. */
static char *
make_slots(struct ar_node *node)
{
    const size_t slot_bytes = ar_node_slot_bytes(node->chunk_bytes), bytes = 2 * slot_bytes;
    char *const slots = aligned_alloc(AR_LINE_BYTES, AR_SLOTS * bytes);
    if (!slots)
        return NULL;
    memset(slots, 0, AR_SLOTS * bytes);
    for (size_t turn = 0; turn < AR_SLOTS; turn++) {
        struct ar_slot *const other = (void *)(slots + turn * bytes + slot_bytes);
        for (int flag = 0; flag < AR_NODE_FLAGS; flag++)
            atomic_init(&other->line[flag].flag.value, UINT64_MAX);
    }
    node->piece = (struct ar_piece){.slots = slots, .slot_bytes = slot_bytes, .stride = 2};
    return slots;
}

/* The fastest of the samples, of one call; 0 where one fails. */
static double
time_calls(const struct ar_node_run *run)
{
    double least = 0;
    for (int k = 0; k < SAMPLES; k++) {
        const uint64_t start = ar_clock_system_ns();
        for (int i = 0; i < CALLS; i++)
            if (ar_node_allreduce(run) != MPI_SUCCESS)
                return 0;
        const double time = (double)(ar_clock_system_ns() - start) / CALLS;
        least = k == 0 || time < least ? time : least;
    }
    return least;
}

double
ar_measure_access(struct ar_wait wait)
{
    const struct ar_algorithm *const shm = ar_algorithm_find("shm", 3);
    const double in = 1;
    double out = 0, time = 0;
    struct ar_reduction r;
    struct ar_node_plan *plan = NULL;
    struct ar_node node = {
        .nranks = 2, .chunk_bytes = AR_SHORT_CHUNK, .tuning = {.whole_bytes = SIZE_MAX}};
    char *const slots = make_slots(&node), *scratch = NULL;
    if (slots && ar_reduction_resolve(&r, MPI_SUM, MPI_DOUBLE) &&
        ar_node_plan_create(&plan, &node, shm, &shm->defaults, 1, &r, false) == AR_OK)
        scratch = aligned_alloc(AR_SCRATCH_ALIGNMENT,
                                ar_node_plan_scratch_bytes(plan) + AR_SCRATCH_ALIGNMENT);
    if (scratch) {
        r.comm = MPI_COMM_SELF;
        const struct ar_node_run run = {.node = &node,
                                        .plan = plan,
                                        .count = 1,
                                        .reduction = &r,
                                        .in = (const char *)&in,
                                        .out = (char *)&out,
                                        .scratch = scratch,
                                        .wait = wait};
        time = time_calls(&run) / (double)plan->full[AR_WAY_SLOTS].nsteps;
    }
    ar_node_plan_destroy(plan);
    free(scratch);
    free(slots);
    return time;
}
