#include "model/simulate.h"

#include <stdlib.h>
#include <string.h>

/* A message of a segment under way. */
struct flight {
    bool sent, received; /* posted */
    bool arrived;
    struct ar_moment stamp; /* of the posting of the send, then of the arrival */
};

/* One segment at a time, on one actor. */
struct slot {
    size_t segment;
    size_t round; /* of the program's; the actor's own follow each other */
    size_t pending;
    struct ar_moment ready; /* when the last of the round's messages is complete */
};

enum event_kind { EVENT_LEAVE, EVENT_ROUND };

struct event {
    double at;
    size_t turn;    /* of two at once the earlier made */
    size_t subject; /* flight, or slot */
    enum event_kind kind;
};

struct simulation {
    const struct ar_trial *run;
    int nactors;
    size_t most_messages; /* of a segment */
    struct flight *flights;
    struct slot *slots;
    struct ar_moment *idle; /* from when on each actor is */
    struct event *heap;
    size_t nevents, heap_room, turns;
    size_t left; /* runs of segments on actors that have not ended */
    struct ar_moment *ended;
    bool failed; /* no memory for an event */
};

/* --- moments --- */

static void
spend(struct ar_moment *m, enum ar_part part, double time)
{
    m->at += time;
    m->parts[part] += time;
}

static void
await(struct ar_moment *m, const struct ar_moment *other)
{
    if (other->at > m->at)
        *m = *other;
}

/* --- events: a binary heap, the earliest first --- */

static bool
before(const struct event *a, const struct event *b)
{
    return a->at != b->at ? a->at < b->at : a->turn < b->turn;
}

static void
push(struct simulation *s, enum event_kind kind, double at, size_t subject)
{
    if (s->nevents == s->heap_room) {
        struct event *bigger = realloc(s->heap, 2 * s->heap_room * sizeof *bigger);
        s->failed |= !bigger;
        if (!bigger)
            return;
        s->heap = bigger;
        s->heap_room *= 2;
    }
    const struct event event = {at, s->turns++, subject, kind};
    size_t i = s->nevents++;
    for (; i > 0 && before(&event, &s->heap[(i - 1) / 2]); i = (i - 1) / 2)
        s->heap[i] = s->heap[(i - 1) / 2];
    s->heap[i] = event;
}

static struct event
pop(struct simulation *s)
{
    const struct event first = s->heap[0], last = s->heap[--s->nevents];
    size_t i = 0;
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= s->nevents)
            break;
        if (child + 1 < s->nevents && before(&s->heap[child + 1], &s->heap[child]))
            child++;
        if (!before(&s->heap[child], &last))
            break;
        s->heap[i] = s->heap[child];
        i = child;
    }
    s->heap[i] = last;
    return first;
}

/* --- which is which --- */

static const struct ar_program *
program_of(const struct simulation *s, size_t segment)
{
    return s->run->tail && segment + 1 == s->run->nsegments ? s->run->tail : s->run->full;
}

static struct slot *
slot_of(const struct simulation *s, int actor, size_t segment)
{
    return &s->slots[(size_t)actor * (size_t)s->run->window + segment % (size_t)s->run->window];
}

static int
actor_of(const struct simulation *s, const struct slot *slot)
{
    return (int)((size_t)(slot - s->slots) / (size_t)s->run->window);
}

static size_t
flight_number(const struct simulation *s, size_t segment, size_t message)
{
    return segment * s->most_messages + message;
}

static double
bytes_of(const struct simulation *s, const struct ar_program_message *m)
{
    return (double)m->length * s->run->element_bytes;
}

/* --- messages --- */

/* One of the round's messages is complete. */
static void
complete(struct simulation *s, struct slot *slot, const struct ar_moment *when)
{
    await(&slot->ready, when);
    if (--slot->pending == 0)
        push(s, EVENT_ROUND, slot->ready.at, (size_t)(slot - s->slots));
}

static const struct ar_travel *
travel_of(const struct simulation *s, const struct ar_program_message *m)
{
    return ar_network_travel(s->run->network, m->from, m->to);
}

