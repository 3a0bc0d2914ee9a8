#include "config.h"

#include "cli/contest.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "call/allreduce.h"
#include "cli/cli.h"
#include "communicator/decide.h"
#include "communicator/process.h"
#include "config/config.h"

#define WARMUPS   2
#define BATCH_MAX 100000
#define ALIGNMENT 4096 /* of buffers */

int
ar_contest_cpus(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof set, &set);
    return CPU_COUNT(&set);
}

/* --- who takes part --- */

/* comm MPI_COMM_NULL: one of its own. */
static struct ar_entrant *
append(struct ar_contest *contest, enum ar_entrant_kind kind, const char *label, MPI_Comm comm)
{
    const size_t n = contest->nentrants;
    struct ar_entrant *more = realloc(contest->entrants, (n + 1) * sizeof *more);
    char *copy = strdup(label);
    if (more)
        contest->entrants = more;
    if (!more || !copy) {
        ar_say("out of memory");
        free(copy);
        return NULL;
    }
    more[n] = (struct ar_entrant){.kind = kind, .label = copy, .comm = comm};
    contest->nentrants++;
    if (comm == MPI_COMM_NULL)
        MPI_Comm_dup(MPI_COMM_WORLD, &more[n].comm);
    return &more[n];
}

void
ar_contest_drop(struct ar_contest *contest, size_t i)
{
    struct ar_entrant *const e = &contest->entrants[i];
    if (!e->pick)
        MPI_Comm_free(&e->comm);
    free(e->pick);
    free(e->label);
    memmove(e, e + 1, (--contest->nentrants - i) * sizeof *e);
}

int
ar_contest_init(struct ar_contest *contest, struct ar_named *type, enum ar_op op)
{
    memset(contest, 0, sizeof *contest);
    MPI_Comm_rank(MPI_COMM_WORLD, &contest->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &contest->nranks);
    MPI_Comm_dup(MPI_COMM_WORLD, &contest->comm);
    ar_reduction_resolve(&contest->reduction, ar_op_handle(op), type->geometry.type);
    int status =
        ar_judge_create(&contest->judge, &contest->reduction, contest->rank, contest->nranks);
    if (!status &&
        (!append(contest, AR_ENTRANT_NATIVE, "native", MPI_COMM_NULL) ||
         !append(contest, AR_ENTRANT_REDUCE_BCAST, "MPI_Reduce+MPI_Bcast", MPI_COMM_NULL)))
        status = AR_EXIT_FAILED;
    return status;
}

void
ar_contest_fini(struct ar_contest *contest)
{
    while (contest->nentrants > 0)
        ar_contest_drop(contest, contest->nentrants - 1);
    if (contest->shared)
        MPI_Comm_free(&contest->shared_comm);
    free(contest->entrants);
    free(contest->times);
    ar_judge_destroy(contest->judge);
    MPI_Comm_free(&contest->comm);
}

void
ar_contest_clear(struct ar_contest *contest)
{
    while (contest->nentrants > 2)
        ar_contest_drop(contest, contest->nentrants - 1);
}

int
ar_contest_add(struct ar_contest *contest, const char *label, const char *text)
{
    struct ar_config *config = ar_config_from_algo(text);
    ar_process_begin();
    if (!config) {
        ar_say("out of memory");
        return AR_EXIT_FAILED;
    }
    if (config->error) {
        if (contest->rank == 0)
            ar_say("%s", config->problem);
        ar_config_destroy(config);
        return AR_EXIT_USAGE;
    }
    struct ar_entrant *e = append(contest, AR_ENTRANT_OURS, label, MPI_COMM_NULL);
    if (e)
        e->state = ar_communicator_create_with(e->comm, config);
    return e && e->state ? AR_EXIT_DONE : AR_EXIT_FAILED;
}

/* The communicator of all picks; false without memory. */
static bool
make_shared(struct ar_contest *contest)
{
    if (contest->shared)
        return true;
    ar_process_begin();
    struct ar_config *const config = ar_config_from_algo("");
    MPI_Comm_dup(MPI_COMM_WORLD, &contest->shared_comm);
    if (config)
        contest->shared = ar_communicator_create_with(contest->shared_comm, config);
    return contest->shared != NULL;
}

