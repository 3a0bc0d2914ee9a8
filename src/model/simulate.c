#include "model/simulate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/share.h"

/* A message of a segment under way. */
struct flight {
    bool sent, received; /* posted */
    bool arrived;
    unsigned short links;   /* that it has not left, where they are shared */
    struct ar_moment stamp; /* of the posting of the send, then of the arrival */
};

/* One segment at a time, on one actor. */
struct slot {
    size_t segment;
    size_t round; /* of the program's; the actor's own follow each other */
    size_t pending;
    struct ar_moment ready; /* when the last of the round's messages is complete */
    bool waits;             /* for the actor to look at what is complete */
};

enum event_kind { EVENT_LEAVE, EVENT_ROUND, EVENT_LOOK, EVENT_LINK };

struct event {
    double at;
    size_t turn;    /* of two at once the earlier made */
    size_t subject; /* flight, slot, actor or link */
    enum event_kind kind;
};

struct simulation {
    const struct ar_trial *run;
    int nactors;
    size_t most_messages; /* of a segment */
    struct flight *flights;
    struct slot *slots;
    struct ar_share share;  /* of links that are shared */
    struct ar_moment *idle; /* from when on each actor is */
    bool *looks;            /* when it is: some of its slots wait */
    struct event *heap;
    size_t nevents, heap_room, turns;
    size_t left; /* runs of segments on actors that have not ended */
    struct ar_moment *ended;
    bool failed; /* no memory for an event, or a part of a link */
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
    const double half = travel_of(s, m)->handshake / 2;
    spend(&f->stamp, AR_PART_LATENCY, half);
    await(&f->stamp, receiver);
    spend(&f->stamp, AR_PART_LATENCY, half);
    push(s, EVENT_LEAVE, f->stamp.at, number);
}

static const struct ar_program_message *
message_of(const struct simulation *s, size_t number)
{
    return &program_of(s, number / s->most_messages)->messages[number % s->most_messages];
}

static void
find_way(const struct simulation *s, struct ar_way *way, const struct ar_program_message *m)
{
    ar_network_way(s->run->network, way, m->from, m->to, ar_cast_actor(&s->run->full->cast, m->to));
}

/* Its first link has let the message go. */
static void
free_sender(struct simulation *s, size_t number, const struct ar_way *way, double gone)
{
    const struct ar_program_message *const m = message_of(s, number);
    struct ar_moment sent = s->flights[number].stamp;
    const double link = way->n ? s->run->network->links[way->links[0]].per_byte : 0;
    const double first = bytes_of(s, m) * (link > way->stream ? link : way->stream);
    spend(&sent, AR_PART_WAITING, gone - sent.at - first);
    spend(&sent, AR_PART_WIRE, first);
    complete(s, slot_of(s, m->from, number / s->most_messages), &sent);
}

/* Its last link has let it go. */
static void
arrive(struct simulation *s, size_t number, const struct ar_way *way, double through)
{
    struct flight *const f = &s->flights[number];
    const struct ar_program_message *const m = message_of(s, number);
    const double bytes = bytes_of(s, m);
    spend(&f->stamp, AR_PART_WAITING, through - f->stamp.at - bytes * way->per_byte);
    spend(&f->stamp, AR_PART_WIRE, bytes * way->per_byte);
    spend(&f->stamp, AR_PART_LATENCY, way->latency);
    f->arrived = true;
    if (f->received)
        complete(s,
                 slot_of(s, ar_cast_actor(&s->run->full->cast, m->to), number / s->most_messages),
                 &f->stamp);
}

/* Sends the message through its links, each after what came to it before.  Links do not wait for
 * each other: what is held up in one lets others pass, as flows that share a link do. */
static void
queue(struct simulation *s, size_t number, const struct ar_way *way, double bytes)
{
    const double start = s->flights[number].stamp.at;
    double through = start + bytes * way->stream, gone = through;
    for (int i = 0; i < way->n; i++) {
        struct ar_link *const link = &s->run->network->links[way->links[i]];
        link->free_at = (link->free_at > start ? link->free_at : start) + bytes * link->per_byte;
        link->busy += bytes * link->per_byte;
        through = link->free_at > through ? link->free_at : through;
        if (i == 0)
            gone = through;
    }
    free_sender(s, number, way, gone);
    arrive(s, number, way, through);
}

