#include <config.h>

#include "node_threads.h"

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>

#include "execute/node_plan.h"
#include "execute/progress.h"
#include "fuzz.h"

#define CHUNK_BYTES ((size_t)256)

/* Replaces the executor's function: nothing needs progress here. */
int
ar_progress(MPI_Comm comm)
{
    (void)comm;
    sched_yield();
    return MPI_SUCCESS;
}

static void
add(void *dst, const void *a, const void *b, size_t count)
{
    uint64_t *const to = dst;
    const uint64_t *const left = a, *const right = b;
    for (size_t i = 0; i < count; i++)
        to[i] = left[i] + right[i];
}

static const struct ar_reduction sums = {.kernel = add,
                                         .commutative = true,
                                         .basic = true,
                                         .dense = true,
                                         .size = sizeof(uint64_t),
                                         .extent = sizeof(uint64_t),
                                         .true_extent = sizeof(uint64_t)};

struct job {
    struct ar_params params;
    int nranks;
    size_t count;
    bool in_place;
    char *slots;
};

struct member {
    const struct job *job;
    pthread_t thread;
    int rank;
    bool is_right;
};

static uint64_t
operand(int rank, size_t i)
{
    return ((uint64_t)rank + 1) * UINT64_C(0x9e3779b97f4a7c15) + i;
}

static bool
is_sum(const uint64_t *out, const struct job *job)
{
    for (size_t i = 0; i < job->count; i++) {
        uint64_t sum = 0;
        for (int rank = 0; rank < job->nranks; rank++)
            sum += operand(rank, i);
        if (out[i] != sum)
            return false;
    }
    return true;
}

static void *
run_rank(void *argument)
{
    struct member *const m = argument;
    const struct job *const job = m->job;
    struct ar_node node = {.rank = m->rank,
                           .nranks = job->nranks,
                           .chunk_bytes = CHUNK_BYTES,
                           .piece = {.slots = job->slots,
                                     .slot_bytes = ar_node_slot_bytes(CHUNK_BYTES),
                                     .stride = job->nranks}};
    struct ar_node_plan *plan = NULL;
    const int error = ar_node_plan_create(&plan, &node, ar_algorithm_find("shm", 3), &job->params,
                                          job->count, &sums, false);
    m->is_right = error == AR_ERR_PARAM;
    if (error)
        return NULL;
    uint64_t *const in = calloc(job->count, sizeof *in), *const out = calloc(job->count, 8);
    char *const scratch = aligned_alloc(64, ar_node_plan_scratch_bytes(plan) + 64);
    FUZZ_EXPECT(in && out && scratch);
    for (size_t i = 0; i < job->count; i++)
        (job->in_place ? out : in)[i] = operand(m->rank, i);
    const struct ar_node_run run = {.node = &node,
                                    .plan = plan,
                                    .reduction = &sums,
                                    .in = (const char *)(job->in_place ? out : in),
                                    .out = (char *)out,
                                    .scratch = scratch,
                                    .wait = {.yields = AR_WAIT_FOREVER}};
    m->is_right = ar_node_allreduce(&run) == MPI_SUCCESS && is_sum(out, job);
    ar_node_plan_destroy(plan);
    free(scratch);
    free(in);
    free(out);
    return NULL;
}

bool
node_threads_are_right(const struct ar_params *params, int nranks, size_t count, bool in_place)
{
    struct member members[AR_NODE_THREADS_MAX];
    const size_t bytes = 4 * (size_t)nranks * ar_node_slot_bytes(CHUNK_BYTES);
    struct job job = {*params, nranks, count, in_place, aligned_alloc(64, bytes)};
    bool are_right = true;
    FUZZ_EXPECT(job.slots && nranks <= AR_NODE_THREADS_MAX);
    memset(job.slots, 0, bytes);
    job.params.copy = AR_COPY_SLOTS; /* XPMEM does not work between threads */
    for (int rank = 0; rank < nranks; rank++) {
        members[rank] = (struct member){.job = &job, .rank = rank};
        FUZZ_EXPECT(!pthread_create(&members[rank].thread, NULL, run_rank, &members[rank]));
    }
    for (int rank = 0; rank < nranks; rank++) {
        pthread_join(members[rank].thread, NULL);
        are_right &= members[rank].is_right;
    }
    free(job.slots);
    return are_right;
}