int
ar_contest_add_choice(struct ar_contest *contest, const struct ar_choice *choice)
{
    char label[AR_CHOICE_TEXT];
    struct ar_pick *const pick = malloc(sizeof *pick);
    struct ar_entrant *e = NULL;
    if (pick && make_shared(contest))
        e = append(contest, AR_ENTRANT_OURS, ar_choice_print(choice, label, sizeof label),
                   contest->shared_comm);
    if (!e) {
        free(pick);
        return AR_EXIT_FAILED;
    }
    *pick = (struct ar_pick){++contest->npicks, *choice, ar_reason_named};
    e->state = contest->shared;
    e->pick = pick;
    return AR_EXIT_DONE;
}

int
ar_contest_add_exchange(struct ar_contest *contest)
{
    return append(contest, AR_ENTRANT_EXCHANGE, "exchange", MPI_COMM_NULL) ? AR_EXIT_DONE
                                                                           : AR_EXIT_FAILED;
}

/* --- buffers --- */

static char *
allocate(size_t slots, size_t slot_bytes)
{
    void *memory = NULL;
    if (slots > SIZE_MAX / slot_bytes || posix_memalign(&memory, ALIGNMENT, slots * slot_bytes)) {
        ar_say("no memory for %zu buffers of %zu bytes", slots, slot_bytes);
        PMPI_Abort(MPI_COMM_WORLD, 1);
    }
    return memory;
}

static void
buffers_init(struct ar_buffers *b, const struct ar_contest *contest,
             const struct ar_contest_round *round)
{
    const size_t bytes = round->count * (size_t)contest->reduction.extent;
    b->slot_bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    b->slots = round->rotate_bytes / b->slot_bytes + 1;
    b->next = 0;
    b->in = allocate(b->slots, b->slot_bytes);
    b->out = allocate(b->slots, b->slot_bytes);
    b->native = allocate(1, b->slot_bytes);
}

/* Fills what timed calls of the round reduce.  In place, a result is the next call's input: only
 * zeros do not grow. */
static void
buffers_fill(const struct ar_contest *contest, const struct ar_contest_round *round)
{
    const struct ar_buffers *b = &contest->buffers;
    for (size_t i = 0; i < b->slots; i++) {
        memset(b->out + i * b->slot_bytes, 0, b->slot_bytes);
        if (round->place == AR_OUT_OF_PLACE)
            ar_judge_fill(contest->judge, b->in + i * b->slot_bytes, round->count);
    }
}

/* --- calls --- */

/* Sends to one rank and receives from another, giving the core away while it waits: with more
 * ranks than cores MPI's own blocking calls let ranks out a scheduler's slice apart. */
static void
exchange(MPI_Comm comm, int to, const void *sent, int from, void *received, size_t bytes)
{
    MPI_Request requests[2];
    int done = 0;
    MPI_Irecv(received, (int)bytes, MPI_BYTE, from, 0, comm, &requests[0]);
    MPI_Isend(sent, (int)bytes, MPI_BYTE, to, 0, comm, &requests[1]);
    while (!done) {
        MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE);
        if (!done)
            sched_yield();
    }
}

/* A barrier whose end is not counted as time of whatever comes next.  Dissemination,
 * ceil(log2 p) rounds. */
static void
meet(const struct ar_contest *contest)
{
    const int p = contest->nranks, me = contest->rank;
    for (int distance = 1; distance < p; distance *= 2)
        exchange(contest->comm, (me + distance) % p, NULL, (me + p - distance) % p, NULL, 0);
}

static void
exchange_least(const struct ar_contest *contest, const struct ar_entrant *e, const void *in,
               void *out, size_t count)
{
    const size_t p = (size_t)contest->nranks, bytes = count * contest->reduction.size;
    const int left = (contest->rank + contest->nranks - 1) % contest->nranks;
    const int right = (contest->rank + 1) % contest->nranks;
    size_t rest = 2 * (bytes / p * (p - 1) + bytes % p * (p - 1) / p);
    while (rest > 0) {
        const size_t limit = bytes < (size_t)1 << 30 ? bytes : (size_t)1 << 30;
        const size_t now = rest < limit ? rest : limit;
        exchange(e->comm, right, in, left, out, now);
        rest -= now;
    }
}

