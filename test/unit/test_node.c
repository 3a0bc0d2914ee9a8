/* The node executor on threads in place of ranks, in one process: against the schedule that
 * src/algorithms/shm.c emits for the same form and the same groups of ranks, which the checker
 * proves.
 *
 * The op neither commutes nor associates, so that a result tells how it was combined.  Threads
 * begin late, yield and sleep at random before and after each piece of work, so that a flag raised
 * too early, or a slot used again too soon, meets somebody who reads or writes it.  Many calls in
 * a row go through the same slots.  The seed of a failure is printed, and TEST_SEED repeats it. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "algorithms/grouping.h"
#include "algorithms/registry.h"
#include "execute/in_place.h"
#include "execute/node_plan.h"
#include "execute/progress.h"
#include "schedule/checker.h"
#include "unit.h"

#define RANKS_MAX   16
#define CHUNK_BYTES ((size_t)1024)
#define CHUNK       (CHUNK_BYTES / sizeof(uint64_t)) /* elements */

/* --- disorder --- */

static __thread uint64_t dice;

static uint64_t
draw(uint64_t n)
{
    dice = dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (dice >> 33) % n;
}

static void
dawdle(void)
{
    const uint64_t what = draw(64);
    if (what == 0)
        nanosleep(&(struct timespec){.tv_nsec = (long)draw(60000)}, NULL);
    else if (what < 24)
        sched_yield();
}

/* In place of the executor's: nothing needs progress here. */
int
ar_progress(MPI_Comm comm)
{
    (void)comm;
    dawdle();
    return MPI_SUCCESS;
}

/* --- peers' memory: all of them are in this process --- */

/* In place of src/execute/xpmem.c; no_xpmem.c has the rest.  Seldom a rank cannot show a buffer, or
 * map one. */
uint64_t
ar_xpmem_show(const void *data, size_t bytes)
{
    (void)bytes;
    dawdle();
    return draw(32) > 0 ? (uintptr_t)data : 0;
}

void *
ar_xpmem_map(struct ar_xpmem_peer *peer, uint64_t address, size_t bytes, bool attaches)
{
    (void)peer, (void)bytes, (void)attaches;
    dawdle();
    return draw(64) > 0 ? (void *)(uintptr_t)address : NULL;
}

/* --- an op, and what a schedule makes of it --- */

static uint64_t
combined(uint64_t left, uint64_t right)
{
    const uint64_t h = left * UINT64_C(0x9e3779b97f4a7c15) + right;
    return (h ^ h >> 31) * UINT64_C(0xbf58476d1ce4e5b9);
}

static void
combine_slowly(void *dst, const void *a, const void *b, size_t count)
{
    uint64_t *const to = dst;
    const uint64_t *const left = a, *const right = b;
    dawdle();
    for (size_t i = 0; i < count; i++)
        to[i] = combined(left[i], right[i]);
    dawdle();
}

static const struct ar_reduction hashes = {.kernel = combine_slowly,
                                           .basic = true,
                                           .dense = true,
                                           .size = sizeof(uint64_t),
                                           .extent = sizeof(uint64_t),
                                           .true_extent = sizeof(uint64_t)};

static uint64_t
operand(uint64_t call, int rank, size_t i)
{
    return combined(combined(call + 1, (uint64_t)rank), i);
}

static uint64_t *
at(uint64_t *memory, const struct ar_schedule *s, struct ar_region region)
{
    const size_t base[] = {[AR_IN] = 0, [AR_OUT] = s->count, [AR_TMP] = 2 * s->count};
    return memory + base[region.buffer] + region.offset;
}

/* A message on its way. */
struct message {
    int from, to;
    uint64_t *data; /* owned; NULL: received */
};

#define MESSAGES_MAX (8 * RANKS_MAX * RANKS_MAX)

/* All ranks of a chunk, in a simple interpreter. */
struct ranks {
    int p;
    struct ar_schedule schedule[RANKS_MAX];
    uint64_t *memory[RANKS_MAX];
    size_t round[RANKS_MAX];
    size_t next[RANKS_MAX]; /* step of the round that receives next; 0: nothing is sent yet */
    struct message messages[MESSAGES_MAX];
    size_t nmessages;
};

