#include "model/node_time.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const ar_node_part_names[] = {"latency",  "taking back", "serving", "stream",
                                          "own work", "memory",      NULL};

/* --- moments --- */

static struct ar_node_time
later(struct ar_node_time a, struct ar_node_time b)
{
    return b.at > a.at ? b : a;
}

static struct ar_node_time
after(struct ar_node_time t, enum ar_node_part part, double ns)
{
    t.at += ns;
    t.parts[part] += ns;
    return t;
}

/* t or, if something is free only later, that moment, with the wait counted in that part. */
static struct ar_node_time
not_before(struct ar_node_time t, enum ar_node_part part, double free)
{
    return free > t.at ? after(t, part, free - t.at) : t;
}

/* --- the state --- */

/* A line, or the first of several that were asked for together. */
struct line {
    size_t chunk; /* plus one; 0: none */
    int owner, flag, group;
    size_t first;
    double free;    /* when the next reader is served */
    double arrived; /* of a group: when the last of the lines came; -1: nobody asked yet */
};

#define AHEAD_MOST 16

/* Of a flag that a rank has awaited: when it began to wait for it, asked for its line, had it, and
 * was done with it. */
struct awaited {
    size_t chunk;
    int owner, flag;
    struct ar_lines along; /* of what it announces: asked for along with it */
    struct ar_node_time began, asked, came, done;
};

struct rank {
    struct ar_node_time now;
    struct ar_node_time floor; /* it asks for nothing before */
    double port;               /* when it can take further lines */
    struct awaited last[AHEAD_MOST];
    size_t nawaited, nstage;         /* in all; in this stage */
    size_t tick, chunk, stage, next; /* the access to come: next of all */
    bool is_done;
};

struct simulation {
    const struct ar_node_simulation *run;
    int nflags;
    size_t nstages;
    size_t ahead;
    struct rank *ranks;
    struct ar_node_time *seen; /* of chunk, owner, flag: when it is to be seen; -1: not raised */
    double *back;              /* of owner, flag: to take its line back from all readers */
    struct line *lines;        /* hashed */
    size_t nlines;             /* a power of two */
    struct ar_busy *links;     /* of level and domain */
};

static size_t
flag_index(const struct simulation *s, size_t chunk, int owner, int flag)
{
    return (chunk * (size_t)s->run->nranks + (size_t)owner) * (size_t)s->nflags + (size_t)flag;
}

/* group -1: as its owner has it. */
static struct line *
find_line(struct simulation *s, size_t chunk, int owner, int flag, size_t first, int group)
{
    size_t at = ((chunk * 31 + (size_t)owner) * 1000003 + (size_t)flag) * 8191 + first;
    at = at * 2654435761u + (size_t)(group + 1) * 40503;
    for (at ^= at >> 17;; at++) {
        struct line *const l = &s->lines[at & (s->nlines - 1)];
        if (l->chunk == 0)
            *l = (struct line){.chunk = chunk + 1,
                               .owner = owner,
                               .flag = flag,
                               .first = first,
                               .group = group,
                               .arrived = -1};
        if (l->chunk == chunk + 1 && l->owner == owner && l->flag == flag && l->first == first &&
            l->group == group)
            return l;
    }
}

/* --- lines --- */

/* Lines of a flag that a rank asks for. */
struct request {
    int rank, owner, flag;
    size_t chunk;
    struct ar_lines lines;
};

/* Waits for the links on the way into the domains of the rank that the owner is not in. */
static struct ar_node_time
pass_links(struct simulation *s, const struct request *q, int level, struct ar_node_time t)
{
    const struct ar_machine *const m = s->run->machine;
    for (int l = 0; l < level; l++) {
        struct ar_busy *const link =
            &s->links[(size_t)l * (size_t)s->run->nranks + (size_t)(q->rank / m->domains[l].ranks)];
        const double length = (double)(q->lines.n * AR_LINE_BYTES) * m->domains[l].link_per_byte;
        if (length > 0)
            t = not_before(t, AR_NODE_STREAM, ar_busy_take(link, t.at, length) - length);
    }
    return t;
}