static int
call_native(const struct ar_call *call)
{
    return PMPI_Allreduce(call->in, call->out, (int)call->count, call->type, call->op, call->comm);
}

static int
call_reduce_bcast(const struct ar_contest *contest, const struct ar_entrant *e, const void *in,
                  void *out, size_t count)
{
    const struct ar_reduction *const r = &contest->reduction;
    const void *const sent = in == out && contest->rank == 0 ? MPI_IN_PLACE : in;
    int error =
        PMPI_Reduce(sent, contest->rank == 0 ? out : NULL, (int)count, r->type, r->op, 0, e->comm);
    return error ? error : PMPI_Bcast(out, (int)count, r->type, 0, e->comm);
}

/* Calls come that run e's pick, if it has one. */
static void
take_turn(const struct ar_entrant *e)
{
    if (e->pick)
        ar_communicator_pick(e->state, e->pick);
}

/* in may be out. */
static void
call(const struct ar_contest *contest, const struct ar_entrant *e, const void *in, void *out,
     size_t count)
{
    const struct ar_call allreduce = {.in = in == out ? MPI_IN_PLACE : in,
                                      .out = out,
                                      .count = (MPI_Count)count,
                                      .type = contest->reduction.type,
                                      .op = contest->reduction.op,
                                      .comm = e->comm,
                                      .native = call_native};
    int error = MPI_SUCCESS;
    switch (e->kind) {
    case AR_ENTRANT_NATIVE:
        error = call_native(&allreduce);
        break;
    case AR_ENTRANT_REDUCE_BCAST:
        error = call_reduce_bcast(contest, e, in, out, count);
        break;
    case AR_ENTRANT_OURS:
        error = ar_allreduce(&allreduce);
        break;
    case AR_ENTRANT_EXCHANGE:
        exchange_least(contest, e, in == out ? contest->buffers.native : in, out, count);
    }
    if (error)
        PMPI_Abort(e->comm, 1);
}

/* --- results --- */

/* Reduces operands whose result is known, judges it, and notes what ran.  Native, if it is the
 * first of all and judged in this round, leaves its result to the others. */
static void
judge(struct ar_contest *contest, struct ar_entrant *e, const struct ar_contest_round *round)
{
    struct ar_buffers *const b = &contest->buffers;
    char *const in = round->place == AR_IN_PLACE ? b->out : b->in;
    const size_t count = round->count;
    double worst[3] = {0};
    if (in != b->out)
        memset(b->out, 0xff, b->slot_bytes);
    ar_judge_fill(contest->judge, in, count);
    take_turn(e);
    call(contest, e, in, b->out, count);
    worst[0] = !ar_judge_is_right(contest->judge, b->out, count);
    worst[1] = ar_judge_distance(contest->judge, b->out, NULL, count);
    if (e->kind == AR_ENTRANT_NATIVE)
        memcpy(b->native, b->out, count * (size_t)contest->reduction.extent);
    if (contest->entrants[0].kind == AR_ENTRANT_NATIVE && !contest->entrants[0].is_judged)
        worst[2] = ar_judge_distance(contest->judge, b->out, b->native, count);
    MPI_Allreduce(MPI_IN_PLACE, worst, 3, MPI_DOUBLE, MPI_MAX, contest->comm);
    e->wrong = worst[0] != 0;
    e->error = worst[1];
    e->from_native = worst[2];
    if (e->kind != AR_ENTRANT_OURS)
        return;
    const struct ar_communicator *const c = e->state;
    const struct ar_decision *const d = c->ran;
    e->reason = c->always_native ? c->always_native : d->reason;
    if (c->always_native || d->runner == AR_RUN_NATIVE)
        strcpy(e->ran, "native");
    else
        ar_choice_print(&d->choice, e->ran, sizeof e->ran);
}

/* --- times --- */

