#include "disorder.h"

#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schedule/folding.h"

/* --- elements --- */

static uint64_t
scramble(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

struct element
element_of(int rank, size_t i)
{
    const uint64_t x = scramble(((uint64_t)i << 20) + (uint64_t)rank + 1);
    return (struct element){x, (uint32_t)x | 1, (uint32_t)(x >> 32), (float)(x >> 40) / 3};
}

struct element
element_combined(struct element x, struct element y)
{
    return (struct element){x.sum + y.sum, x.a * y.a, x.b * y.a + y.b, x.rounded + y.rounded};
}

bool
element_is_same(const struct element *x, const struct element *y, bool with_order)
{
    return x->sum == y->sum && (!with_order || (x->a == y->a && x->b == y->b));
}

static struct element
garbage(uint64_t salt)
{
    return element_of(-7, (size_t)scramble(salt) >> 24);
}

/* --- the machine --- */

struct message {
    struct message *next;
    const struct element *data; /* the sender's, which waits until it is read; or the copy */
    struct element *copy;       /* owned; NULL: none */
    size_t length;
    uint64_t number; /* in the order of sending */
};

struct queue {
    struct message *first, *last;
};

enum phase { POST, EXCHANGE, COMBINE, DONE };

struct rank {
    struct machine *machine;
    int number;
    const struct ar_schedule *s;
    struct element *in, *out, *tmp; /* owned; out may be in */
    uint64_t dice;
    enum phase phase;
    size_t round, begin, end; /* its steps */
    size_t next;              /* step of the phase */
    size_t unread;            /* messages of the round that no rank has taken yet */
    struct element **taken;   /* owned, by step of the schedule: what is combined later */
    bool *has_come;           /* owned, by step */
    bool *is_asked;           /* owned, by peer: of take */
    /* In shared memory: */
    const struct ar_accesses *accesses;
    struct element *area; /* owned */
    bool *raised;         /* owned; by flag */
};

enum hurry { ANY, ON_UNTIL_BLOCKED, ONE_LAST, BACKWARDS, IN_TURN, HURRIES };
enum taste { NEWEST, OLDEST, WHICHEVER, TASTES };
enum reading { AT_SENDING, AT_RECEIVING, EITHER, READINGS };

struct machine {
    const struct disorder *d;
    pthread_mutex_t lock; /* of queues, unread, flags, sent and wrong */
    struct rank *ranks;
    struct queue *queues; /* from rank * nranks + to rank */
    uint64_t dice, sent;
    enum hurry hurry;
    enum taste taste;
    enum reading reading;
    bool takes_early; /* receives are posted before the round's messages are sent */
    char wrong[256];
};

static unsigned
draw(uint64_t *dice, unsigned bound)
{
    return (unsigned)(scramble(*dice += UINT64_C(0x9e3779b97f4a7c15)) % bound);
}

static void __attribute__((format(printf, 2, 3)))
complain(struct machine *m, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    pthread_mutex_lock(&m->lock);
    if (!m->wrong[0])
        vsnprintf(m->wrong, sizeof m->wrong, format, args);
    pthread_mutex_unlock(&m->lock);
    va_end(args);
}

/* NULL, with a complaint, if the region is not in its buffer. */
static struct element *
at(struct rank *r, struct ar_region region)
{
    struct element *const base[] = {r->in, r->out, r->tmp};
    const size_t length[] = {r->s->count, r->s->count, r->s->tmp_length};
    if (region.offset + region.length <= length[region.buffer])
        return base[region.buffer] + region.offset;
    complain(r->machine, "rank %d, round %zu: a region leaves its buffer", r->number, r->round);
    return NULL;
}

static void
spoil(struct element *at, size_t length)
{
    for (size_t i = 0; at && i < length; i++)
        at[i] = garbage(i + length);
}

static void
combine(struct element *dst, const struct element *left, const struct element *right, size_t length)
{
    for (size_t i = 0; dst && left && right && i < length; i++)
        dst[i] = element_combined(left[i], right[i]);
}

static struct element *
copy_of(const struct element *from, size_t length)
{
    struct element *const copy = malloc(length * sizeof *copy + 1);
    if (!copy)
        abort();
    memcpy(copy, from, length * sizeof *copy);
    return copy;
}

/* --- a rank's small steps; each returns false if it has to wait --- */

static bool
is_receive(const struct ar_step *step)
{
    return step->kind == AR_RECV || step->kind == AR_RECV_REDUCE;
}

/* From the moment of posting, memory to be received into holds garbage. */
static void
post_receives(struct rank *r)
{
    for (size_t i = r->begin; i < r->end; i++)
        if (r->s->steps[i].kind == AR_RECV)
            spoil(at(r, r->s->steps[i].dst), r->s->steps[i].dst.length);
}

static void
send(struct rank *r, const struct ar_step *step)
{
    struct machine *const m = r->machine;
    struct message *const message = calloc(1, sizeof *message);
    const bool is_copied =
        m->reading == AT_SENDING || (m->reading == EITHER && draw(&r->dice, 2) == 0);
    const struct element *const data = at(r, step->a);
    if (!message)
        abort();
    message->length = data ? step->a.length : 0;
    message->copy = is_copied && data ? copy_of(data, step->a.length) : NULL;
    message->data = message->copy ? message->copy : data;
    struct queue *const queue = &m->queues[r->number * m->d->nranks + step->peer];
    pthread_mutex_lock(&m->lock);
    message->number = ++m->sent;
    if (queue->last)
        queue->last->next = message;
    else
        queue->first = message;
    queue->last = message;
    r->unread++;
    pthread_mutex_unlock(&m->lock);
}

static bool
post(struct rank *r)
{
    struct machine *const m = r->machine;
    if (r->next == r->begin && m->takes_early)
        post_receives(r);
    while (r->next < r->end && r->s->steps[r->next].kind != AR_SEND)
        r->next++;
    if (r->next < r->end) {
        send(r, &r->s->steps[r->next++]);
    } else {
        if (!m->takes_early)
            post_receives(r);
        r->phase = EXCHANGE;
    }
    return true;
}

static bool
is_preferred(struct rank *r, const struct message *x, const struct message *to)
{
    const enum taste taste = r->machine->taste;
    return !to || (taste == NEWEST   ? x->number > to->number
                   : taste == OLDEST ? x->number < to->number
                                     : draw(&r->dice, 2) == 0);
}

/* Takes the preferred message among those that have arrived and whose turn it is; NULL if there is
 * none.  Messages between two ranks match in the order of the steps.  *is_left tells whether
 * receives are still waiting.  Under the lock. */
static struct message *
take(struct rank *r, size_t *step, bool *is_left)
{
    struct machine *const m = r->machine;
    struct message *best = NULL;
    memset(r->is_asked, 0, (size_t)m->d->nranks * sizeof *r->is_asked);
    for (size_t i = r->begin; i < r->end; i++) {
        const struct ar_step *const s = &r->s->steps[i];
        if (!is_receive(s) || r->has_come[i] || r->is_asked[s->peer])
            continue;
        r->is_asked[s->peer] = true;
        struct message *const first = m->queues[s->peer * m->d->nranks + r->number].first;
        *is_left = true;
        if (first && is_preferred(r, first, best)) {
            best = first;
            *step = i;
        }
    }
    if (best) {
        struct queue *const queue = &m->queues[r->s->steps[*step].peer * m->d->nranks + r->number];
        queue->first = best->next;
        queue->last = queue->first ? queue->last : NULL;
    }
    return best;
}

static void
combine_received(struct rank *r, const struct ar_step *step, const struct element *received)
{
    const struct element *const own = at(r, step->a);
    const bool is_first = step->order == AR_LOCAL_FIRST;
    combine(at(r, step->dst), is_first ? own : received, is_first ? received : own,
            step->dst.length);
}

static bool
folds(const struct rank *r, size_t step)
{
    const struct disorder *const d = r->machine->d;
    const int folding = d->folding ? d->folding[r->number][step] : AR_FOLD_LATE;
    return folding == AR_FOLD_AT_ONCE || (folding == AR_FOLD_UNLESS_IN_PLACE && !d->in_place);
}

static void
receive(struct rank *r, size_t i, const struct message *message)
{
    const struct ar_step *const step = &r->s->steps[i];
    struct element *const dst = at(r, step->dst);
    r->has_come[i] = true;
    if (message->length != step->dst.length)
        complain(r->machine, "rank %d, round %zu: %zu elements come where %zu are awaited",
                 r->number, r->round, message->length, step->dst.length);
    else if (step->kind == AR_RECV_REDUCE && folds(r, i))
        combine_received(r, step, message->data);
    else if (step->kind == AR_RECV_REDUCE)
        r->taken[i] = copy_of(message->data, message->length);
    else if (dst)
        memcpy(dst, message->data, message->length * sizeof *dst);
}

static bool
exchange(struct rank *r)
{
    struct machine *const m = r->machine;
    size_t step = 0;
    bool is_left = false;
    pthread_mutex_lock(&m->lock);
    struct message *const message = take(r, &step, &is_left);
    const bool is_over = !is_left && r->unread == 0;
    pthread_mutex_unlock(&m->lock);
    if (is_over) {
        r->phase = COMBINE;
        r->next = r->begin;
    }
    if (!message)
        return is_over;
    receive(r, step, message);
    pthread_mutex_lock(&m->lock);
    m->ranks[r->s->steps[step].peer].unread--;
    pthread_mutex_unlock(&m->lock);
    free(message->copy);
    free(message);
    return true;
}

/* If dst is a, b is undefined afterwards. */
static void
reduce(struct rank *r, const struct ar_step *step)
{
    struct element *const dst = at(r, step->dst), *const b = at(r, step->b);
    const struct element *const a = at(r, step->a);
    combine(dst, a, b, step->dst.length);
    if (dst == a && b != a)
        spoil(b, step->b.length);
}

static bool
combine_next(struct rank *r)
{
    if (r->next == r->end) {
        r->round++;
        r->begin = r->next = r->end;
        r->phase = r->round < r->s->nrounds ? POST : DONE;
        r->end = r->phase == POST ? r->s->round_end[r->round] : r->end;
        return true;
    }
    const struct ar_step *const step = &r->s->steps[r->next];
    if (step->kind == AR_COPY && at(r, step->dst) && at(r, step->a))
        memmove(at(r, step->dst), at(r, step->a), step->a.length * sizeof(struct element));
    else if (step->kind == AR_REDUCE)
        reduce(r, step);
    else if (r->taken[r->next])
        combine_received(r, step, r->taken[r->next]);
    free(r->taken[r->next]);
    r->taken[r->next++] = NULL;
    return true;
}

/* --- in shared memory --- */

static struct element *
at_place(struct rank *r, struct ar_access_place place, size_t length)
{
    struct rank *const owner = &r->machine->ranks[place.is_shared ? place.rank : r->number];
    const struct ar_accesses *const accesses = r->accesses;
    const size_t room[] = {r->s->count, r->s->count, accesses->tmp_end};
    struct element *const base[] = {r->in, r->out, r->tmp};
    if (place.is_shared && place.begin + place.offset + length <= accesses->area_length)
        return owner->area + place.begin + place.offset;
    if (!place.is_shared && place.offset + length <= room[place.buffer])
        return base[place.buffer] + place.offset;
    complain(r->machine, "rank %d: an access leaves its buffer", r->number);
    return NULL;
}

static bool
access_next(struct rank *r)
{
    struct rank *const ranks = r->machine->ranks;
    if (r->next == r->accesses->n) {
        r->phase = DONE;
        return true;
    }
    const struct ar_access *const x = &r->accesses->all[r->next];
    if (x->kind == AR_ACCESS_AWAIT && !ranks[x->a.rank].raised[x->a.flag])
        return false;
    r->next++;
    if (x->kind == AR_ACCESS_AWAIT)
        return true;
    if (x->kind == AR_ACCESS_RAISE) {
        r->raised[x->dst.flag] = true;
        return true;
    }
    struct element *const dst = at_place(r, x->dst, x->length);
    struct element *const a = at_place(r, x->a, x->length);
    if (x->kind == AR_ACCESS_COMBINE)
        combine(dst, a, at_place(r, x->b, x->length), x->length);
    else if (dst && a)
        memmove(dst, a, x->length * sizeof *dst);
    return true;
}

static bool
advance(struct rank *r)
{
    if (r->phase == DONE)
        return false;
    if (r->accesses)
        return access_next(r);
    return r->phase == POST ? post(r) : r->phase == EXCHANGE ? exchange(r) : combine_next(r);
}

/* --- whose turn it is --- */

/* Gives one turn to the first rank from `from` on that can go on, and to victim only if no other
 * rank can.  Returns that rank; -1 if none can go on. */
static int
turn(struct machine *m, int from, int step, int victim)
{
    const int p = m->d->nranks;
    for (int i = 0; i < p; i++) {
        const int rank = ((from + step * i) % p + p) % p;
        if (rank != victim && advance(&m->ranks[rank]))
            return rank;
    }
    return victim >= 0 && advance(&m->ranks[victim]) ? victim : -1;
}

static void
take_turns(struct machine *m)
{
    const int p = m->d->nranks;
    const int victim = m->hurry == ONE_LAST ? (int)draw(&m->dice, (unsigned)p) : -1;
    for (int rank = 0; rank >= 0 && !m->wrong[0];) {
        if (m->hurry == BACKWARDS)
            rank = turn(m, p - 1, -1, victim);
        else if (m->hurry == IN_TURN)
            rank = turn(m, rank + 1, 1, victim);
        else if (m->hurry == ON_UNTIL_BLOCKED)
            rank = turn(m, rank, draw(&m->dice, 2) ? 1 : -1, victim);
        else
            rank = turn(m, (int)draw(&m->dice, (unsigned)p), 1, victim);
    }
}

static void *
run_at_liberty(void *argument)
{
    struct rank *const r = argument;
    for (bool is_wrong = false; r->phase != DONE && !is_wrong;) {
        if (!advance(r) || draw(&r->dice, 4) == 0)
            sched_yield();
        pthread_mutex_lock(&r->machine->lock);
        is_wrong = r->machine->wrong[0] != '\0';
        pthread_mutex_unlock(&r->machine->lock);
    }
    return NULL;
}

static void
run_threads(struct machine *m)
{
    const int p = m->d->nranks;
    pthread_t *const threads = calloc((size_t)p, sizeof *threads);
    for (int i = 0; i < p; i++)
        if (!threads || pthread_create(&threads[i], NULL, run_at_liberty, &m->ranks[i]))
            abort();
    for (int i = 0; i < p; i++)
        pthread_join(threads[i], NULL);
    free(threads);
}

/* --- begin and end --- */

static void *
array(size_t n, size_t bytes)
{
    void *const made = calloc(n + 1, bytes);
    if (!made)
        abort();
    return made;
}

static struct element *
buffer(size_t length)
{
    struct element *const made = malloc(length * sizeof *made + 1);
    if (!made)
        abort();
    spoil(made, length);
    return made;
}

static void
begin_rank(struct machine *m, int number, const struct ar_accesses *accesses)
{
    struct rank *const r = &m->ranks[number];
    const struct ar_schedule *const s = &m->d->all[number];
    *r = (struct rank){.machine = m, .number = number, .s = s, .accesses = accesses};
    r->dice = m->d->seed * 41 + (uint64_t)number;
    r->phase = s->nrounds > 0 || accesses ? POST : DONE;
    r->end = s->nrounds > 0 ? s->round_end[0] : 0;
    r->in = buffer(s->count);
    for (size_t i = 0; i < s->count; i++)
        r->in[i] = element_of(number, i);
    r->out = m->d->in_place ? r->in : buffer(s->count);
    r->tmp = buffer(accesses ? accesses->tmp_end : s->tmp_length);
    r->taken = array(s->nsteps, sizeof(void *));
    r->has_come = array(s->nsteps, sizeof *r->has_come);
    r->is_asked = array((size_t)m->d->nranks, sizeof *r->is_asked);
    r->area = buffer(accesses ? accesses->area_length : 0);
    r->raised = array(accesses ? (size_t)accesses->nflags : 0, sizeof *r->raised);
}

static void
begin(struct machine *m, const struct disorder *d, const struct ar_accesses *accesses)
{
    *m = (struct machine){.d = d, .lock = PTHREAD_MUTEX_INITIALIZER, .dice = scramble(d->seed)};
    m->ranks = array((size_t)d->nranks, sizeof *m->ranks);
    m->queues = array((size_t)d->nranks * (size_t)d->nranks, sizeof *m->queues);
    m->hurry = (enum hurry)draw(&m->dice, HURRIES);
    m->taste = (enum taste)draw(&m->dice, TASTES);
    m->reading = (enum reading)draw(&m->dice, READINGS);
    m->takes_early = draw(&m->dice, 2) == 0;
    for (int rank = 0; rank < d->nranks; rank++)
        begin_rank(m, rank, accesses ? &accesses[rank] : NULL);
}

static void
check_first(struct machine *m)
{
    const struct disorder *const d = m->d;
    for (size_t i = 0; i < d->all[0].count; i++) {
        struct element all = element_of(0, i);
        for (int k = 1; k < d->nranks; k++)
            all = element_combined(all, element_of(k, i));
        if (!element_is_same(&m->ranks[0].out[i], &all, d->in_order))
            complain(m, "rank 0: element %zu is wrong", i);
    }
}

static void
check_rank(struct machine *m, struct rank *r)
{
    if (r->phase != DONE)
        complain(m, "rank %d waits for ever in round %zu", r->number, r->round);
    for (size_t i = 0; i < r->s->count && !m->wrong[0]; i++) {
        const struct element own = element_of(r->number, i);
        const struct element *const first = &m->ranks[0].out[i];
        if (!element_is_same(&r->out[i], first, true) || r->out[i].rounded != first->rounded)
            complain(m, "rank %d: element %zu is other than on rank 0", r->number, i);
        if (!m->d->in_place && !element_is_same(&r->in[i], &own, true))
            complain(m, "rank %d: input %zu was overwritten", r->number, i);
    }
}

static void
end_rank(struct rank *r)
{
    for (size_t i = 0; i < r->s->nsteps; i++)
        free(r->taken[i]);
    free(r->taken);
    free(r->has_come);
    free(r->is_asked);
    if (r->out != r->in)
        free(r->out);
    free(r->in);
    free(r->tmp);
    free(r->area);
    free(r->raised);
}

static const char *
end(struct machine *m)
{
    static char text[sizeof m->wrong];
    const int p = m->d->nranks;
    for (int rank = 0; rank < p; rank++)
        check_rank(m, &m->ranks[rank]);
    check_first(m);
    for (int i = 0; i < p * p; i++)
        while (m->queues[i].first) {
            struct message *const message = m->queues[i].first;
            complain(m, "a message from rank %d to rank %d is left over", i / p, i % p);
            m->queues[i].first = message->next;
            free(message->copy);
            free(message);
        }
    for (int rank = 0; rank < p; rank++)
        end_rank(&m->ranks[rank]);
    free(m->ranks);
    free(m->queues);
    memcpy(text, m->wrong, sizeof text);
    return text[0] ? text : NULL;
}

const char *
disorder_run(const struct disorder *d)
{
    struct machine m;
    begin(&m, d, NULL);
    take_turns(&m);
    return end(&m);
}

const char *
disorder_run_threads(const struct disorder *d)
{
    struct machine m;
    begin(&m, d, NULL);
    run_threads(&m);
    return end(&m);
}

const char *
disorder_run_accesses(const struct disorder *d, const struct ar_accesses *accesses)
{
    struct machine m;
    begin(&m, d, accesses);
    take_turns(&m);
    return end(&m);
}
