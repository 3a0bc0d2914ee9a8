/* Segments in flight share the communicator: instance i uses the i-th of the wire's tags.  Messages
 * of one tag between two ranks match in order, since an instance begins its next segment only when
 * its last one has ended on this rank, and a call begins only when the one before has ended.
 *
 * Where a rank waits, and what may be outstanding meanwhile:
 *   - Between two polls in vain, anything.  It yields or sleeps for a moment, no more, and each
 * poll goes on with all messages, and with the program's own through MPI.
 *   - In PMPI_Waitsome, only messages of MPI's and whatever needs this rank inside MPI.  No message
 *     of the channel is under way, since MPI does not move those.  None has just been found
 *     complete either: the end of its round may begin what a peer waits for.
 *   - After the run, nothing that needs this rank: what it sent is in cells or in MPI's care.
 * So each segment goes on whenever the checker says that it can.  test/unit/test_executor.c tries
 * it. */
#include "execute/p2p.h"

#include <stdbool.h>

#include "execute/p2p_events.h"
#include "schedule/folding.h"
#include "schedule/walk.h"

static size_t
round_begin(const struct ar_instance *x)
{
    return ar_round_begin(&x->routine->schedule, x->round);
}

static ptrdiff_t
bytes(const struct ar_p2p *run, size_t elements)
{
    return (ptrdiff_t)elements * run->reduction->extent;
}

static char *
scratch_of(const struct ar_p2p *run, const struct ar_instance *x)
{
    return run->scratch + (size_t)(x - run->plan->instances) * run->plan->instance_bytes;
}

/* What recv_reduce steps receive is stored behind TMP. */
static char *
landing(const struct ar_p2p *run, const struct ar_instance *x)
{
    return ar_reduction_base(run->reduction, scratch_of(run, x) + run->plan->tmp_bytes, 1);
}

static const char *
source(const struct ar_p2p *run, const struct ar_instance *x, struct ar_region region)
{
    const size_t from = x->segment * run->plan->segment + region.offset;
    switch (region.buffer) {
    case AR_IN:
        return run->in + bytes(run, from);
    case AR_OUT:
        return run->out + bytes(run, from);
    default:
        return (char *)ar_reduction_base(run->reduction, scratch_of(run, x), 1) +
               bytes(run, region.offset);
    }
}

/* A step never writes IN: the builder refuses it. */
static char *
target(const struct ar_p2p *run, const struct ar_instance *x, struct ar_region region)
{
    return (char *)source(run, x, region);
}

/* Do messages with the peer go through the channel? */
static bool
is_near(const struct ar_p2p *run, int peer)
{
    return run->channel && run->member_of[peer] >= 0;
}

/* Is the step's message combined as it comes? */
static bool
folds_at_once(const struct ar_p2p *run, const struct ar_instance *x, size_t i)
{
    const enum ar_folding least = run->in == run->out ? AR_FOLD_AT_ONCE : AR_FOLD_UNLESS_IN_PLACE;
    return !run->whole && is_near(run, x->routine->schedule.steps[i].peer) &&
           run->reduction->basic && x->routine->folding[i] >= least;
}

/* Begins the step's message: on the channel, or as a request of MPI's. */
static inline int
begin_message(const struct ar_p2p *run, struct ar_instance *x, const struct ar_step *step,
              struct ar_transfer message)
{
    struct ar_plan *const plan = run->plan;
    const int instance = (int)(x - plan->instances), tag = run->wire->tag + instance;
    const int place = instance * plan->messages + x->posted++;
    if (is_near(run, step->peer)) {
        struct ar_transfer *const begun = &plan->transfers[place];
        begun->order = step->order;
        begun->peer = run->member_of[step->peer];
        begun->tag = instance;
        begun->from = message.from;
        begun->to = message.to;
        begun->length = message.length;
        begun->done = 0;
        /* Another thread reads it, in ar_p2p_awaited(). */
        __atomic_store_n(&begun->kind, message.kind, __ATOMIC_RELAXED);
        ar_channel_begin(run->channel, begun);
        plan->moving++;
        return MPI_SUCCESS;
    }
    plan->requested++;
    if (message.kind == AR_TRANSFER_SEND)
        return PMPI_Isend(message.from, (int)message.length, run->reduction->type,
                          ar_wire_rank(run->wire, step->peer), tag, run->wire->comm,
                          &plan->requests[place]);
    return PMPI_Irecv(message.to, (int)message.length, run->reduction->type,
                      ar_wire_rank(run->wire, step->peer), tag, run->wire->comm,
                      &plan->requests[place]);
}

