/* Segments in flight share the communicator: slot s uses the s-th of the wire's tags.  Messages of
 * one tag between two ranks match in order, since a slot begins its next segment only when the last
 * one has ended on this rank, and a call begins only when the one before has. */
#include "execute/p2p.h"

#include <stdbool.h>

#include "execute/awaited.h"
#include "schedule/folding.h"
#include "schedule/walk.h"

static size_t
round_begin(const struct ar_slot *slot)
{
    return ar_round_begin(&slot->routine->schedule, slot->round);
}

static ptrdiff_t
bytes(const struct ar_p2p *run, size_t elements)
{
    return (ptrdiff_t)elements * run->reduction->extent;
}

static char *
slot_scratch(const struct ar_p2p *run, const struct ar_slot *slot)
{
    return run->scratch + (size_t)(slot - run->plan->slots) * run->plan->slot_bytes;
}

static MPI_Request *
slot_requests(const struct ar_p2p *run, const struct ar_slot *slot)
{
    return run->plan->requests + (slot - run->plan->slots) * run->plan->messages;
}

/* Where what recv_reduce receives lands: behind TMP. */
static char *
landing(const struct ar_p2p *run, const struct ar_slot *slot)
{
    return ar_reduction_base(run->reduction, slot_scratch(run, slot) + run->plan->tmp_bytes, 1);
}

static const char *
source(const struct ar_p2p *run, const struct ar_slot *slot, struct ar_region region)
{
    const size_t from = slot->segment * run->plan->segment + region.offset;
    switch (region.buffer) {
    case AR_IN:
        return run->in + bytes(run, from);
    case AR_OUT:
        return run->out + bytes(run, from);
    default:
        return (char *)ar_reduction_base(run->reduction, slot_scratch(run, slot), 1) +
               bytes(run, region.offset);
    }
}

/* A step never writes IN: the builder refuses it. */
static char *
target(const struct ar_p2p *run, const struct ar_slot *slot, struct ar_region region)
{
    return (char *)source(run, slot, region);
}

/* Do messages with the peer go through the channel? */
static bool
is_near(const struct ar_p2p *run, int peer)
{
    return run->channel && run->member_of[peer] >= 0;
}

/* Is the step's message combined as it comes? */
static bool
folds_at_once(const struct ar_p2p *run, const struct ar_slot *slot, size_t i)
{
    const enum ar_folding least = run->in == run->out ? AR_FOLD_AT_ONCE : AR_FOLD_UNLESS_IN_PLACE;
    return !run->whole && is_near(run, slot->routine->schedule.steps[i].peer) &&
           run->reduction->basic && slot->routine->folding[i] >= least;
}

/* Begins the step's message on the channel; the caller says what is moved. */
static void
begin_transfer(const struct ar_p2p *run, struct ar_slot *slot, const struct ar_step *step,
               struct ar_transfer transfer)
{
    struct ar_plan *plan = run->plan;
    transfer.order = step->order;
    transfer.peer = run->member_of[step->peer];
    transfer.tag = (int)(slot - plan->slots);
    struct ar_transfer *t = &plan->transfers[transfer.tag * plan->messages + slot->posted];
    *t = transfer;
    ar_channel_begin(run->channel, t);
    plan->moving++;
}

static int
tag_of(const struct ar_p2p *run, const struct ar_slot *slot)
{
    return run->wire->tag + (int)(slot - run->plan->slots);
}

/* The next message of the slot, as a request of MPI's. */
static MPI_Request *
next_request(const struct ar_p2p *run, const struct ar_slot *slot)
{
    run->plan->requested++;
    return &slot_requests(run, slot)[slot->posted];
}

static int
receive(const struct ar_p2p *run, struct ar_slot *slot, const struct ar_step *step, char *to)
{
    if (!is_near(run, step->peer))
        return PMPI_Irecv(to, (int)step->dst.length, run->reduction->type,
                          ar_wire_rank(run->wire, step->peer), tag_of(run, slot), run->wire->comm,
                          next_request(run, slot));
    begin_transfer(
        run, slot, step,
        (struct ar_transfer){.kind = AR_TRANSFER_RECEIVE, .to = to, .length = step->dst.length});
    return MPI_SUCCESS;
}

static void
receive_and_fold(const struct ar_p2p *run, struct ar_slot *slot, const struct ar_step *step)
{
    begin_transfer(run, slot, step,
                   (struct ar_transfer){.kind = AR_TRANSFER_FOLD,
                                        .from = source(run, slot, step->a),
                                        .to = target(run, slot, step->dst),
                                        .length = step->dst.length});
}