static void
send_round(struct ranks *all, int rank, size_t begin, size_t end)
{
    const struct ar_schedule *const s = &all->schedule[rank];
    for (size_t i = begin; i < end; i++) {
        const struct ar_step *const step = &s->steps[i];
        if (step->kind != AR_SEND)
            continue;
        const size_t bytes = step->a.length * sizeof(uint64_t);
        assert_true(all->nmessages < MESSAGES_MAX);
        struct message *const m = &all->messages[all->nmessages++];
        *m = (struct message){rank, step->peer, malloc(bytes)};
        memcpy(m->data, at(all->memory[rank], s, step->a), bytes);
    }
}

static bool
receive(struct ranks *all, int rank, const struct ar_step *step)
{
    for (size_t i = 0; i < all->nmessages; i++) {
        struct message *const m = &all->messages[i];
        if (!m->data || m->from != step->peer || m->to != rank)
            continue;
        memcpy(at(all->memory[rank], &all->schedule[rank], step->dst), m->data,
               step->dst.length * sizeof(uint64_t));
        free(m->data);
        m->data = NULL;
        return true;
    }
    return false;
}

static void
compute(struct ranks *all, int rank, const struct ar_step *step)
{
    const struct ar_schedule *const s = &all->schedule[rank];
    uint64_t *const memory = all->memory[rank], *const dst = at(memory, s, step->dst);
    if (step->kind == AR_COPY)
        memmove(dst, at(memory, s, step->a), step->dst.length * sizeof *dst);
    for (size_t k = 0; step->kind == AR_REDUCE && k < step->dst.length; k++)
        dst[k] = combined(at(memory, s, step->a)[k], at(memory, s, step->b)[k]);
}

/* Goes on with a rank's round; false where a message has not been sent yet. */
static bool
advance(struct ranks *all, int rank)
{
    const struct ar_schedule *const s = &all->schedule[rank];
    const size_t round = all->round[rank];
    const size_t begin = round ? s->round_end[round - 1] : 0, end = s->round_end[round];
    size_t *const next = &all->next[rank];
    if (*next == 0) {
        send_round(all, rank, begin, end);
        *next = begin + 1;
    }
    for (; *next <= end; (*next)++)
        if (s->steps[*next - 1].kind == AR_RECV && !receive(all, rank, &s->steps[*next - 1]))
            return false;
    for (size_t i = begin; i < end; i++)
        compute(all, rank, &s->steps[i]);
    all->round[rank]++;
    *next = 0;
    return true;
}

/* Runs the schedules on the chunk from element `from` on.  expected gets rank 0's result. */
static void
run_schedules(uint64_t *expected, int p, uint64_t call, size_t from, size_t length,
              const struct ar_params *form)
{
    static struct ranks all;
    const struct ar_algorithm *const shm = ar_algorithm_find("shm", 3);
    const bool is_ordered = !form->grouping || form->grouping->ordered;
    struct ar_params params = *form;
    struct ar_verdict verdict;
    int ended = 0;
    memset(&all, 0, sizeof all);
    params.whole_bytes = form->whole_bytes == SIZE_MAX ? SIZE_MAX : 0;
    for (int rank = 0; rank < p; rank++) {
        struct ar_schedule *const s = &all.schedule[rank];
        assert_int_equal(ar_algorithm_emit(shm, s, rank, p, length, &params), AR_OK);
        all.memory[rank] = calloc(2 * length + s->tmp_length + 1, sizeof **all.memory);
        assert_non_null(all.memory[rank]);
        for (size_t i = 0; i < length; i++)
            all.memory[rank][i] = operand(call, rank, from + i);
    }
    assert_int_equal(ar_check(&verdict, all.schedule, p, true), AR_OK);
    assert_int_equal(ar_check(&verdict, all.schedule, p, false), AR_OK);
    assert_true(verdict.in_rank_order || !is_ordered);
    while (ended < p) {
        ended = 0;
        for (int rank = 0; rank < p; rank++) {
            while (all.round[rank] < all.schedule[rank].nrounds && advance(&all, rank))
                ;
            ended += all.round[rank] == all.schedule[rank].nrounds;
        }
    }
    memcpy(expected + from, all.memory[0] + length, length * sizeof *expected);
    for (int rank = 0; rank < p; rank++) {
        ar_schedule_fini(&all.schedule[rank]);
        free(all.memory[rank]);
    }
}

/* --- threads --- */