/* Sends are posted first.  Over TCP at least, MPI answers a peer's request to send a long message
 * on the connection that carries its own long message.  A late rank finds its peer's request
 * waiting.  If it answered before it posted its own request, the peer would send its whole message
 * before it answered that. */
static int
begin_round(const struct ar_p2p *run, struct ar_instance *x)
{
    const struct ar_schedule *const s = &x->routine->schedule;
    const size_t begin = round_begin(x), end = s->round_end[x->round];
    char *land = landing(run, x);
    int error = MPI_SUCCESS;
    x->posted = 0;
    if (run->events)
        ar_p2p_note_begin(run, x);
    for (size_t i = begin; i < end && !error; i++) {
        const struct ar_step *const step = &s->steps[i];
        if (step->kind == AR_SEND)
            error = begin_message(run, x, step,
                                  (struct ar_transfer){.kind = AR_TRANSFER_SEND,
                                                       .from = source(run, x, step->a),
                                                       .length = step->a.length});
    }
    for (size_t i = begin; i < end && !error; i++) {
        const struct ar_step *const step = &s->steps[i];
        struct ar_transfer message = {.kind = AR_TRANSFER_RECEIVE, .length = step->dst.length};
        if (!ar_step_receives(step))
            continue;
        if (step->kind == AR_RECV) {
            message.to = target(run, x, step->dst);
        } else if (folds_at_once(run, x, i)) {
            message.kind = AR_TRANSFER_FOLD;
            message.from = source(run, x, step->a);
            message.to = target(run, x, step->dst);
        } else {
            message.to = land;
            land += bytes(run, step->dst.length);
        }
        error = begin_message(run, x, step, message);
    }
    x->pending = x->posted;
    return error;
}

static int
run_local_part(const struct ar_p2p *run, const struct ar_instance *x)
{
    const struct ar_reduction *r = run->reduction;
    char *land = landing(run, x);
    int error = MPI_SUCCESS;
    for (size_t i = round_begin(x); i < x->routine->schedule.round_end[x->round] && !error; i++) {
        const struct ar_step *step = &x->routine->schedule.steps[i];
        if (step->kind == AR_RECV_REDUCE && !folds_at_once(run, x, i)) {
            error = ar_fold(r, step->order, target(run, x, step->dst), target(run, x, step->a),
                            land, step->dst.length);
            land += bytes(run, step->dst.length);
        } else if (step->kind == AR_COPY) {
            error = ar_reduction_copy(r, target(run, x, step->dst), source(run, x, step->a),
                                      step->dst.length);
        } else if (step->kind == AR_REDUCE) {
            error = ar_reduction_apply(r, target(run, x, step->dst), source(run, x, step->a),
                                       target(run, x, step->b), step->dst.length);
        }
    }
    return error;
}

/* The round's messages have all completed, if it has any. */
static int
finish_round(const struct ar_p2p *run, struct ar_instance *x)
{
    const uint64_t came_ns = run->events ? ar_clock_system_ns() : 0;
    const int error = run_local_part(run, x);
    if (run->events)
        ar_p2p_note_round(run, x, came_ns);
    /* Another thread reads it, in ar_p2p_awaited(). */
    __atomic_store_n(&x->round, x->round + 1, __ATOMIC_RELAXED);
    return error;
}