/* Seconds a call of a batch, on this rank. */
static double
time_batch(struct ar_contest *contest, struct ar_entrant *e, const struct ar_contest_round *round)
{
    struct ar_buffers *const b = &contest->buffers;
    take_turn(e);
    meet(contest);
    const double start = MPI_Wtime();
    for (size_t i = 0; i < e->batch; i++) {
        char *const out = b->out + b->next * b->slot_bytes;
        const char *const in = b->in + b->next * b->slot_bytes;
        call(contest, e, round->place == AR_IN_PLACE ? out : in, out, round->count);
        b->next = b->next + 1 < b->slots ? b->next + 1 : 0;
    }
    return (MPI_Wtime() - start) / (double)e->batch;
}

/* Warms up, and finds the lengths of batches: rank 0's times count. */
static void
find_batches(struct ar_contest *contest, const struct ar_contest_round *round, double batch_seconds)
{
    double *const once = contest->times;
    for (size_t i = 0; i < contest->nentrants; i++) {
        contest->entrants[i].batch = WARMUPS;
        once[i] = time_batch(contest, &contest->entrants[i], round);
    }
    MPI_Bcast(once, (int)contest->nentrants, MPI_DOUBLE, 0, contest->comm);
    for (size_t i = 0; i < contest->nentrants; i++) {
        const double calls = floor(batch_seconds / (once[i] > 0 ? once[i] : 1e-9));
        contest->entrants[i].batch = calls < 1 ? 1 : calls > BATCH_MAX ? BATCH_MAX : (size_t)calls;
    }
}

static int
compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The slowest rank's times count. */
static void
summarize(struct ar_contest *contest, int repetitions)
{
    MPI_Allreduce(MPI_IN_PLACE, contest->times, (int)contest->nentrants * repetitions, MPI_DOUBLE,
                  MPI_MAX, contest->comm);
    for (size_t i = 0; i < contest->nentrants; i++) {
        struct ar_entrant *const e = &contest->entrants[i];
        qsort(e->times, (size_t)repetitions, sizeof *e->times, compare_doubles);
        e->least = e->times[0];
        e->median = e->times[repetitions / 2];
        e->most = e->times[repetitions - 1];
        e->average = 0;
        for (int k = 0; k < repetitions; k++)
            e->average += e->times[k] / repetitions;
    }
}

/* On a terminal alone. */
static void
show_progress(const struct ar_contest *contest, const struct ar_contest_round *round, int done)
{
    if (contest->silent || contest->rank != 0 || !isatty(STDERR_FILENO))
        return;
    if (done < round->repetitions)
        fprintf(stderr, "\r%zu elements, batch %d of %d ", round->count, done + 1,
                round->repetitions);
    else
        fprintf(stderr, "\r%60s\r", "");
}

int
ar_contest_run(struct ar_contest *contest, const struct ar_contest_round *round)
{
    const size_t n = contest->nentrants, each = (size_t)round->repetitions;
    struct ar_buffers *const b = &contest->buffers;
    double *const times = reallocarray(contest->times, n * each, sizeof *times);
    int wrong = 0;
    if (!times) {
        ar_say("out of memory");
        PMPI_Abort(MPI_COMM_WORLD, 1);
    }
    contest->times = times;
    buffers_init(b, contest, round);
    for (size_t i = 0; i < n; i++) {
        struct ar_entrant *const e = &contest->entrants[i];
        e->times = &times[i * each];
        if (e->kind != AR_ENTRANT_EXCHANGE && !e->is_judged)
            judge(contest, e, round);
        wrong |= e->wrong;
    }
    buffers_fill(contest, round);
    find_batches(contest, round, round->seconds / round->repetitions / (double)n);
    for (int k = 0; k < round->repetitions; k++) {
        show_progress(contest, round, k);
        for (size_t i = 0; i < n; i++)
            contest->entrants[i].times[k] = time_batch(contest, &contest->entrants[i], round);
    }
    show_progress(contest, round, round->repetitions);
    summarize(contest, round->repetitions);
    free(b->in);
    free(b->out);
    free(b->native);
    return wrong;
}
