#include <config.h>

#include "threads.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "execute/progress.h"
#include "fuzz.h"

/* Replaces the executors' function: nothing needs progress here. */
int
ar_progress(MPI_Comm comm)
{
    (void)comm;
    sched_yield();
    return MPI_SUCCESS;
}

/* The function x -> a * x + b, modulo 2^32 */
struct affine {
    uint32_t a, b;
};

static void
compose(void *dst, const void *left, const void *right, size_t count)
{
    struct affine *const to = dst;
    const struct affine *const f = left, *const g = right;
    for (size_t i = 0; i < count; i++)
        to[i] = (struct affine){f[i].a * g[i].a, f[i].a * g[i].b + f[i].b};
}

static void
add(void *dst, const void *left, const void *right, size_t count)
{
    struct affine *const to = dst;
    const struct affine *const f = left, *const g = right;
    for (size_t i = 0; i < count; i++)
        to[i] = (struct affine){f[i].a + g[i].a, f[i].b + g[i].b};
}

static struct affine
operand(int rank, size_t i)
{
    const uint64_t bits = ((uint64_t)rank * 256 + i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    return (struct affine){(uint32_t)(bits >> 32) | 1, (uint32_t)bits};
}

static bool
is_right(const struct affine *out, const struct threads_job *job)
{
    ar_kernel_fn *const kernel = job->in_order ? compose : add;
    for (size_t i = 0; i < job->count; i++) {
        struct affine result = operand(0, i);
        for (int rank = 1; rank < job->nranks; rank++) {
            const struct affine next = operand(rank, i);
            kernel(&result, &result, &next, 1);
        }
        if (out[i].a != result.a || out[i].b != result.b)
            return false;
    }
    return true;
}

struct member {
    const struct threads_job *job;
    threads_part_fn *part;
    void *context;
    pthread_t thread;
    int rank;
    bool is_right;
};

static void *
run_member(void *argument)
{
    struct member *const m = argument;
    const struct threads_job *const job = m->job;
    const struct ar_reduction r = {.kernel = job->in_order ? compose : add,
                                   .commutative = !job->in_order,
                                   .basic = true,
                                   .dense = true,
                                   .type = MPI_UINT64_T,
                                   .size = sizeof(struct affine),
                                   .extent = sizeof(struct affine),
                                   .true_extent = sizeof(struct affine)};
    struct affine *const in = calloc(job->count, sizeof *in);
    struct affine *const out = calloc(job->count, sizeof *out);
    struct affine *const from = job->in_place ? out : in;
    FUZZ_EXPECT(in && out);
    for (size_t i = 0; i < job->count; i++)
        from[i] = operand(m->rank, i);
    m->is_right = m->part(m->context, job, m->rank, &r, (const char *)from, (char *)out) &&
                  is_right(out, job);
    free(in);
    free(out);
    return NULL;
}

bool
threads_run(const struct threads_job *job, threads_part_fn *part, void *context)
{
    struct member members[AR_THREADS_MAX];
    bool are_right = true;
    FUZZ_EXPECT(job->nranks <= AR_THREADS_MAX);
    for (int rank = 0; rank < job->nranks; rank++) {
        members[rank] = (struct member){.job = job, .part = part, .context = context, .rank = rank};
        FUZZ_EXPECT(!pthread_create(&members[rank].thread, NULL, run_member, &members[rank]));
    }
    for (int rank = 0; rank < job->nranks; rank++) {
        pthread_join(members[rank].thread, NULL);
        are_right &= members[rank].is_right;
    }
    return are_right;
}