/* When the last of the lines comes that a rank asks for at t. */
static struct ar_node_time
fetch(struct simulation *s, const struct request *q, struct ar_node_time t)
{
    const struct ar_machine *const m = s->run->machine;
    const int level = ar_lines_level(m, q->rank, q->owner);
    const int group = q->rank / m->domains[0].ranks;
    struct line *near = NULL;
    if (level > 0 && ar_lines_are_shared(m))
        near = find_line(s, q->chunk, q->owner, q->flag, q->lines.first, group);
    const bool is_near = near && near->arrived >= 0;
    const struct ar_machine_domain *const d = &m->domains[is_near ? 0 : level];
    struct line *const line =
        is_near ? near : find_line(s, q->chunk, q->owner, q->flag, q->lines.first, -1);
    const double further = (double)((q->lines.n - 1) * AR_LINE_BYTES) * d->per_byte;
    t = not_before(t, AR_NODE_SERVING, line->free);
    line->free = t.at + d->serve;
    if (q->lines.n > 1) {
        struct rank *const r = &s->ranks[q->rank];
        t = not_before(t, AR_NODE_STREAM, r->port);
        r->port = t.at + further;
    }
    if (!is_near)
        t = pass_links(s, q, level, t);
    t = after(after(t, AR_NODE_LATENCY, d->latency), AR_NODE_STREAM, further);
    if (is_near)
        return not_before(t, AR_NODE_STREAM, near->arrived);
    if (near)
        near->arrived = t.at;
    return t;
}

/* --- accesses --- */

static const struct ar_access *
access_of(const struct simulation *s, int rank)
{
    return &s->run->ranks[rank].all[s->ranks[rank].next];
}

/* The flag that the rank has awaited so many before the next one. */
static const struct awaited *
awaited_before(const struct rank *r, size_t n)
{
    return &r->last[(r->nawaited - n) % AHEAD_MOST];
}

/* When the rank asks for a flag that can be seen at seen, and at which its core, looking ahead,
 * first looks at ahead.  While the rank waits for a flag before it in the stage, it asks for this
 * one, too. */
static struct ar_node_time
asked_for(const struct rank *r, struct ar_node_time seen, struct ar_node_time ahead)
{
    struct ar_node_time asked = later(ahead, seen);
    for (size_t n = 1; n <= r->nstage && n < AR_AHEAD_FLAGS; n++) {
        const struct awaited *const before = awaited_before(r, n);
        const struct ar_node_time meanwhile = later(before->began, seen);
        if (seen.at <= later(before->began, before->asked).at && meanwhile.at < asked.at)
            asked = meanwhile;
    }
    return asked;
}

static struct ar_lines
lines_along(const struct simulation *s, const struct ar_access *x)
{
    const bool is_short = x->length * s->run->element_bytes <= ar_ahead_bytes(s->run->nranks);
    return is_short && x->a.is_shared ? ar_lines_of(&x->a, x->length, s->run->element_bytes)
                                      : (struct ar_lines){0, 0};
}

static void
await(struct simulation *s, int rank, const struct ar_access *x)
{
    struct rank *const r = &s->ranks[rank];
    const struct request q = {rank, x->a.rank, x->a.flag, r->chunk, {0, 1}};
    const struct ar_node_time seen = s->seen[flag_index(s, r->chunk, x->a.rank, x->a.flag)];
    const struct ar_node_time ahead =
        r->nawaited >= s->ahead ? later(r->floor, awaited_before(r, s->ahead)->done) : r->floor;
    struct awaited a = {.chunk = r->chunk,
                        .owner = x->a.rank,
                        .flag = x->a.flag,
                        .along = lines_along(s, x),
                        .began = r->now,
                        .asked = asked_for(r, seen, ahead)};
    a.came = fetch(s, &q, a.asked);
    a.done = r->now = after(later(r->now, a.came), AR_NODE_OWN, s->run->machine->access);
    if (seen.at > ahead.at)
        r->floor = r->now;
    r->last[r->nawaited++ % AHEAD_MOST] = a;
    r->nstage++;
}