/* The instance begins this segment; false if there are not so many. */
static bool
begin_segment(const struct ar_p2p *run, struct ar_instance *x, size_t segment)
{
    const struct ar_plan *plan = run->plan;
    if (segment >= plan->nsegments)
        return false;
    bool is_tail = segment + 1 == plan->nsegments && plan->count % plan->segment > 0;
    x->segment = segment;
    __atomic_store_n(&x->routine, is_tail ? &plan->tail : &plan->full, __ATOMIC_RELAXED);
    __atomic_store_n(&x->round, 0, __ATOMIC_RELAXED);
    return true;
}

/* Begins the instance's round, and goes on through rounds and segments until messages are pending
 * or no segment is left; then it takes one from *left, the instances that have not ended. */
static int
go_on(const struct ar_p2p *run, struct ar_instance *x, int *left)
{
    for (;;) {
        if (x->round == x->routine->schedule.nrounds) {
            if (begin_segment(run, x, x->segment + (size_t)run->plan->window))
                continue;
            --*left;
            return MPI_SUCCESS;
        }
        int error = begin_round(run, x);
        if (error || x->pending > 0)
            return error;
        error = finish_round(run, x);
        if (error)
            return error;
    }
}

static int
end_round(const struct ar_p2p *run, struct ar_instance *x, int *left)
{
    const int error = finish_round(run, x);
    return error ? error : go_on(run, x, left);
}

/* The error of one of n messages, if MPI says only that some message has one. */
static int
error_of_one(const MPI_Status *statuses, int n, int error)
{
    int class;
    PMPI_Error_class(error, &class);
    for (int i = 0; i < n && class == MPI_ERR_IN_STATUS; i++)
        if (statuses[i].MPI_ERROR != MPI_SUCCESS)
            return statuses[i].MPI_ERROR;
    return error;
}

/* Polls MPI's messages under way once, those of all segments together, which progresses MPI; or
 * waits inside MPI for one of them where nothing else is awaited or left to do.  Adds to *found and
 * completed. */
static int
poll_requests(const struct ar_p2p *run, int n, int *found, struct ar_idle *idle)
{
    struct ar_plan *plan = run->plan;
    int *completed = plan->completed + *found;
    int more = 0, error;
    if (run->wait.blocks && plan->moving == 0 && *found == 0) {
        ar_idle_look(idle, true);
        error = PMPI_Waitsome(n, plan->requests, &more, completed, plan->statuses);
    } else {
        error = PMPI_Testsome(n, plan->requests, &more, completed, plan->statuses);
    }
    more = more > 0 ? more : 0;
    plan->requested -= more;
    *found += more;
    return error ? error_of_one(plan->statuses, more, error) : MPI_SUCCESS;
}

/* Polls all messages under way once. */
static int
poll_messages(const struct ar_p2p *run, int *found, struct ar_idle *idle)
{
    struct ar_plan *plan = run->plan;
    const int n = plan->window * plan->messages;
    int error = MPI_SUCCESS;
    if (plan->moving > 0) {
        error = ar_channel_poll(run->channel, run->reduction, plan->transfers, n, run->wire->comm,
                                found, plan->completed);
        plan->moving -= *found;
    }
    if (plan->requested > 0 && !error)
        error = poll_requests(run, n, found, idle);
    return error;
}

static int
poll(const struct ar_p2p *run, int *left, int *found, struct ar_idle *idle)
{
    const struct ar_plan *plan = run->plan;
    int error = poll_messages(run, found, idle);
    ar_idle_look(idle, *found == 0);
    if (run->events)
        ar_p2p_note_poll(run, *found);
    for (int i = 0; i < *found && !error; i++) {
        struct ar_instance *x = &plan->instances[plan->completed[i] / plan->messages];
        if (--x->pending == 0)
            error = end_round(run, x, left);
    }
    return error;
}

/* After an error the program may free or reuse its buffers: takes back the receives to which no
 * message has come.  A receive that has begun, and sends, cannot be taken back. */