static bool
is_eager(const struct simulation *s, const struct ar_program_message *m)
{
    return bytes_of(s, m) <= (double)travel_of(s, m)->eager_bytes;
}

/* Both sides of a message that is not eager have posted it, the receiver then: asked and
 * answered, it leaves. */
static void
meet(struct simulation *s, size_t number, const struct ar_program_message *m,
     const struct ar_moment *receiver)
{
    struct flight *const f = &s->flights[number];
    const double latency = travel_of(s, m)->latency;
    spend(&f->stamp, AR_PART_LATENCY, latency);
    await(&f->stamp, receiver);
    spend(&f->stamp, AR_PART_LATENCY, latency);
    push(s, EVENT_LEAVE, f->stamp.at, number);
}

/* Sends the message through its links, each after what came to it before.  Links do not wait for
 * each other: what is held up in one lets others pass, as flows that share a link do.  *gone: when
 * it has left the first; the return: when it has left the last. */
static double
pass(const struct simulation *s, const struct ar_way *way, double bytes, double start, double *gone)
{
    double through = start;
    *gone = start;
    for (int i = 0; i < way->n; i++) {
        struct ar_link *const link = &s->run->network->links[way->links[i]];
        link->free_at = (link->free_at > start ? link->free_at : start) + bytes * link->per_byte;
        link->busy += bytes * link->per_byte;
        through = link->free_at > through ? link->free_at : through;
        if (i == 0)
            *gone = through;
    }
    return through;
}

static void
leave(struct simulation *s, size_t number)
{
    struct flight *const f = &s->flights[number];
    const size_t segment = number / s->most_messages, message = number % s->most_messages;
    const struct ar_program *const p = program_of(s, segment);
    const struct ar_program_message *const m = &p->messages[message];
    const double bytes = bytes_of(s, m), start = f->stamp.at;
    struct ar_way way;
    const int receiver = ar_cast_actor(&p->cast, m->to);
    ar_network_way(s->run->network, &way, m->from, m->to, receiver);
    double gone;
    const double through = pass(s, &way, bytes, start, &gone);

    struct ar_moment sent = f->stamp;
    const double first = way.n ? bytes * s->run->network->links[way.links[0]].per_byte : 0;
    spend(&sent, AR_PART_WAITING, gone - start - first);
    spend(&sent, AR_PART_WIRE, first);
    spend(&f->stamp, AR_PART_WAITING, through - start - bytes * way.per_byte);
    spend(&f->stamp, AR_PART_WIRE, bytes * way.per_byte);
    spend(&f->stamp, AR_PART_LATENCY, way.latency);
    f->arrived = true;
    complete(s, slot_of(s, m->from, segment), &sent);
    if (f->received)
        complete(s, slot_of(s, receiver, segment), &f->stamp);
}

/* --- rounds --- */

static void
post_receives(struct simulation *s, struct slot *slot, const struct ar_moment *now)
{
    const struct ar_program *const p = program_of(s, slot->segment);
    const struct ar_program_round *const round = &p->rounds[slot->round];
    for (size_t i = round[0].first_receive; i < round[1].first_receive; i++) {
        const struct ar_program_message *const m = &p->messages[p->receives[i]];
        const size_t number = flight_number(s, slot->segment, p->receives[i]);
        struct flight *const f = &s->flights[number];
        f->received = true;
        if (f->arrived)
            complete(s, slot, &f->stamp);
        else if (f->sent && !is_eager(s, m))
            meet(s, number, m, now);
    }
}

static void
post_sends(struct simulation *s, struct slot *slot, struct ar_moment *now)
{
    const struct ar_program *const p = program_of(s, slot->segment);
    const struct ar_program_round *const round = &p->rounds[slot->round];
    for (size_t i = round[0].first_send; i < round[1].first_send; i++) {
        const struct ar_program_message *const m = &p->messages[i];
        const size_t number = flight_number(s, slot->segment, i);
        struct flight *const f = &s->flights[number];
        spend(now, AR_PART_OVERHEAD, travel_of(s, m)->overhead);
        f->stamp = *now;
        f->sent = true;
        if (is_eager(s, m))
            push(s, EVENT_LEAVE, now->at, number);
        else if (f->received)
            meet(s, number, m, now);
    }
}