struct call {
    size_t count;   /* of the plan */
    size_t without; /* so many elements at the end, if the plan can end early */
    bool is_short;
    bool in_place, some_in_place; /* the OUT of all ranks is their IN, or that of each second one */
    bool has_short_shares;        /* of at most three elements */
    bool tries_ways;
    enum ar_streaming streaming;
    bool by_tuning;     /* the form is what is fastest */
    bool reads_buffers; /* of its peers, where they are */
    size_t segment_bytes;
    const struct ar_grouping *grouping; /* the job's; NULL: flat */
    uint64_t *expected;                 /* owned */
};

struct job {
    int p, ncalls;
    uint64_t seed;
    struct call *calls;
    char *slots;
    uint64_t first; /* number of the last chunk before */
    int wrong;      /* calls with a wrong result, on all ranks */
};

static struct ar_node
node_of(const struct job *job, int rank)
{
    return (struct ar_node){.rank = rank,
                            .nranks = job->p,
                            .chunk_bytes = CHUNK_BYTES,
                            .exchanged_bytes = job->p == 2 ? CHUNK_BYTES / 2 : 0,
                            .tuning = ar_shm_tune(job->p, AR_USUAL_CACHE, false),
                            .sequence = job->first,
                            .piece = {.slots = job->slots,
                                      .slot_bytes = ar_node_slot_bytes(CHUNK_BYTES),
                                      .stride = job->p}};
}

static struct ar_params
params_of(const struct call *call)
{
    struct ar_params params = ar_algorithm_find("shm", 3)->defaults;
    params.whole_bytes = call->by_tuning          ? 0
                         : call->is_short         ? SIZE_MAX
                         : call->has_short_shares ? 3 * sizeof(uint64_t)
                                                  : 1;
    params.segment_bytes = call->segment_bytes;
    params.grouping = call->grouping;
    if (call->reads_buffers && (!call->grouping || ar_grouping_is_even(call->grouping)))
        params.copy = AR_COPY_IN_PLACE;
    return params;
}

static struct ar_node_plan *
plan_of(const struct ar_node *node, const struct call *call)
{
    const struct ar_params params = params_of(call);
    struct ar_node_plan *plan = NULL;
    if (ar_node_plan_create(&plan, node, ar_algorithm_find("shm", 3), &params, call->count, &hashes,
                            false))
        abort();
    return plan;
}

/* In groups of unequal size a rank may pass on what it has in TMP. */
static size_t
count_of(const struct ar_node_plan *plan, const struct call *call)
{
    const bool is_even = !call->grouping || ar_grouping_is_even(call->grouping);
    if (!plan->can_end_early && is_even)
        abort();
    return is_even ? call->count - call->without : call->count;
}

#define MOST (7 * CHUNK + 5) /* elements of a call */

static bool has_tried; /* some rank, whether to stream */
static int agreed;     /* calls in place with buffers that all ranks knew, on all ranks */

/* Ranks that may go in place all have the call's way of storing, and others each one of their own.
 */
static struct ar_stores
stores_of(const struct call *call, bool may_read, struct ar_trial *trial)
{
    return (struct ar_stores){.streaming = may_read ? call->streaming : (enum ar_streaming)draw(3),
                              .can = true,
                              .trial = trial};
}

struct thread {
    struct job *job;
    int rank;
    pthread_t id;
};