/* When a rank asked for lines in another's memory: along with their flag, or when that came.  If
 * the rank has awaited s->ahead or more flags since, it asked when the first of the last s->ahead
 * was done.  What needs no flag it asks for in its turn. */
static struct ar_node_time
known(const struct simulation *s, const struct rank *r, const struct ar_access_place *place,
      const struct ar_lines *lines)
{
    const size_t n = r->nawaited < AHEAD_MOST ? r->nawaited : AHEAD_MOST;
    struct ar_node_time oldest = r->now;
    for (size_t i = 1; i <= n && place->flag != AR_NO_FLAG; i++) {
        const struct awaited *const a = awaited_before(r, i);
        const bool is_along = place->is_shared && lines->first >= a->along.first &&
                              lines->first + lines->n <= a->along.first + a->along.n;
        if (a->chunk == r->chunk && a->owner == place->rank && a->flag == place->flag)
            return is_along ? a->asked : i <= s->ahead ? a->came : oldest;
        if (i <= s->ahead)
            oldest = a->done;
    }
    return oldest;
}

/* Elements that are in another rank's area or buffer, to be read or to be overwritten: when the
 * last of their lines is there. */
static struct ar_node_time
take(struct simulation *s, int rank, const struct ar_access_place *place, size_t length)
{
    const struct rank *const r = &s->ranks[rank];
    const struct request q = {rank, place->rank, ar_lines_flag(place), r->chunk,
                              ar_lines_of(place, length, s->run->element_bytes)};
    const bool is_others = (place->is_shared && place->rank != rank) || place->is_peers;
    if (!is_others || q.lines.n == 0 || q.lines.first == 0)
        return r->now;
    return fetch(s, &q, known(s, r, place, &q.lines));
}

static void
work(struct simulation *s, int rank, const struct ar_access *x)
{
    const struct ar_machine *const m = s->run->machine;
    struct rank *const r = &s->ranks[rank];
    const bool combines = x->kind == AR_ACCESS_COMBINE;
    const double bytes = (double)(x->length * s->run->element_bytes);
    const double own = bytes * (combines ? m->reduce_per_byte : m->copy_per_byte);
    struct ar_node_time there = take(s, rank, &x->a, x->length);
    if (combines)
        there = later(there, take(s, rank, &x->b, x->length));
    if (x->kind == AR_ACCESS_GIVE)
        there = later(there, take(s, rank, &x->dst, x->length));
    r->now = later(after(r->now, AR_NODE_OWN, own), there);
    r->now = after(r->now, AR_NODE_OWN, m->access);
}

/* Since when a rank asks for a flag of another: since it began to wait for it, or for the first of
 * the seven before it in the stage.  HUGE_VAL: it does not so far. */
static double
asked_since(const struct simulation *s, int rank, size_t chunk, const struct ar_access_place *flag)
{
    const struct rank *const r = &s->ranks[rank];
    const struct ar_accesses *const all = &s->run->ranks[rank];
    const bool is_there = !r->is_done && r->chunk == chunk;
    size_t between = 0; /* flags of the stage that it has not awaited, before this one */
    for (size_t i = r->next; is_there && i < all->stage_end[r->stage]; i++) {
        const struct ar_access *const x = &all->all[i];
        if (x->kind != AR_ACCESS_AWAIT)
            continue;
        if (x->a.rank != flag->rank || x->a.flag != flag->flag) {
            between++;
            continue;
        }
        const size_t most = AR_AHEAD_FLAGS - 1;
        if (between >= most)
            return between == most ? r->now.at : HUGE_VAL;
        const size_t n = most - between < r->nstage ? most - between : r->nstage;
        return n > 0 ? awaited_before(r, n)->began.at : r->now.at;
    }
    return HUGE_VAL;
}

/* How long it takes to take a flag's line back from the farthest of those that have asked for it
 * before it is raised. */
static double
back_from_waiting(const struct simulation *s, int rank, const struct ar_access_place *flag)
{
    const struct ar_machine *const m = s->run->machine;
    const struct rank *const r = &s->ranks[rank];
    double most = 0;
    for (int i = 0; i < s->run->nranks; i++) {
        const double latency = i == rank ? 0 : m->domains[ar_lines_level(m, i, rank)].latency;
        if (latency > most && asked_since(s, i, r->chunk, flag) + latency / 2 < r->now.at)
            most = latency;
    }
    return most;
}