static int
send(const struct ar_p2p *run, struct ar_slot *slot, const struct ar_step *step)
{
    const char *from = source(run, slot, step->a);
    if (!is_near(run, step->peer))
        return PMPI_Isend(from, (int)step->a.length, run->reduction->type,
                          ar_wire_rank(run->wire, step->peer), tag_of(run, slot), run->wire->comm,
                          next_request(run, slot));
    begin_transfer(
        run, slot, step,
        (struct ar_transfer){.kind = AR_TRANSFER_SEND, .from = from, .length = step->a.length});
    return MPI_SUCCESS;
}

static int
post_receives(const struct ar_p2p *run, struct ar_slot *slot)
{
    const struct ar_schedule *s = &slot->routine->schedule;
    char *land = landing(run, slot);
    int error = MPI_SUCCESS;
    for (size_t i = round_begin(slot); i < s->round_end[slot->round] && !error; i++) {
        const struct ar_step *step = &s->steps[i];
        if (step->kind == AR_RECV) {
            error = receive(run, slot, step, target(run, slot, step->dst));
        } else if (step->kind == AR_RECV_REDUCE && folds_at_once(run, slot, i)) {
            receive_and_fold(run, slot, step);
        } else if (step->kind == AR_RECV_REDUCE) {
            error = receive(run, slot, step, land);
            land += bytes(run, step->dst.length);
        } else {
            continue;
        }
        slot->posted += !error;
    }
    return error;
}

static int
post_sends(const struct ar_p2p *run, struct ar_slot *slot)
{
    const struct ar_schedule *s = &slot->routine->schedule;
    int error = MPI_SUCCESS;
    for (size_t i = round_begin(slot); i < s->round_end[slot->round] && !error; i++) {
        if (s->steps[i].kind != AR_SEND)
            continue;
        error = send(run, slot, &s->steps[i]);
        slot->posted += !error;
    }
    return error;
}

/* Sends first: a sender answers to a request for a long message, over TCP at least, on the
 * connection that its own long message takes.  A rank that is late finds its peer's request
 * waiting; were it to answer before it has asked itself, the peer would send all it has before it
 * answered. */
static int
begin_round(const struct ar_p2p *run, struct ar_slot *slot)
{
    slot->posted = 0;
    int error = post_sends(run, slot);
    if (!error)
        error = post_receives(run, slot);
    slot->pending = slot->posted;
    return error;
}

static int
fold(const struct ar_p2p *run, const struct ar_slot *slot, const struct ar_step *step,
     char *received)
{
    char *dst = target(run, slot, step->dst), *local = target(run, slot, step->a);
    if (step->order == AR_LOCAL_FIRST)
        return ar_reduction_apply(run->reduction, dst, local, received, step->dst.length);
    return ar_reduction_apply(run->reduction, dst, received, local, step->dst.length);
}

static int
run_local_part(const struct ar_p2p *run, const struct ar_slot *slot)
{
    const struct ar_reduction *r = run->reduction;
    char *land = landing(run, slot);
    int error = MPI_SUCCESS;
    for (size_t i = round_begin(slot); i < slot->routine->schedule.round_end[slot->round] && !error;
         i++) {
        const struct ar_step *step = &slot->routine->schedule.steps[i];
        if (step->kind == AR_RECV_REDUCE && !folds_at_once(run, slot, i)) {
            error = fold(run, slot, step, land);
            land += bytes(run, step->dst.length);
        } else if (step->kind == AR_COPY) {
            error = ar_reduction_copy(r, target(run, slot, step->dst), source(run, slot, step->a),
                                      step->dst.length);
        } else if (step->kind == AR_REDUCE) {
            error = ar_reduction_apply(r, target(run, slot, step->dst), source(run, slot, step->a),
                                       target(run, slot, step->b), step->dst.length);
        }
    }
    return error;
}

/* The first segment of the slot, or the one after; false where none is left. */
static bool
begin_segment(const struct ar_p2p *run, struct ar_slot *slot, size_t segment)
{
    const struct ar_plan *plan = run->plan;
    if (segment >= plan->nsegments)
        return false;
    bool is_tail = segment + 1 == plan->nsegments && plan->count % plan->segment > 0;
    slot->segment = segment;
    slot->routine = is_tail ? &plan->tail : &plan->full;
    slot->round = 0;
    return true;
}

/* The slot's round is to begin; goes on through rounds and segments until
 * messages are pending or, *left falling by one, no segment is left. */
static int
go_on(const struct ar_p2p *run, struct ar_slot *slot, int *left)
{
    for (;;) {
        if (slot->round == slot->routine->schedule.nrounds) {
            if (begin_segment(run, slot, slot->segment + (size_t)run->plan->window))
                continue;
            --*left;
            return MPI_SUCCESS;
        }
        int error = begin_round(run, slot);
        if (error || slot->pending > 0)
            return error;
        error = run_local_part(run, slot);
        slot->round++;
        if (error)
            return error;
    }
}