/* --- links that are shared --- */

static void
watch(struct simulation *s, size_t link)
{
    const double due = s->share.links[link].due;
    if (due < INFINITY)
        push(s, EVENT_LINK, due, link);
}

/* The message enters all its links at once. */
static void
share(struct simulation *s, size_t number, const struct ar_way *way, double bytes)
{
    struct flight *const f = &s->flights[number];
    f->links = (unsigned short)way->n;
    for (int i = 0; i < way->n; i++) {
        struct ar_link *const link = &s->run->network->links[way->links[i]];
        const double alone = bytes * link->per_byte;
        link->busy += alone;
        s->failed |= ar_share_enter(&s->share, way->links[i], f->stamp.at, alone, number) != AR_OK;
        watch(s, way->links[i]);
    }
    if (way->n == 0) {
        free_sender(s, number, way, f->stamp.at + bytes * way->stream);
        arrive(s, number, way, f->stamp.at + bytes * way->stream);
    }
}

/* A message is through a link of several. */
static void
leave_link(struct simulation *s, size_t number, size_t link, double now)
{
    struct flight *const f = &s->flights[number];
    const struct ar_program_message *const m = message_of(s, number);
    struct ar_way way;
    find_way(s, &way, m);
    const double alone = f->stamp.at + bytes_of(s, m) * way.stream;
    const double through = alone > now ? alone : now;
    f->links--;
    if (link == way.links[0])
        free_sender(s, number, &way, through);
    if (f->links == 0)
        arrive(s, number, &way, through);
}

static void
end_in_link(struct simulation *s, size_t link, double now)
{
    size_t number;
    if (s->share.links[link].due != now) /* others came, or went, since this was foreseen */
        return;
    while (ar_share_leave(&s->share, link, now, &number))
        leave_link(s, number, link, now);
    watch(s, link);
}

static void
leave(struct simulation *s, size_t number)
{
    const struct ar_program_message *const m = message_of(s, number);
    struct ar_way way;
    find_way(s, &way, m);
    if (s->run->network->machine->sharing == AR_SHARING_FAIR)
        share(s, number, &way, bytes_of(s, m));
    else
        queue(s, number, &way, bytes_of(s, m));
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

/* All messages of the slot's round are complete.  Who is busy finds that out at its next look. */
static void
notice(struct simulation *s, struct slot *slot, double now)
{
    const int actor = actor_of(s, slot);
    if (s->idle[actor].at <= now && !s->looks[actor]) {
        end_round(s, slot);
        return;
    }
    slot->waits = true;
    if (!s->looks[actor])
        push(s, EVENT_LOOK, s->idle[actor].at, (size_t)actor);
    s->looks[actor] = true;
}

/* The actor goes on with what it finds, in the order of the slots and not of the messages, as
 * MPI_Waitsome tells it: which has earlier segments get ahead of later ones. */
static void
look(struct simulation *s, size_t actor)
{
    struct slot *const slots = &s->slots[actor * (size_t)s->run->window];
    s->looks[actor] = false;
    for (int i = 0; i < s->run->window; i++) {
        if (!slots[i].waits)
            continue;
        slots[i].waits = false;
        end_round(s, &slots[i]);
    }
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
        else if (event.kind == EVENT_LINK)
            end_in_link(s, event.subject, event.at);
        else if (event.kind == EVENT_LOOK)
            look(s, event.subject);
        else
            notice(s, &s->slots[event.subject], event.at);
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
    s.looks = calloc(actors, sizeof *s.looks);
    s.heap = malloc(s.heap_room * sizeof *s.heap);
    memset(ended, 0, run->nsegments * sizeof *ended);
    ar_network_reset(run->network);
    int error = AR_OK;
    if (run->network->machine->sharing == AR_SHARING_FAIR)
        error = ar_share_init(&s.share, ar_network_links(run->network));
    if (!error)
        error =
            s.flights && s.slots && s.idle && s.looks && s.heap ? run_events(&s) : AR_ERR_MEMORY;
    ar_share_fini(&s.share);
    free(s.flights);
    free(s.slots);
    free(s.idle);
    free(s.looks);
    free(s.heap);
    return error;
}