static void
withdraw(const struct ar_p2p *run)
{
    struct ar_plan *const plan = run->plan;
    for (int i = 0; i < plan->window && plan->instances[i].routine; i++) {
        const struct ar_instance *const x = &plan->instances[i];
        const struct ar_schedule *const s = &x->routine->schedule;
        MPI_Request *const requests = plan->requests + i * plan->messages;
        int sends = 0; /* of its round, which come first */
        for (size_t j = round_begin(x); x->round < s->nrounds && j < s->round_end[x->round]; j++)
            sends += s->steps[j].kind == AR_SEND;
        for (int m = 0; m < plan->messages; m++) {
            if (requests[m] == MPI_REQUEST_NULL)
                continue;
            if (m >= sends)
                PMPI_Cancel(&requests[m]);
            PMPI_Request_free(&requests[m]);
        }
    }
}

int
ar_p2p_run(const struct ar_p2p *run)
{
    struct ar_plan *plan = run->plan;
    int left = plan->window, error = MPI_SUCCESS;
    struct ar_idle idle = {run->waited_ticks, 0};
    unsigned polls = 0;
    plan->moving = plan->requested = 0;
    if (run->events)
        ar_events_run(run->events);
    if (run->channel) {
        ar_stores_begin(&plan->stores, plan->count * run->reduction->size);
        run->channel->streams = plan->stores.is_streamed;
    }
    for (int i = 0; i < plan->window && !error; i++) {
        begin_segment(run, &plan->instances[i], (size_t)i);
        error = go_on(run, &plan->instances[i], &left);
    }
    while (left > 0 && !error) {
        int found = 0;
        error = poll(run, &left, &found, &idle);
        if (found > 0)
            polls = 0;
        else if (plan->requested > 0)
            ar_wait_for_message(run->wait, &polls);
        else if (ar_wait_pause(run->wait, &polls))
            sched_yield(); /* a queue wakes nobody, and whoever fills it needs a core alone */
    }
    if (error)
        withdraw(run);
    if (run->channel) {
        ar_stores_end(&plan->stores);
        run->channel->failed |= error != MPI_SUCCESS;
    }
    return error;
}

/* --- for another thread --- */

static bool
is_under_way(const struct ar_p2p *run, int peer, int message)
{
    const struct ar_plan *plan = run->plan;
    if (is_near(run, peer))
        return __atomic_load_n(&plan->transfers[message].kind, __ATOMIC_RELAXED) !=
               AR_TRANSFER_NONE;
    return __atomic_load_n(&plan->requests[message], __ATOMIC_RELAXED) != MPI_REQUEST_NULL;
}

/* Marks the peers of a round's messages that are under way.  Those are numbered from message on, as
 * begin_round() begins them: the sends come first. */
static void
mark_peers(const struct ar_p2p *run, const struct ar_schedule *s, size_t round, int message,
           unsigned char *marks)
{
    for (int receives = 0; receives < 2; receives++)
        for (size_t i = ar_round_begin(s, round); i < s->round_end[round]; i++) {
            const struct ar_step *const step = &s->steps[i];
            if (step->peer < 0 || ar_step_receives(step) != receives)
                continue;
            if (is_under_way(run, step->peer, message++))
                marks[step->peer] |= receives ? AR_AWAITED_GIVING : AR_AWAITED_TAKING;
        }
}

void
ar_p2p_awaited(const struct ar_p2p *run, unsigned char *marks)
{
    const struct ar_plan *plan = run->plan;
    for (int i = 0; i < plan->window; i++) {
        const struct ar_instance *x = &plan->instances[i];
        const struct ar_routine *routine = __atomic_load_n(&x->routine, __ATOMIC_RELAXED);
        const size_t round = __atomic_load_n(&x->round, __ATOMIC_RELAXED);
        if (routine && round < routine->schedule.nrounds)
            mark_peers(run, &routine->schedule, round, i * plan->messages, marks);
    }
}