static void *
run_rank(void *argument)
{
    struct thread *const t = argument;
    struct job *const job = t->job;
    struct ar_node node = node_of(job, t->rank);
    struct ar_in_place *const in_place = ar_in_place_allocate(t->rank, job->p);
    struct ar_trial trial = {0};
    uint64_t *const own[] = {malloc(MOST * sizeof(uint64_t)), malloc(MOST * sizeof(uint64_t))};
    if (!in_place || !own[0] || !own[1])
        abort();
    dice = job->seed * 1000003 + (uint64_t)t->rank;
    for (uint64_t k = draw(2000); k > 0; k--)
        sched_yield(); /* threads begin in any order */
    for (int k = 0; k < job->ncalls; k++) {
        const struct call *const call = &job->calls[k];
        struct ar_node_plan *const plan = plan_of(&node, call);
        const size_t count = count_of(plan, call), bytes = count * sizeof(uint64_t);
        /* Most programs use their buffers again. */
        const bool is_new = draw(8) == 0;
        const bool overwrites = call->in_place || (call->some_in_place && t->rank % 2 == 1);
        uint64_t *const in = is_new ? malloc(bytes) : own[0];
        uint64_t *const out = is_new ? malloc(bytes) : own[1];
        for (size_t i = 0; i < count; i++)
            (overwrites ? out : in)[i] = operand((uint64_t)k, t->rank, i);
        const bool may_read = plan->full[AR_WAY_IN_PLACE].nstages > 0;
        plan->stores = stores_of(call, may_read, &trial);
        char *const scratch = aligned_alloc(64, ar_node_plan_scratch_bytes(plan));
        const struct ar_node_run run = {
            .node = &node,
            .plan = plan,
            .count = count,
            .in_place = may_read ? in_place : NULL,
            .tries_ways = call->tries_ways,
            .reduction = &hashes,
            .in = (const char *)(overwrites ? out : in),
            .out = (char *)out,
            .scratch = scratch,
            .wait = {.spins = 0, .yields = draw(2) ? 4 : AR_WAIT_FOREVER},
        };
        dawdle();
        if (ar_node_allreduce(&run) || memcmp(out, call->expected, bytes) != 0)
            __atomic_fetch_add(&job->wrong, 1, __ATOMIC_RELAXED);
        if (may_read && in_place->agreed >= 0 && !in_place->missed)
            __atomic_fetch_add(&agreed, 1, __ATOMIC_RELAXED);
        ar_node_plan_destroy(plan);
        free(scratch);
        memset(in, 0x5a, bytes); /* whoever still reads it is wrong */
        memset(out, 0x5a, bytes);
        if (is_new) {
            free(in);
            free(out);
        }
    }
    if (trial.ncalls > 0)
        __atomic_store_n(&has_tried, true, __ATOMIC_RELAXED);
    free(own[0]);
    free(own[1]);
    ar_in_place_destroy(in_place);
    return NULL;
}

/* A call of any form, of a size about the chunk's, in any place. */
static struct call
any_call(int k)
{
    static const size_t around[] = {1, 2, 6, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK, MOST};
    (void)k;
    const size_t many = draw(2) ? around[draw(8)] : 1 + draw(6 * CHUNK);
    const size_t count = draw(3) ? many : 3 * CHUNK;
    return (struct call){.count = count,
                         .without = draw(2) ? 0 : draw(count),
                         .is_short = draw(2),
                         .has_short_shares = draw(2),
                         .by_tuning = draw(3) == 0,
                         .tries_ways = draw(2),
                         .streaming = (enum ar_streaming)draw(3),
                         .in_place = draw(2),
                         .some_in_place = draw(2),
                         .reads_buffers = draw(2),
                         .segment_bytes = draw(3) ? 0 : 8 * (1 + draw(CHUNK))};
}

/* A call of several chunks in the short form is followed by one in the long form, whose chunks are
 * too short to give every rank a slice.  Ranks without a slice may run ahead of ranks that still
 * combine the last chunk but one of the call before. */
static struct call
call_without_slices(int k)
{
    return (struct call){.count = 3 + draw(6), .is_short = k % 2 == 0, .segment_bytes = 8};
}

#define GROUPINGS 4

/* Up to three levels of groups of any sizes, of ranks in any order; some ranks' domain is not
 * known. Or, once of four times, of neighbours in equal groups. */
static void
any_grouping(struct ar_grouping *g, int p)
{
    int domains[3][RANKS_MAX];
    const int *const domain[] = {domains[0], domains[1], domains[2]};
    const int nlevels = 1 + (int)draw(3);
    const bool is_even = draw(4) == 0;
    for (int i = 0; i < nlevels; i++)
        for (int r = 0; r < p; r++)
            domains[i][r] = is_even ? r >> (i + 1) : (int)draw(8 >> i) - (draw(8) == 0 ? 8 : 0);
    assert_int_equal(ar_grouping_init(g, p, nlevels, domain), AR_OK);
}

