#include <config.h>

#include <stdatomic.h>

#include "execute/node_plan.h"
#include "fuzz.h"
#include "threads.h"

#define CHUNK_BYTES ((size_t)256)

struct world {
    char *slots;
    _Atomic int refusals;
};

static bool
run_part(void *context, const struct threads_job *job, int rank, const struct ar_reduction *r,
         const char *in, char *out)
{
    struct world *const world = context;
    struct ar_node node = {.rank = rank,
                           .nranks = job->nranks,
                           .chunk_bytes = CHUNK_BYTES,
                           .exchanged_bytes = job->nranks == 2 ? CHUNK_BYTES / 2 : 0,
                           .piece = {.slots = world->slots,
                                     .slot_bytes = ar_node_slot_bytes(CHUNK_BYTES),
                                     .stride = job->nranks}};
    struct ar_params params = *job->params;
    struct ar_node_plan *plan = NULL;
    params.copy = AR_COPY_SLOTS; /* XPMEM does not work between threads */
    const int refusal =
        ar_node_plan_create(&plan, &node, job->algorithm, &params, job->count, r, false);
    FUZZ_EXPECT(!refusal || refusal == AR_ERR_PARAM);
    if (refusal) {
        world->refusals++;
        return false;
    }
    char *const scratch = aligned_alloc(64, ar_node_plan_scratch_bytes(plan) + 64);
    FUZZ_EXPECT(scratch);
    const struct ar_node_run run = {.node = &node,
                                    .plan = plan,
                                    .count = job->count,
                                    .reduction = r,
                                    .in = in,
                                    .out = out,
                                    .scratch = scratch,
                                    .wait = {.yields = AR_WAIT_FOREVER}};
    const int error = ar_node_allreduce(&run);
    ar_node_plan_destroy(plan);
    free(scratch);
    return error == MPI_SUCCESS;
}

bool
threads_run_node(const struct threads_job *job)
{
    const size_t bytes = 4 * (size_t)job->nranks * ar_node_slot_bytes(CHUNK_BYTES);
    struct world world = {.slots = aligned_alloc(64, bytes)};
    FUZZ_EXPECT(world.slots);
    memset(world.slots, 0, bytes);
    const bool are_right = threads_run(job, run_part, &world);
    free(world.slots);
    return are_right || world.refusals == job->nranks;
}
