#include "model/simulate.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "schedule/grow.h"

const char *const ar_part_names[AR_PARTS] = {"latency", "overhead", "wire", "waiting", "reduction"};

/* A message of a segment.  64 bytes, a line of the cache. */
struct flight {
    bool is_sent, is_awaited; /* its send is posted; its receive is */
    bool has_arrived;
    uint32_t segment, message; /* which it is */
    struct ar_moment stamp;    /* of the posting of the send, then of the arrival */
};

/* A segment in flight on a rank. */
struct instance {
    size_t segment;
    size_t round; /* of the program's; a rank's own follow each other */
    size_t pending;
    struct ar_moment ready; /* when the last of the round's messages is complete */
    bool waits;             /* for the rank to look at what is complete */
};

enum event_kind {
    EVENT_LEAVE, /* a flight leaves */
    EVENT_ROUND, /* all messages of an instance's round are complete */
    EVENT_LOOK   /* a rank looks at what is complete */
};

struct event {
    double at;
    size_t turn;      /* of two at once the earlier made comes first */
    uint32_t subject; /* flight, instance or rank */
    enum event_kind kind;
};

struct simulator {
    const struct ar_simulation *run;
    const struct ar_sample *sample;
    size_t window;
    size_t most_messages; /* of a segment */
    struct flight *flights;
    struct instance *instances; /* window of each rank */
    struct ar_moment *idle;     /* from when on each rank is */
    int ncores;                 /* of a host; 0: each rank has one of its own */
    double *cores;              /* from when on each is idle: those of host after host */
    bool *looks; /* whether each rank will look at what is complete when it is idle */
    struct event *heap;
    size_t nevents, heap_room, turns;
    size_t left; /* instances that have not ended */
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

/* --- events: a heap with four children a node, the earliest event first --- */

#define CHILDREN 4

/* Without a branch, which would often be mispredicted. */
static bool
before(const struct event *a, const struct event *b)
{
    return (a->at < b->at) | ((a->at == b->at) & (a->turn < b->turn));
}

static void
push(struct simulator *s, enum event_kind kind, double at, size_t subject)
{
    struct event *const heap = ar_grow(s->heap, s->nevents + 1, &s->heap_room, sizeof *heap);
    s->failed |= !heap;
    if (!heap)
        return;
    s->heap = heap;
    const struct event event = {at, s->turns++, (uint32_t)subject, kind};
    size_t i = s->nevents++;
    for (; i > 0 && before(&event, &heap[(i - 1) / CHILDREN]); i = (i - 1) / CHILDREN)
        heap[i] = heap[(i - 1) / CHILDREN];
    heap[i] = event;
}

static struct event
pop(struct simulator *s)
{
    struct event *const heap = s->heap;
    const struct event first = heap[0], last = heap[--s->nevents];
    size_t i = 0;
    for (size_t child = 1; child < s->nevents; child = CHILDREN * i + 1) {
        size_t least = child;
        for (size_t c = child + 1; c < s->nevents && c < child + CHILDREN; c++)
            least = before(&heap[c], &heap[least]) ? c : least;
        if (!before(&heap[least], &last))
            break;
        heap[i] = heap[least];
        i = least;
    }
    heap[i] = last;
    return first;
}

/* --- which is which --- */

static const struct ar_program *
program_of(const struct simulator *s, size_t segment)
{
    return s->run->tail && segment + 1 == s->run->nsegments ? s->run->tail : s->run->full;
}

static struct instance *
instance_of(const struct simulator *s, int rank, size_t segment)
{
    return &s->instances[(size_t)rank * s->window + segment % s->window];
}

static size_t
rank_of(const struct simulator *s, const struct instance *x)
{
    return (size_t)(x - s->instances) / s->window;
}

static const struct ar_program_message *
message_of(const struct simulator *s, const struct flight *f)
{
    return &program_of(s, f->segment)->messages[f->message];
}

static double
bytes_of(const struct simulator *s, const struct ar_program_message *m)
{
    return (double)m->length * s->run->element_bytes;
}

static const struct ar_travel *
travel_of(const struct simulator *s, const struct ar_program_message *m)
{
    return ar_network_travel(s->run->network, m->from, m->to);
}

/* --- messages --- */

/* One of the messages of the instance's round is complete. */
static void
complete(struct simulator *s, struct instance *x, const struct ar_moment *when)
{
    await(&x->ready, when);
    if (--x->pending == 0)
        push(s, EVENT_ROUND, x->ready.at, (size_t)(x - s->instances));
}

/* Both sides of a message have posted it.  A short one leaves when it is sent.  A long one first
 * asks the receiver and has its answer; receiver is when that posted its receive. */
static void
depart(struct simulator *s, struct flight *f, const struct ar_travel *travel,
       const struct ar_moment *receiver)
{
    if (receiver) {
        spend(&f->stamp, AR_PART_LATENCY, travel->handshake / 2);
        await(&f->stamp, receiver);
        spend(&f->stamp, AR_PART_LATENCY, travel->handshake / 2);
    }
    push(s, EVENT_LEAVE, f->stamp.at, (size_t)(f - s->flights));
}

/* The message has left its first link: its send is complete. */
static void
free_sender(struct simulator *s, const struct flight *f, const struct ar_way *way, double gone)
{
    const struct ar_program_message *const m = message_of(s, f);
    struct ar_moment sent = f->stamp;
    const double link = way->n ? way->links[0].per_byte : 0;
    const double first = bytes_of(s, m) * (link > way->stream ? link : way->stream);
    spend(&sent, AR_PART_WAITING, gone - sent.at - first);
    spend(&sent, AR_PART_WIRE, first);
    complete(s, instance_of(s, m->from, f->segment), &sent);
}

/* The message has left its last link. */
static void
arrive(struct simulator *s, struct flight *f, const struct ar_way *way, double through)
{
    const struct ar_program_message *const m = message_of(s, f);
    const double bytes = bytes_of(s, m);
    spend(&f->stamp, AR_PART_WAITING, through - f->stamp.at - bytes * way->per_byte);
    spend(&f->stamp, AR_PART_WIRE, bytes * way->per_byte);
    spend(&f->stamp, AR_PART_LATENCY, way->latency);
    f->has_arrived = true;
    if (f->is_awaited)
        complete(s, instance_of(s, ar_sample_rank(s->sample, m->to), f->segment), &f->stamp);
}

/* Sends the message through its links, each after what came to it before.  Links do not wait for
 * each other: what is held up in one lets others pass, as flows that share a link do. */
static void
leave(struct simulator *s, struct flight *f)
{
    const struct ar_program_message *const m = message_of(s, f);
    const double start = f->stamp.at, bytes = bytes_of(s, m);
    struct ar_way way;
    ar_network_way(s->run->network, &way, m->from, m->to, ar_sample_rank(s->sample, m->to));
    double through = start + bytes * way.stream, gone = through;
    for (int i = 0; i < way.n; i++) {
        struct ar_link *const link = &s->run->network->links[way.links[i].link];
        const double alone = bytes * way.links[i].per_byte;
        link->free_at = (link->free_at > start ? link->free_at : start) + alone;
        link->busy += alone;
        through = link->free_at > through ? link->free_at : through;
        if (i == 0)
            gone = through;
    }
    free_sender(s, f, &way, gone);
    arrive(s, f, &way, through);
}

/* --- rounds --- */

static void
post_receives(struct simulator *s, struct instance *x, const struct ar_moment *now)
{
    const struct ar_program *const p = program_of(s, x->segment);
    const struct ar_program_round *const round = &p->rounds[x->round];
    for (size_t i = round[0].first_receive; i < round[1].first_receive; i++) {
        const struct ar_program_message *const m = &p->messages[p->receives[i]];
        struct flight *const f = &s->flights[x->segment * s->most_messages + p->receives[i]];
        f->is_awaited = true;
        if (f->has_arrived)
            complete(s, x, &f->stamp);
        else if (f->is_sent && bytes_of(s, m) > (double)travel_of(s, m)->eager_bytes)
            depart(s, f, travel_of(s, m), now);
    }
}

static void
post_sends(struct simulator *s, struct instance *x, struct ar_moment *now)
{
    const struct ar_program *const p = program_of(s, x->segment);
    const struct ar_program_round *const round = &p->rounds[x->round];
    for (size_t i = round[0].first_send; i < round[1].first_send; i++) {
        const struct ar_program_message *const m = &p->messages[i];
        const struct ar_travel *const travel = travel_of(s, m);
        struct flight *const f = &s->flights[x->segment * s->most_messages + i];
        spend(now, AR_PART_OVERHEAD, travel->overhead);
        f->segment = (uint32_t)x->segment;
        f->message = (uint32_t)i;
        f->stamp = *now;
        f->is_sent = true;
        if (bytes_of(s, m) <= (double)travel->eager_bytes)
            depart(s, f, travel, NULL);
        else if (f->is_awaited)
            depart(s, f, travel, now);
    }
}

/* Begins the instance's round, or the first round of the segment that follows it. */
static void
begin_round(struct simulator *s, struct instance *x)
{
    const size_t rank = rank_of(s, x);
    struct ar_moment *const now = &s->idle[rank];
    while (x->round == program_of(s, x->segment)->first_round[rank + 1]) {
        await(&s->ended[x->segment], now);
        s->left--;
        x->segment += s->window;
        if (x->segment >= s->run->nsegments)
            return;
        x->round = program_of(s, x->segment)->first_round[rank];
    }
    const struct ar_program_round *const round = &program_of(s, x->segment)->rounds[x->round];
    x->ready = *now;
    x->pending = 1 + round[1].first_receive - round[0].first_receive + round[1].first_send -
                 round[0].first_send;
    post_receives(s, x, now);
    post_sends(s, x, now);
    complete(s, x, now); /* the posting itself */
} /* NOLINT(clang-analyzer-unix.Malloc): all is freed where it was allocated, in ar_simulate */

/* Does what the rank itself has to do when the round's messages are complete, and goes on. */
static void
end_round(struct simulator *s, struct instance *x)
{
    const struct ar_program *const p = program_of(s, x->segment);
    const struct ar_program_round *const round = &p->rounds[x->round];
    const struct ar_machine *const machine = s->run->network->machine;
    struct ar_moment *const now = &s->idle[rank_of(s, x)];
    for (size_t i = round[0].first_receive; i < round[1].first_receive; i++)
        spend(now, AR_PART_OVERHEAD, travel_of(s, &p->messages[p->receives[i]])->overhead);
    spend(now, AR_PART_REDUCTION,
          s->run->element_bytes * ((double)round->reduced * machine->reduce_per_byte +
                                   (double)round->copied * machine->copy_per_byte));
    x->round++;
    begin_round(s, x);
}

/* The rank gets the core of its host that is idle first; NULL where it has one of its own. */
static double *
take_core(struct simulator *s, size_t rank)
{
    if (s->ncores == 0)
        return NULL;
    const size_t host = (size_t)ar_network_host(s->run->network, (int)rank);
    double *const cores = &s->cores[host * (size_t)s->ncores], *first = cores;
    for (int i = 1; i < s->ncores; i++)
        first = cores[i] < *first ? &cores[i] : first;
    struct ar_moment *const now = &s->idle[rank];
    if (*first > now->at)
        spend(now, AR_PART_WAITING, *first - now->at);
    return first;
}

/* The rank does what is its own part, on a core, until it waits for others again. */
static void
act(struct simulator *s, struct instance *x, void (*part)(struct simulator *, struct instance *))
{
    const size_t rank = rank_of(s, x);
    await(&s->idle[rank], &x->ready);
    double *const core = take_core(s, rank);
    part(s, x);
    if (core)
        *core = s->idle[rank].at;
}

/* All messages of the instance's round are complete.  A busy rank sees that when it next looks. */
static void
notice(struct simulator *s, struct instance *x, double now)
{
    const size_t rank = rank_of(s, x);
    if (s->idle[rank].at <= now && !s->looks[rank]) {
        act(s, x, end_round);
        return;
    }
    x->waits = true;
    if (!s->looks[rank])
        push(s, EVENT_LOOK, s->idle[rank].at, rank);
    s->looks[rank] = true;
}

/* The rank goes on with what it finds, in the order of the instances and not of the messages, as
 * MPI_Waitsome reports it: so earlier segments get ahead of later ones. */
static void
look(struct simulator *s, size_t rank)
{
    struct instance *const own = &s->instances[rank * s->window];
    s->looks[rank] = false;
    for (size_t i = 0; i < s->window; i++)
        if (own[i].waits) {
            own[i].waits = false;
            act(s, &own[i], end_round);
        }
}

static int
run_events(struct simulator *s)
{
    for (int rank = 0; rank < s->sample->size; rank++)
        for (size_t i = 0; i < s->window && i < s->run->nsegments; i++) {
            struct instance *const x = instance_of(s, rank, i);
            x->segment = i;
            x->round = program_of(s, i)->first_round[rank];
            act(s, x, begin_round);
        }
    while (s->nevents > 0 && !s->failed) {
        const struct event event = pop(s);
        if (event.kind == EVENT_LEAVE)
            leave(s, &s->flights[event.subject]);
        else if (event.kind == EVENT_LOOK)
            look(s, event.subject);
        else
            notice(s, &s->instances[event.subject], event.at);
    }
    if (s->failed)
        return AR_ERR_MEMORY;
    return s->left > 0 ? AR_ERR_PROOF : AR_OK;
}

int
ar_simulate(const struct ar_simulation *run, struct ar_moment *ended)
{
    struct simulator s = {.run = run, .sample = &run->full->sample, .ended = ended};
    const size_t ranks = (size_t)s.sample->size;
    s.window = (size_t)run->window;
    s.most_messages = run->full->nmessages + 1;
    if (run->tail && run->tail->nmessages >= s.most_messages)
        s.most_messages = run->tail->nmessages + 1;
    s.left = ranks * run->nsegments;
    s.flights = calloc(s.most_messages * run->nsegments, sizeof *s.flights);
    s.instances = calloc(ranks * s.window, sizeof *s.instances);
    s.idle = calloc(ranks, sizeof *s.idle);
    s.looks = calloc(ranks, sizeof *s.looks);
    s.ncores = run->network->crowd > 1 ? ar_machine_cores(run->network->machine) : 0;
    s.cores = calloc((size_t)(run->network->nhosts * s.ncores) + 1, sizeof *s.cores);
    memset(ended, 0, run->nsegments * sizeof *ended);
    ar_network_reset(run->network);
    int error = s.flights && s.instances && s.idle && s.looks && s.cores ? AR_OK : AR_ERR_MEMORY;
    if (!error)
        error = run_events(&s);
    free(s.flights);
    free(s.instances);
    free(s.idle);
    free(s.looks);
    free(s.cores);
    free(s.heap);
    return error;
}
