#include "config.h"

#include "helper/measurement.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "call/allreduce.h"
#include "cli/cli.h"
#include "communicator/decide.h"
#include "communicator/process.h"
#include "communicator/ways.h"
#include "config/config.h"
#include "execute/node_plan.h"
#include "helper/job.h"
#include "report/clock.h"

#define WARMUPS      2 /* calls, at least; one where time is limited, for judging was a call, too */
#define BATCH_MAX    100000
#define TRYING_BATCH 16 /* calls; those of shorter ones before it are enough for a trial */

/* A batch is timed in slices, between which the ranks learn that the run ends.  So it ends within a
 * second even if calls become a thousand times as slow within a batch. */
#define SLICE_MAX     256 /* calls */
#define SLICE_SECONDS 0.1 /* behind one that took longer slices grow from a single call on */

/* --- what is measured --- */

/* comm MPI_COMM_NULL: one of its own. */
static struct ar_measured *
append(struct ar_measurement *m, enum ar_measured_kind kind, const char *label, MPI_Comm comm)
{
    const size_t n = m->nmeasured;
    struct ar_measured *more = realloc(m->measured, (n + 1) * sizeof *more);
    char *copy = strdup(label);
    if (more)
        m->measured = more;
    if (!more || !copy) {
        ar_say("out of memory");
        free(copy);
        return NULL;
    }
    more[n] = (struct ar_measured){.kind = kind, .label = copy, .comm = comm, .slice = SLICE_MAX};
    m->nmeasured++;
    if (comm == MPI_COMM_NULL)
        MPI_Comm_dup(m->comm, &more[n].comm);
    return &more[n];
}

int
ar_measurement_init(struct ar_measurement *m, MPI_Comm comm, const struct ar_node_places *places,
                    struct ar_named *type, enum ar_op op)
{
    memset(m, 0, sizeof *m);
    m->places = places;
    MPI_Comm_rank(MPI_COMM_WORLD, &m->rank);
    m->speaks = m->rank == 0;
    MPI_Comm_rank(comm, &m->rank);
    MPI_Comm_size(comm, &m->nranks);
    MPI_Comm_dup(comm, &m->comm);
    ar_reduction_resolve(&m->reduction, ar_op_handle(op), type->geometry.type);
    int status = ar_judge_create(&m->judge, &m->reduction, m->rank, m->nranks);
    if (!status && (!append(m, AR_MEASURED_NATIVE, "native", MPI_COMM_NULL) ||
                    !append(m, AR_MEASURED_REDUCE_BCAST, "MPI_Reduce+MPI_Bcast", MPI_COMM_NULL)))
        status = AR_EXIT_FAILED;
    return status;
}

void
ar_measurement_fini(struct ar_measurement *m)
{
    ar_measurement_clear(m);
    if (m->shared)
        MPI_Comm_free(&m->shared_comm);
    free(m->measured);
    free(m->times);
    ar_judge_destroy(m->judge);
    MPI_Comm_free(&m->comm);
}

void
ar_measurement_clear(struct ar_measurement *m)
{
    while (m->nmeasured > 0) {
        struct ar_measured *const e = &m->measured[--m->nmeasured];
        if (!e->pick)
            MPI_Comm_free(&e->comm);
        free(e->pick);
        free(e->label);
    }
}

/* The state of one of ours, on the nodes that are assumed; NULL without memory. */
static struct ar_communicator *
create_state(const struct ar_measurement *m, MPI_Comm comm, struct ar_config *config)
{
    struct ar_communicator *const state = ar_communicator_create_with(comm, config);
    if (state && m->places->is_assumed)
        ar_communicator_assume(state, m->places->placement.node_of);
    return state;
}

/* On a communicator of its own. */
static int
add_rules(struct ar_measurement *m, const char *label, const char *text)
{
    struct ar_config *config = ar_config_from_algo(text);
    ar_process_begin();
    if (!config) {
        ar_say("out of memory");
        return AR_EXIT_FAILED;
    }
    if (config->error) {
        if (m->speaks)
            ar_say("%s", config->problem);
        ar_config_destroy(config);
        return AR_EXIT_USAGE;
    }
    struct ar_measured *e = append(m, AR_MEASURED_OURS, label, MPI_COMM_NULL);
    if (e)
        e->state = create_state(m, e->comm, config);
    return e && e->state ? AR_EXIT_DONE : AR_EXIT_FAILED;
}