/* What the rank does when the round's messages are complete. */
static void
work(const struct simulation *s, const struct slot *slot, struct ar_moment *now)
{
    const struct ar_program *const p = program_of(s, slot->segment);
    const struct ar_program_round *const round = &p->rounds[slot->round];
    const struct ar_machine *const machine = s->run->network->machine;
    for (size_t i = round[0].first_receive; i < round[1].first_receive; i++) {
        const struct ar_program_message *const m = &p->messages[p->receives[i]];
        spend(now, AR_PART_OVERHEAD, travel_of(s, m)->overhead);
    }
    spend(now, AR_PART_REDUCTION,
          s->run->element_bytes * ((double)round->reduced * machine->reduce_per_byte +
                                   (double)round->copied * machine->copy_per_byte));
}

/* Begins the slot's round, or the next segment's first; the actor is free from its moment on. */
static void
begin_round(struct simulation *s, struct slot *slot)
{
    const int actor = actor_of(s, slot);
    struct ar_moment *const now = &s->idle[actor];
    while (slot->round == program_of(s, slot->segment)->first_round[actor + 1]) {
        await(&s->ended[slot->segment], now);
        s->left--;
        slot->segment += (size_t)s->run->window;
        if (slot->segment >= s->run->nsegments)
            return;
        slot->round = program_of(s, slot->segment)->first_round[actor];
    }
    const struct ar_program_round *const round = &program_of(s, slot->segment)->rounds[slot->round];
    slot->ready = *now;
    slot->pending = 1 + round[1].first_receive - round[0].first_receive + round[1].first_send -
                    round[0].first_send;
    post_receives(s, slot, now);
    post_sends(s, slot, now);
    complete(s, slot, now); /* the posting itself */
} /* NOLINT(clang-analyzer-unix.Malloc): all is freed where it was allocated, in ar_simulate */

static void
end_round(struct simulation *s, struct slot *slot)
{
    struct ar_moment *const now = &s->idle[actor_of(s, slot)];
    await(now, &slot->ready);
    work(s, slot, now);
    slot->round++;
    begin_round(s, slot);
}

static void
begin(struct simulation *s)
{
    for (int actor = 0; actor < s->nactors; actor++)
        for (size_t i = 0; i < (size_t)s->run->window && i < s->run->nsegments; i++) {
            struct slot *const slot = slot_of(s, actor, i);
            slot->segment = i;
            slot->round = program_of(s, i)->first_round[actor];
            begin_round(s, slot);
        }
}

static int
run_events(struct simulation *s)
{
    begin(s);
    while (s->nevents > 0 && !s->failed) {
        const struct event event = pop(s);
        if (event.kind == EVENT_LEAVE)
            leave(s, event.subject);
        else
            end_round(s, &s->slots[event.subject]);
    }
    if (s->failed)
        return AR_ERR_MEMORY;
    return s->left > 0 ? AR_ERR_PROOF : AR_OK;
}

int
ar_simulate(const struct ar_trial *run, struct ar_moment *ended)
{
    struct simulation s = {.run = run, .nactors = run->full->cast.nactors, .ended = ended};
    const size_t actors = (size_t)s.nactors, window = (size_t)run->window;
    s.most_messages = run->full->nmessages + 1;
    if (run->tail && run->tail->nmessages >= s.most_messages)
        s.most_messages = run->tail->nmessages + 1;
    s.left = actors * run->nsegments;
    s.heap_room = 2 * actors * window + 64;
    s.flights = calloc(s.most_messages * run->nsegments, sizeof *s.flights);
    s.slots = calloc(actors * window, sizeof *s.slots);
    s.idle = calloc(actors, sizeof *s.idle);
    s.heap = malloc(s.heap_room * sizeof *s.heap);
    memset(ended, 0, run->nsegments * sizeof *ended);
    ar_network_reset(run->network);
    const int error = s.flights && s.slots && s.idle && s.heap ? run_events(&s) : AR_ERR_MEMORY;
    free(s.flights);
    free(s.slots);
    free(s.idle);
    free(s.heap);
    return error;
}