/* The slot's messages have all completed. */
static int
end_round(const struct ar_p2p *run, struct ar_slot *slot, int *left)
{
    int error = run_local_part(run, slot);
    slot->round++;
    return error ? error : go_on(run, slot, left);
}

/* Looks once at MPI's messages under way, which progresses MPI; or waits inside MPI for one of them
 * where nothing else is awaited.  Adds to *found and completed. */
static int
look_at_requests(const struct ar_p2p *run, int n, int *found, struct ar_idle *idle)
{
    struct ar_plan *plan = run->plan;
    int *completed = plan->completed + *found;
    int more = 0, error;
    if (run->wait.blocks && plan->moving == 0) {
        ar_idle_look(idle, true);
        error = PMPI_Waitsome(n, plan->requests, &more, completed, MPI_STATUSES_IGNORE);
    } else {
        error = PMPI_Testsome(n, plan->requests, &more, completed, MPI_STATUSES_IGNORE);
    }
    more = more > 0 ? more : 0;
    plan->requested -= more;
    *found += more;
    return error;
}

/* Looks once at all messages under way. */
static int
look(const struct ar_p2p *run, int *found, struct ar_idle *idle)
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
        error = look_at_requests(run, n, found, idle);
    return error;
}

static int
poll(const struct ar_p2p *run, int *left, int *found, struct ar_idle *idle)
{
    const struct ar_plan *plan = run->plan;
    int error = look(run, found, idle);
    ar_idle_look(idle, *found == 0);
    for (int i = 0; i < *found && !error; i++) {
        struct ar_slot *slot = &plan->slots[plan->completed[i] / plan->messages];
        if (--slot->pending == 0)
            error = end_round(run, slot, left);
    }
    return error;
}

int
ar_p2p_run(const struct ar_p2p *run)
{
    struct ar_plan *plan = run->plan;
    int left = plan->window, error = MPI_SUCCESS;
    struct ar_idle idle = {run->waited_ticks, 0};
    unsigned polls = 0;
    plan->moving = plan->requested = 0;
    for (int i = 0; i < plan->window && !error; i++) {
        begin_segment(run, &plan->slots[i], (size_t)i);
        error = go_on(run, &plan->slots[i], &left);
    }
    while (left > 0 && !error) {
        int found = 0;
        error = poll(run, &left, &found, &idle);
        if (found > 0)
            polls = 0;
        else if (ar_wait_pause(run->wait, &polls))
            sched_yield(); /* a message wakes nobody */
    }
    if (run->channel)
        run->channel->failed |= error != MPI_SUCCESS;
    return error;
}

/* --- for another thread --- */

/* A slot's round, as it was a moment ago. */
struct glance {
    const struct ar_schedule *schedule;
    size_t round;
    int first; /* its first message among the plan's */
};

/* False where no round is under way. */
static bool
glance_at(struct glance *glance, const struct ar_plan *plan, int slot)
{
    const struct ar_slot *s = &plan->slots[slot];
    const struct ar_routine *routine = __atomic_load_n(&s->routine, __ATOMIC_RELAXED);
    if (!routine)
        return false;
    *glance = (struct glance){&routine->schedule, __atomic_load_n(&s->round, __ATOMIC_RELAXED),
                              slot * plan->messages};
    return glance->round < glance->schedule->nrounds;
}

static bool
is_under_way(const struct ar_p2p *run, int peer, int message)
{
    const struct ar_plan *plan = run->plan;
    if (is_near(run, peer))
        return __atomic_load_n(&plan->transfers[message].kind, __ATOMIC_RELAXED) !=
               AR_TRANSFER_NONE;
    return __atomic_load_n(&plan->requests[message], __ATOMIC_RELAXED) != MPI_REQUEST_NULL;
}

/* The messages of a round are numbered as begin_round() posts them: sends, then receives. */
static int
mark_messages(const struct ar_p2p *run, const struct glance *g, int message, enum ar_awaited mark,
              unsigned char *marks)
{
    const struct ar_schedule *s = g->schedule;
    for (size_t i = ar_round_begin(s, g->round); i < s->round_end[g->round]; i++) {
        const struct ar_step *step = &s->steps[i];
        if (step->peer < 0 || (step->kind == AR_SEND) != (mark == AR_AWAITED_TAKING))
            continue;
        if (is_under_way(run, step->peer, message++))
            marks[step->peer] |= mark;
    }
    return message;
}

void
ar_p2p_awaited(const struct ar_p2p *run, unsigned char *marks)
{
    struct glance glance;
    for (int i = 0; i < run->plan->window; i++)
        if (glance_at(&glance, run->plan, i)) {
            const int receives =
                mark_messages(run, &glance, glance.first, AR_AWAITED_TAKING, marks);
            mark_messages(run, &glance, receives, AR_AWAITED_GIVING, marks);
        }
}