static void
raise_flag(struct simulation *s, int rank, const struct ar_access *x)
{
    struct rank *const r = &s->ranks[rank];
    const bool is_back =
        s->run->takes_back && x->dst.length * s->run->element_bytes <= AR_SHORT_BYTES;
    r->now = after(r->now, AR_NODE_OWN, s->run->machine->access);
    s->seen[flag_index(s, r->chunk, rank, x->dst.flag)] =
        after(r->now, AR_NODE_BACK,
              is_back ? back_from_waiting(s, rank, &x->dst)
                      : s->back[flag_index(s, 0, rank, x->dst.flag)]);
}

/* --- the order of a rank's accesses --- */

static size_t
stage_begin(const struct simulation *s, int rank, size_t stage)
{
    return stage > 0 ? s->run->ranks[rank].stage_end[stage - 1] : 0;
}

/* Goes on to the next stage: of the chunk, or where chunks overlap of the tick. */
static void
go_on(const struct simulation *s, struct rank *r, const struct ar_accesses *all)
{
    const size_t nchunks = s->run->nchunks;
    r->stage++;
    r->nstage = 0;
    if (!all->meets_readers) {
        if (r->stage >= s->nstages) {
            r->chunk++;
            r->stage = 0;
        }
        r->is_done = r->chunk >= nchunks;
        return;
    }
    if (r->stage >= s->nstages || r->stage > r->tick) {
        r->tick++;
        r->stage = 0;
    }
    r->chunk = ar_accesses_chunk_at(r->tick - r->stage, all->nmet);
    r->is_done = r->tick >= nchunks + all->nmet + s->nstages;
}

/* Goes on to the next stage that has accesses. */
static void
settle(struct simulation *s, int rank)
{
    const struct ar_accesses *const all = &s->run->ranks[rank];
    struct rank *const r = &s->ranks[rank];
    while (!r->is_done && (r->stage >= all->nstages || r->chunk >= s->run->nchunks ||
                           r->next >= all->stage_end[r->stage])) {
        go_on(s, r, all);
        if (!r->is_done && r->stage < all->nstages)
            r->next = stage_begin(s, rank, r->stage);
    }
}

static bool
can_go_on(const struct simulation *s, int rank)
{
    const struct rank *const r = &s->ranks[rank];
    if (r->is_done)
        return false;
    const struct ar_access *const x = access_of(s, rank);
    return x->kind != AR_ACCESS_AWAIT ||
           s->seen[flag_index(s, r->chunk, x->a.rank, x->a.flag)].at >= 0;
}

/* The rank that is furthest behind of those that can go on; -1: none can. */
static int
next_rank(const struct simulation *s)
{
    int next = -1;
    for (int r = 0; r < s->run->nranks; r++)
        if ((next < 0 || s->ranks[r].now.at < s->ranks[next].now.at) && can_go_on(s, r))
            next = r;
    return next;
}

static int
simulate(struct simulation *s, struct ar_node_time *end)
{
    int rank;
    for (int r = 0; r < s->run->nranks; r++)
        settle(s, r);
    while ((rank = next_rank(s)) >= 0) {
        const struct ar_access *const x = access_of(s, rank);
        if (x->kind == AR_ACCESS_AWAIT)
            await(s, rank, x);
        else if (x->kind == AR_ACCESS_RAISE)
            raise_flag(s, rank, x);
        else
            work(s, rank, x);
        s->ranks[rank].next++;
        settle(s, rank);
    }
    *end = s->ranks[0].now;
    for (int r = 0; r < s->run->nranks; r++) {
        if (!s->ranks[r].is_done)
            return AR_ERR_PROOF;
        *end = later(*end, s->ranks[r].now);
    }
    return AR_OK;
}

/* --- set-up --- */

/* To take a flag's line back: a latency of the farthest rank that awaits it.  Counts what is taken
 * of others. */