/* All picks share a communicator, and so its channel through shared memory.  If each had its own,
 * the later ones would have no channel: see KEPT_BYTES in execute/arena.c. */
static int
add_pick(struct ar_measurement *m, const char *label, const struct ar_choice *choice)
{
    struct ar_pick *const pick = malloc(sizeof *pick);
    struct ar_measured *e = NULL;
    if (pick && !m->shared) {
        ar_process_begin();
        struct ar_config *const config = ar_config_from_algo("");
        MPI_Comm_dup(m->comm, &m->shared_comm);
        if (config)
            m->shared = create_state(m, m->shared_comm, config);
    }
    if (pick && m->shared)
        e = append(m, AR_MEASURED_OURS, label, m->shared_comm);
    if (!e) {
        free(pick);
        return AR_EXIT_FAILED;
    }
    *pick = (struct ar_pick){++m->npicks, *choice, ar_reason_named, false};
    e->state = m->shared;
    e->pick = pick;
    return AR_EXIT_DONE;
}

/* Is the text one algorithm, for all messages? */
static bool
is_one_choice(struct ar_choice *choice, const char *text)
{
    struct ar_problem problem;
    struct ar_rules *rules;
    if (ar_rules_parse(&rules, text, &problem))
        return false;
    const struct ar_clause *const clause = rules->clauses;
    const bool is_one = rules->nclauses == 1 && clause->nconditions == 0 &&
                        ar_rules_all_traits(rules) == 0 &&
                        clause->choice.kind == AR_CHOICE_ALGORITHM;
    if (is_one)
        *choice = clause->choice;
    ar_rules_destroy(rules);
    return is_one;
}

int
ar_measurement_add(struct ar_measurement *m, const char *label, const char *text)
{
    struct ar_choice choice;
    return is_one_choice(&choice, text) ? add_pick(m, label, &choice) : add_rules(m, label, text);
}

int
ar_measurement_add_choice(struct ar_measurement *m, const struct ar_choice *choice)
{
    char label[AR_CHOICE_TEXT];
    return add_pick(m, ar_choice_print(choice, label, sizeof label), choice);
}