/* Calls in a row, each as next says of its number. */
static void
run_job(int p, int ncalls, uint64_t seed, struct call (*next)(int k))
{
    struct thread threads[RANKS_MAX];
    struct ar_grouping groupings[GROUPINGS];
    struct job job = {.p = p, .ncalls = ncalls, .seed = seed, .first = seed % 7};
    const size_t bytes = 4 * (size_t)p * ar_node_slot_bytes(CHUNK_BYTES);
    job.calls = calloc((size_t)ncalls, sizeof *job.calls);
    job.slots = aligned_alloc(64, bytes);
    assert_true(job.calls && job.slots);
    memset(job.slots, 0, bytes);
    dice = seed;
    for (int i = 0; i < GROUPINGS; i++)
        any_grouping(&groupings[i], p);
    for (int k = 0; k < ncalls; k++) {
        struct call *const call = &job.calls[k];
        *call = next(k);
        if (draw(2))
            call->grouping = &groupings[draw(GROUPINGS)];
        const struct ar_node node = node_of(&job, 0);
        struct ar_node_plan *const plan = plan_of(&node, call);
        const struct ar_params params = params_of(call);
        const size_t chunk = plan->length;
        ar_node_plan_destroy(plan);
        call->expected = calloc(call->count, sizeof *call->expected);
        assert_non_null(call->expected);
        for (size_t from = 0; from < call->count; from += chunk)
            run_schedules(call->expected, p, (uint64_t)k, from,
                          call->count - from < chunk ? call->count - from : chunk, &params);
    }
    for (int rank = 0; rank < p; rank++) {
        threads[rank] = (struct thread){.job = &job, .rank = rank};
        assert_int_equal(pthread_create(&threads[rank].id, NULL, run_rank, &threads[rank]), 0);
    }
    for (int rank = 0; rank < p; rank++)
        pthread_join(threads[rank].id, NULL);
    if (job.wrong > 0)
        fail_msg("%d ranks: %d results are wrong; TEST_SEED=%llu", p, job.wrong,
                 (unsigned long long)seed);
    for (int k = 0; k < ncalls; k++)
        free(job.calls[k].expected);
    for (int i = 0; i < GROUPINGS; i++)
        ar_grouping_fini(&groupings[i]);
    free(job.calls);
    free(job.slots);
}

static uint64_t
first_seed(void)
{
    const char *const text = getenv("TEST_SEED");
    return text ? strtoull(text, NULL, 10) : (uint64_t)time(NULL);
}

static void
the_node_executor_gives_what_was_proved(void **state)
{
    (void)state;
    static const int ranks[] = {2, 3, 4, 5, 7, 8, 16};
    const uint64_t seed = first_seed();
    printf("TEST_SEED=%llu\n", (unsigned long long)seed);
    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++)
        run_job(ranks[i], 400 / ranks[i], seed + i, any_call);
    /* Chance decides whether all ranks knew all buffers of a call. */
    for (uint64_t more = 100; more < 150 && (agreed == 0 || !has_tried); more++)
        run_job(2, 200, seed + more, any_call);
    printf("%d times a rank worked in place in known buffers\n", agreed);
    assert_true(agreed > 0 && has_tried);
}

static void
a_rank_without_a_slice_waits_for_those_behind(void **state)
{
    (void)state;
    static const int ranks[] = {2, 3, 5, 8};
    const uint64_t seed = first_seed();
    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++)
        run_job(ranks[i], 200, seed + i, call_without_slices);
}

/* Communicators that come and go share one plan, but only where it is the same. */
static void
a_plan_is_used_again_for_the_same(void **state)
{
    (void)state;
    struct job job = {.p = 4};
    struct call calls[] = {{.count = 8}, {.count = 9}, {.count = 8, .is_short = true}};
    const struct ar_node node = node_of(&job, 1), other = node_of(&job, 2);
    struct ar_node_plan *const plan = plan_of(&node, &calls[0]);
    ar_node_plan_destroy(plan);
    enum { OTHERS = 3 };
    struct ar_node_plan *const others[OTHERS] = {
        plan_of(&other, &calls[0]), plan_of(&node, &calls[1]), plan_of(&node, &calls[2])};
    for (int i = 0; i < OTHERS; i++)
        assert_ptr_not_equal(others[i], plan);
    struct ar_node_plan *const again = plan_of(&node, &calls[0]);
    struct ar_node_plan *const beside = plan_of(&node, &calls[0]);
    assert_ptr_equal(again, plan);
    assert_ptr_not_equal(beside, plan);
    ar_node_plan_destroy(again);
    ar_node_plan_destroy(beside);
    for (int i = 0; i < OTHERS; i++)
        ar_node_plan_destroy(others[i]);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_node_executor_gives_what_was_proved),
        cmocka_unit_test(a_rank_without_a_slice_waits_for_those_behind),
        cmocka_unit_test(a_plan_is_used_again_for_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