static size_t
find_readers(struct simulation *s)
{
    const struct ar_node_simulation *const run = s->run;
    size_t reads = 0;
    for (int r = 0; r < run->nranks; r++)
        for (size_t i = 0; i < run->ranks[r].n; i++) {
            const struct ar_access *const x = &run->ranks[r].all[i];
            reads += (size_t)(x->a.is_shared || x->a.is_peers) +
                     (size_t)(x->b.is_shared || x->b.is_peers) +
                     (size_t)(x->kind == AR_ACCESS_GIVE);
            if (x->kind != AR_ACCESS_AWAIT)
                continue;
            double *const back = &s->back[flag_index(s, 0, x->a.rank, x->a.flag)];
            const double latency =
                run->machine->domains[ar_lines_level(run->machine, r, x->a.rank)].latency;
            *back = latency > *back ? latency : *back;
        }
    return reads;
}

static int
init(struct simulation *s)
{
    const struct ar_node_simulation *const run = s->run;
    const size_t p = (size_t)run->nranks;
    for (int r = 0; r < run->nranks; r++) {
        s->nstages = run->ranks[r].nstages > s->nstages ? run->ranks[r].nstages : s->nstages;
        s->nflags = run->ranks[r].nflags > s->nflags ? run->ranks[r].nflags : s->nflags;
    }
    const size_t nflags = p * (size_t)s->nflags;
    s->ahead = (size_t)(run->machine->ahead > AHEAD_MOST ? AHEAD_MOST
                        : run->machine->ahead > 0        ? run->machine->ahead
                                                         : 1);
    s->ranks = calloc(p, sizeof *s->ranks);
    s->seen = malloc((run->nchunks * nflags + 1) * sizeof *s->seen);
    s->back = calloc(nflags + 1, sizeof *s->back);
    s->links = calloc(p * AR_MACHINE_DOMAINS, sizeof *s->links);
    if (!s->ranks || !s->seen || !s->back || !s->links)
        return AR_ERR_MEMORY;
    for (size_t i = 0; i < run->nchunks * nflags; i++)
        s->seen[i].at = -1;
    /* An owner's and a group's of each, and as many free. */
    const size_t room = 4 * run->nchunks * find_readers(s) + 2;
    for (s->nlines = 1; s->nlines < room;)
        s->nlines *= 2;
    s->lines = calloc(s->nlines, sizeof *s->lines);
    return s->lines ? AR_OK : AR_ERR_MEMORY;
}

int
ar_node_simulate(struct ar_node_time *end, const struct ar_node_simulation *run)
{
    struct simulation s = {.run = run};
    int error = init(&s);
    if (!error)
        error = simulate(&s, end);
    free(s.ranks);
    free(s.seen);
    free(s.back);
    free(s.links);
    free(s.lines);
    return error;
}

/* --- what serves one request at a time --- */

static void
forget(struct ar_busy *busy, size_t i)
{
    busy->n--;
    memmove(&busy->idle[i], &busy->idle[i + 1], (busy->n - i) * sizeof busy->idle[0]);
}

/* Cuts an idle time in two at a moment inside it; returns the number of the second part. */
static size_t
cut(struct ar_busy *busy, size_t i, double at)
{
    if (busy->n == AR_BUSY_IDLE && i == 0) {
        busy->idle[i].from = at;
        return i;
    }
    if (busy->n == AR_BUSY_IDLE) {
        forget(busy, 0);
        i--;
    }
    memmove(&busy->idle[i + 1], &busy->idle[i], (busy->n - i) * sizeof busy->idle[0]);
    busy->n++;
    busy->idle[i].to = at;
    busy->idle[i + 1].from = at;
    return i + 1;
}

double
ar_busy_take(struct ar_busy *busy, double at, double length)
{
    size_t i = 0;
    if (busy->n == 0)
        busy->idle[busy->n++].to = HUGE_VAL;
    while (busy->idle[i].to <= at)
        i++;
    if (busy->idle[i].from < at)
        i = cut(busy, i, at);
    while (busy->idle[i].to - busy->idle[i].from < length) {
        length -= busy->idle[i].to - busy->idle[i].from;
        forget(busy, i);
    }
    busy->idle[i].from += length;
    return busy->idle[i].from;
}