int
ar_measurement_add_exchange(struct ar_measurement *m)
{
    return append(m, AR_MEASURED_EXCHANGE, "exchange", MPI_COMM_NULL) ? AR_EXIT_DONE
                                                                      : AR_EXIT_FAILED;
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

enum { SIGNALLED = 1, LATE = 2, SLOW = 4 }; /* bits */

/* A barrier, so that no rank's time contains the waiting for another one.  Dissemination,
 * ceil(log2 p) rounds.  All ranks learn whether any of them was interrupted or had a slow slice,
 * and whether the deadline has passed. */
static void
meet(struct ar_measurement *m)
{
    const int p = m->nranks, me = m->rank;
    const bool is_late = m->speaks && m->deadline_ns > 0 && ar_clock_system_ns() > m->deadline_ns;
    char any = (char)((ar_interrupt_came() ? SIGNALLED : 0) | (is_late ? LATE : 0) |
                      (m->is_slow ? SLOW : 0));
    char theirs;
    for (int distance = 1; distance < p; distance *= 2) {
        exchange(m->comm, (me + distance) % p, &any, (me + p - distance) % p, &theirs, 1);
        any |= theirs;
    }
    m->interrupted |= (any & SIGNALLED) != 0;
    m->late |= (any & LATE) != 0;
    m->is_slow = (any & SLOW) != 0;
}

/* Does the run end here? */
static bool
is_cut(const struct ar_measurement *m)
{
    return m->interrupted || m->late;
}

static void
exchange_least(const struct ar_measurement *m, const struct ar_measured *e, const void *in,
               void *out, size_t count)
{
    const size_t p = (size_t)m->nranks, bytes = count * m->reduction.size;
    const int left = (m->rank + m->nranks - 1) % m->nranks;
    const int right = (m->rank + 1) % m->nranks;
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

/* The calls that follow run e's pick, if it has one. */
static void
take_turn(const struct ar_measured *e)
{
    if (e->pick)
        ar_communicator_pick(e->state, e->pick);
}

/* in may be out. */
static void
call(const struct ar_measurement *m, const struct ar_measured *e, const void *in, void *out,
     size_t count)
{
    const struct ar_call allreduce = {.in = in == out ? MPI_IN_PLACE : in,
                                      .out = out,
                                      .count = (MPI_Count)count,
                                      .type = m->reduction.type,
                                      .op = m->reduction.op,
                                      .comm = e->comm,
                                      .native = call_native};
    const bool is_root = m->rank == 0;
    int error = MPI_SUCCESS;
    switch (e->kind) {
    case AR_MEASURED_NATIVE:
        error = call_native(&allreduce);
        break;
    case AR_MEASURED_REDUCE_BCAST:
        error = PMPI_Reduce(is_root ? allreduce.in : in, is_root ? out : NULL, (int)count,
                            allreduce.type, allreduce.op, 0, e->comm);
        if (!error)
            error = PMPI_Bcast(out, (int)count, allreduce.type, 0, e->comm);
        break;
    case AR_MEASURED_OURS:
        error = ar_allreduce(&allreduce);
        break;
    case AR_MEASURED_EXCHANGE:
        exchange_least(m, e, in == out ? m->buffers.native : in, out, count);
    }
    if (error)
        PMPI_Abort(e->comm, 1);
}

/* --- results --- */

/* Scratch that the last call took on this rank.  NAN where the MPI library ran it. */
static double
extra_bytes(const struct ar_communicator *c)
{
    const struct ar_decision *const d = c->choice.ran;
    if (c->agreement.always_native || d->runner == AR_RUN_NATIVE)
        return NAN;
    if (d->plan)
        return (double)ar_plan_scratch_bytes(d->plan);
    return d->node_plan ? (double)ar_node_plan_scratch_bytes(d->node_plan) : NAN;
}

/* Reduces operands whose result is known, judges the result, and notes what ran.  The result is
 * also compared with native's, if native is the first of all and judged in this run. */
static void
judge(struct ar_measurement *m, struct ar_measured *e, const struct ar_workload *work)
{
    struct ar_buffers *const b = &m->buffers;
    char *const in = work->place == AR_IN_PLACE ? b->out : b->in;
    const size_t count = work->count;
    double worst[4] = {0};
    take_turn(e);
    do {
        if (in != b->out)
            memset(b->out, 0xff, b->slot_bytes);
        ar_judge_fill(m->judge, in, count);
        call(m, e, in, b->out, count);
    } while (e->kind == AR_MEASURED_OURS && e->state->choice.ran &&
             e->state->choice.ran->reason ==
                 ar_reason_first); /* auto leaves it to the MPI library */
    worst[0] = !ar_judge_is_right(m->judge, b->out, count);
    worst[1] = ar_judge_distance(m->judge, b->out, NULL, count);
    if (e->kind == AR_MEASURED_NATIVE)
        memcpy(b->native, b->out, count * (size_t)m->reduction.extent);
    if (m->measured[0].kind == AR_MEASURED_NATIVE && !m->measured[0].is_judged)
        worst[2] = ar_judge_distance(m->judge, b->out, b->native, count);
    worst[3] = e->kind == AR_MEASURED_OURS ? extra_bytes(e->state) : 0;
    MPI_Allreduce(MPI_IN_PLACE, worst, 4, MPI_DOUBLE, MPI_MAX, m->comm);
    struct ar_outcome *const o = &e->outcome;
    o->wrong = worst[0] != 0;
    o->error = worst[1];
    o->from_native = worst[2];
    o->extra_bytes = worst[3];
    if (e->kind != AR_MEASURED_OURS)
        return;
    const struct ar_communicator *const c = e->state;
    const struct ar_decision *const d = c->choice.ran;
    snprintf(o->reason, sizeof o->reason, "%s",
             c->agreement.always_native ? c->agreement.always_native
                                        : ar_decisions_reason(&c->choice));
    if (c->agreement.always_native || d->runner == AR_RUN_NATIVE)
        strcpy(o->ran, "native");
    else {
        const struct ar_choice choice = ar_decision_choice(d, c->choice.told);
        ar_choice_print(&choice, o->ran, sizeof o->ran);
    }
}

/* --- times --- */

/* All of them are judged, then warmed up, then timed in rounds of batches: done counts from 0 on
 * through all of these. */
static void
tell(struct ar_measurement *m, const struct ar_workload *work, size_t done)
{
    const struct ar_bench_part *const stage = &m->stage;
    const size_t n = m->nmeasured, step = done / n;
    const double all = (double)n * (double)(2 + work->repetitions);
    const double whole = stage->done + stage->part * (double)done / all;
    if (!stage->progress)
        return;
    if (step < 2)
        ar_progress_tell(stage->progress, whole, "%s, %s %zu of %zu", stage->what,
                         step == 0 ? "result" : "warm-up", done % n + 1, n);
    else
        ar_progress_tell(stage->progress, whole, "%s, batch %zu of %d", stage->what, step - 1,
                         work->repetitions);
}

/* Seconds, per call. */
struct lap {
    double call, turn;
};

/* So many calls, one after the other, whose times on this rank are added to *lap. */
static void
time_slice(struct ar_measurement *m, const struct ar_measured *e, const struct ar_workload *work,
           size_t n, struct lap *lap)
{
    struct ar_buffers *const b = &m->buffers;
    const size_t bytes = work->count * (size_t)m->reduction.extent;
    double calls = 0;
    const double start = MPI_Wtime();
    for (size_t i = 0; i < n; i++) {
        char *const out = b->out + b->next * b->slot_bytes;
        char *const in = work->place == AR_IN_PLACE ? out : b->in + b->next * b->slot_bytes;
        if (work->fresh)
            ar_buffer_use(in, bytes, true);
        calls -= work->fresh ? MPI_Wtime() : 0;
        call(m, e, in, out, work->count);
        calls += work->fresh ? MPI_Wtime() : 0;
        if (work->fresh)
            ar_buffer_use(out, bytes, false);
        b->next = b->next + 1 < b->slots ? b->next + 1 : 0;
    }
    const double turn = MPI_Wtime() - start;
    lap->call += work->fresh ? calls : turn;
    lap->turn += turn;
    m->is_slow = turn > SLICE_SECONDS;
}

/* Times a batch, on this rank; false if the run ended before it did.  The ranks meet at the end,
 * too: what follows may be the MPI library's, whose ranks spin, and would take cores from those
 * that are still in the batch. */
static bool
time_batch(struct ar_measurement *m, struct ar_measured *e, const struct ar_workload *work,
           struct lap *lap)
{
    const struct ar_buffers *const b = &m->buffers;
    struct lap sum = {0, 0};
    size_t left = e->batch;
    take_turn(e);
    m->is_slow = false;
    meet(m);
    while (left > 0 && !is_cut(m)) {
        const size_t n = left < e->slice ? left : e->slice;
        if (work->settles)
            call(m, e, work->place == AR_IN_PLACE ? b->out : b->in, b->out, work->count);
        time_slice(m, e, work, n, &sum);
        left -= n;
        meet(m);
        e->slice = m->is_slow ? 1 : 2 * e->slice < SLICE_MAX ? 2 * e->slice : SLICE_MAX;
    }
    *lap = (struct lap){sum.call / (double)e->batch, sum.turn / (double)e->batch};
    return left == 0;
}

static bool
has_run(const struct ar_measured *e)
{
    return e->kind == AR_MEASURED_OURS && e->state->choice.ran;
}

/* Warms up, and finds how many calls take a batch's time: rank 0's times count.  The first calls of
 * a row may find its memory cold, or not yet there, so that batches double until one takes a
 * quarter of that time.  Ours go on while they try how to store, as a program's calls would, but
 * not for ever: a trial does not end where the ranks have found that they had better read in place.
 * So they stop after a batch's time if time is limited, else at batches of TRYING_BATCH calls. */
static void
find_batch(struct ar_measurement *m, struct ar_measured *e, const struct ar_workload *work,
           double seconds)
{
    const double begun = MPI_Wtime();
    struct lap lap = {0, 0};
    for (e->batch = work->limit > 0 ? 1 : WARMUPS; time_batch(m, e, work, &lap); e->batch *= 2) {
        const bool may_try =
            work->limit > 0 ? MPI_Wtime() - begun < seconds : e->batch < TRYING_BATCH;
        double wanted[2] = {0, may_try && has_run(e) && ar_copy_is_trying(e->state->choice.ran)};
        if (m->rank == 0)
            wanted[0] = floor(seconds / (lap.turn > 0 ? lap.turn : 1e-9));
        MPI_Allreduce(MPI_IN_PLACE, wanted, 2, MPI_DOUBLE, MPI_MAX, m->comm);
        const double calls = wanted[0] < 1 ? 1 : wanted[0] > BATCH_MAX ? BATCH_MAX : wanted[0];
        if (calls > 4 * (double)e->batch || wanted[1] > 0)
            continue;
        e->batch = (size_t)calls;
        break;
    }
    if (has_run(e))
        ar_copy_stop_trying(e->state->choice.ran);
}

/* The slowest rank's times count, of the complete rounds of batches. */
static void
summarize(struct ar_measurement *m, const struct ar_workload *work)
{
    const int repetitions = m->batches;
    MPI_Allreduce(MPI_IN_PLACE, m->times, 2 * (int)m->nmeasured * work->repetitions, MPI_DOUBLE,
                  MPI_MAX, m->comm);
    for (size_t i = 0; i < m->nmeasured; i++) {
        struct ar_measured *const e = &m->measured[i];
        for (int k = 0; k < repetitions; k++)
            e->times[k] *= 1e6;
        e->outcome.us = ar_estimate_make(e->times, (size_t)repetitions);
        e->outcome.least_us = e->times[0];
        e->outcome.most_us = e->times[repetitions - 1];
        e->outcome.turn_us =
            work->fresh ? ar_estimate_make(e->turns, (size_t)repetitions).median * 1e6 : NAN;
        e->outcome.average_us = 0;
        for (int k = 0; k < repetitions; k++)
            e->outcome.average_us += e->times[k] / repetitions;
    }
}

/* Is there time for another round of batches?  Rank 0's clock counts. */
static bool
goes_on(const struct ar_measurement *m, const struct ar_workload *work, double begun,
        double first_round)
{
    if (is_cut(m) || m->batches == work->repetitions)
        return false;
    if (work->limit <= 0 || m->batches == 0)
        return true;
    const double now = MPI_Wtime();
    int more = now - begun + (now - first_round) / m->batches <= work->limit;
    MPI_Bcast(&more, 1, MPI_INT, 0, m->comm);
    return more;
}

/* Complete rounds of batches are counted.  In each all take part in another order: what a batch
 * leaves behind, such as a link that has saved up or a core that sleeps, falls to another one. */
static void
time_rounds(struct ar_measurement *m, const struct ar_workload *work, double begun)
{
    const double first_round = MPI_Wtime();
    const size_t n = m->nmeasured;
    size_t *const order = ar_cli_need_memory(malloc(n * sizeof *order));
    m->batches = 0;
    while (goes_on(m, work, begun, first_round)) {
        const size_t before = (size_t)(2 + m->batches) * n;
        bool is_complete = true;
        ar_shuffle(order, n, (uint64_t)m->batches);
        for (size_t i = 0; i < n && is_complete; i++) {
            struct ar_measured *const e = &m->measured[order[i]];
            struct lap lap = {0, 0};
            is_complete = time_batch(m, e, work, &lap);
            e->times[m->batches] = lap.call;
            e->turns[m->batches] = lap.turn;
            tell(m, work, before + i);
        }
        m->batches += is_complete;
    }
    free(order);
}

int
ar_measurement_run(struct ar_measurement *m, const struct ar_workload *work)
{
    const size_t n = m->nmeasured, each = (size_t)work->repetitions;
    const double begun = MPI_Wtime();
    struct ar_buffers *const b = &m->buffers;
    double *const times = ar_cli_need_memory(reallocarray(m->times, 2 * n * each, sizeof *times));
    int wrong = 0;
    m->times = times;
    m->deadline_ns = work->deadline_ns;
    m->late = false;
    memset(times, 0, 2 * n * each * sizeof *times);
    ar_buffers_init(b, work->count * (size_t)m->reduction.extent, work->rotate_bytes);
    for (size_t i = 0; i < n; i++) {
        struct ar_measured *const e = &m->measured[i];
        e->times = &times[i * each];
        e->turns = &times[(n + i) * each];
        if (e->pick) /* what was judged has run before, and found how to store */
            e->pick->is_brief = e->is_judged;
        meet(m);
        if (e->kind != AR_MEASURED_EXCHANGE && !e->is_judged && !is_cut(m))
            judge(m, e, work);
        wrong |= e->outcome.wrong;
        tell(m, work, i);
    }
    ar_buffers_fill(b, m->judge, work->count, work->place == AR_IN_PLACE);
    const double seconds =
        work->limit > 0 && work->limit < work->seconds ? work->limit : work->seconds;
    for (size_t i = 0; i < n; i++) {
        find_batch(m, &m->measured[i], work, seconds / work->repetitions / (double)n);
        tell(m, work, n + i);
    }
    time_rounds(m, work, begun);
    if (m->batches > 0)
        summarize(m, work);
    ar_buffers_fini(b);
    return wrong;
}
