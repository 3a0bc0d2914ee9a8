#include "schedule/accesses.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "schedule/grow.h"
#include "schedule/storing.h"
#include "schedule/walk.h"

/* --- what others store --- */

/* Where another rank wants a message of this one. */
struct taker {
    enum ar_step_kind kind;
    struct ar_region dst;
};

/* What is known of the other ranks' schedules. */
struct others {
    struct ar_stored_message
        *messages;        /* owned; to this rank, by sender, and in the order of its sends */
    struct taker *takers; /* owned; of this rank's messages: by receiver, in their order */
    size_t n, room, ntakers, takers_room;
    /* Of each rank; owned as one block: */
    size_t *next, *end;             /* its messages that are not received yet */
    size_t *next_taker, *taker_end; /* its receives that have not been matched yet */
    bool *hears; /* owned; of a round, a rank and another: does the rank receive from it? */
    size_t nrounds, hears_room;
};

/* --- who receives from whom --- */

static bool *
hears_of(const struct others *o, int nranks, size_t round, int rank)
{
    return o->hears + (round * (size_t)nranks + (size_t)rank) * (size_t)nranks;
}

static int
keep_hearing(struct others *o, const struct ar_schedule *s)
{
    const size_t n = (size_t)s->nranks * (size_t)s->nranks, known = o->nrounds * n;
    if (s->nrounds > o->nrounds) {
        bool *const all = ar_grow(o->hears, s->nrounds * n, &o->hears_room, sizeof *all);
        if (!all)
            return AR_ERR_MEMORY;
        o->hears = all;
        memset(all + known, 0, s->nrounds * n - known);
        o->nrounds = s->nrounds;
    }
    for (size_t round = 0; round < s->nrounds; round++)
        for (size_t i = ar_round_begin(s, round); i < s->round_end[round]; i++)
            if (ar_step_receives(&s->steps[i]))
                hears_of(o, s->nranks, round, s->rank)[s->steps[i].peer] = true;
    return AR_OK;
}

/* In each round, does each rank receive from those that receive from it? */
static bool
hear_each_other(const struct others *o, int nranks)
{
    for (size_t round = 0; round < o->nrounds; round++)
        for (int r = 0; r < nranks; r++)
            for (int other = 0; other < r; other++)
                if (hears_of(o, nranks, round, r)[other] != hears_of(o, nranks, round, other)[r])
                    return false;
    return true;
}

/* Adds, to what rank knows, what the ranks from which it receives in this round knew before the
 * round.  Returns of how many ranks it then knows. */
static int
hear(const struct others *o, bool *knows, const bool *before, int nranks, size_t round, int rank)
{
    const size_t n = (size_t)nranks;
    int known = 0;
    for (int other = 0; other < nranks; other++)
        if (other == rank || hears_of(o, nranks, round, rank)[other])
            for (size_t i = 0; i < n; i++)
                knows[i] |= before[(size_t)other * n + i];
    for (size_t i = 0; i < n; i++)
        known += knows[i];
    return known;
}

/* Sets *nmet to the rounds after which each rank knows of each other one that it has begun; to 0 if
 * it never does. */
static int
find_met(size_t *nmet, const struct others *o, int nranks)
{
    const size_t n = (size_t)nranks;
    bool *const knows = calloc(2 * n * n, sizeof *knows);
    *nmet = 0;
    if (!knows)
        return AR_ERR_MEMORY;
    bool *const before = knows + n * n;
    for (size_t r = 0; r < n; r++)
        knows[r * n + r] = true;
    for (size_t round = 0; round < o->nrounds && *nmet == 0; round++) {
        int least = nranks;
        memcpy(before, knows, n * n * sizeof *knows);
        for (int r = 0; r < nranks; r++) {
            const int known = hear(o, knows + (size_t)r * n, before, nranks, round, r);
            least = known < least ? known : least;
        }
        *nmet = least == nranks ? round + 1 : 0;
    }
    free(knows);
    return AR_OK;
}

/* --- messages --- */

static int
keep_messages(struct others *o, const struct ar_storing *st, int from, int to)
{
    o->next[from] = o->n;
    struct ar_stored_message *const all =
        ar_grow(o->messages, o->n + st->nmessages, &o->room, sizeof *all);
    if (!all && st->nmessages > 0)
        return AR_ERR_MEMORY;
    o->messages = all;
    for (size_t i = 0; i < st->nmessages; i++)
        if (st->messages[i].to == to)
            all[o->n++] = st->messages[i];
    o->end[from] = o->n;
    return AR_OK;
}

/* Keeps where a rank wants what this one sends. */
static int
keep_takers(struct others *o, const struct ar_schedule *s, int from)
{
    struct taker *const all =
        ar_grow(o->takers, o->ntakers + s->nsteps, &o->takers_room, sizeof *all);
    if (!all && s->nsteps > 0)
        return AR_ERR_MEMORY;
    o->takers = all;
    o->next_taker[s->rank] = o->ntakers;
    for (size_t i = 0; i < s->nsteps; i++)
        if (ar_step_receives(&s->steps[i]) && s->steps[i].peer == from)
            all[o->ntakers++] = (struct taker){s->steps[i].kind, s->steps[i].dst};
    o->taker_end[s->rank] = o->ntakers;
    return AR_OK;
}

/* In place, a message from OUT to OUT is given: its sender stores it where its receiver wants it.
 * Both ranks find out alike. */
static bool
is_given(enum ar_buffer from, enum ar_step_kind kind, enum ar_buffer to)
{
    return from == AR_OUT && kind == AR_RECV && to == AR_OUT;
}

/* Finds where this rank's messages go. */
static int
match_takers(struct others *o, struct ar_storing *own)
{
    for (size_t i = 0; i < own->nmessages; i++) {
        struct ar_stored_message *const m = &own->messages[i];
        size_t *const next = &o->next_taker[m->to];
        if (*next == o->taker_end[m->to] || o->takers[*next].dst.length != m->region.length)
            return AR_ERR_PROOF;
        const struct taker *const taker = &o->takers[(*next)++];
        m->is_given = is_given(m->region.buffer, taker->kind, taker->dst.buffer);
        m->given = (struct ar_access_place){.is_peers = true,
                                            .buffer = AR_OUT,
                                            .rank = m->to,
                                            .flag = AR_NO_FLAG,
                                            .offset = taker->dst.offset,
                                            .first = taker->dst.offset};
    }
    return AR_OK;
}

/* --- the translation --- */

/* A region of TMP that stands for what another rank has stored. */
struct alias {
    struct ar_region region;
    struct ar_access_place place;
    size_t round;
};

struct translation {
    struct ar_accesses *to;
    struct others *others;
    bool loads_all;        /* no region stands for another's area */
    bool is_late;          /* what a round received was read by a later one */
    bool is_last;          /* the round is the schedule's last */
    struct alias *aliases; /* owned */
    size_t naliases, aliases_room;
    int *seen; /* owned; of each rank the flags that were awaited */
    size_t round;
    size_t room;
    int error;
};

/* Which elements are those of the access?  Those of each of its places that are known. */
static size_t
first_of(const struct ar_access *access)
{
    const struct ar_access_place *const places[] = {&access->dst, &access->a, &access->b};
    const int nplaces = access->kind == AR_ACCESS_COMBINE ? 3 : 2;
    size_t first = AR_NO_ELEMENT;
    for (int i = 0; i < nplaces; i++) {
        if (first != AR_NO_ELEMENT && places[i]->first != AR_NO_ELEMENT &&
            places[i]->first != first)
            return AR_NO_ELEMENT;
        first = places[i]->first != AR_NO_ELEMENT ? places[i]->first : first;
    }
    return first;
}

static void
add(struct translation *t, struct ar_access access)
{
    struct ar_access *const all = ar_grow(t->to->all, t->to->n + 1, &t->room, sizeof *all);
    if (!all) {
        t->error = AR_ERR_MEMORY;
        return;
    }
    if (access.kind != AR_ACCESS_RAISE && access.kind != AR_ACCESS_AWAIT) {
        access.first = first_of(&access);
        t->to->can_end_early &= access.first != AR_NO_ELEMENT;
    }
    t->to->all = all;
    all[t->to->n++] = access;
}

static bool
is_others(const struct translation *t, const struct ar_access_place *place)
{
    return place->is_peers || (place->is_shared && place->rank != t->to->rank);
}

/* A rank raises its flags in order, so that an awaited flag vouches for all earlier ones. */
static void
await(struct translation *t, struct ar_access_place place, size_t length)
{
    if (!is_others(t, &place) || place.flag < t->seen[place.rank])
        return;
    t->seen[place.rank] = place.flag + 1;
    add(t, (struct ar_access){.kind = AR_ACCESS_AWAIT, .length = length, .a = place});
}

static struct ar_access_place
own_place(struct translation *t, struct ar_region region)
{
    struct ar_accesses *const to = t->to;
    const size_t end = region.offset + region.length;
    if (region.buffer == AR_TMP) {
        to->tmp_begin = region.offset < to->tmp_begin ? region.offset : to->tmp_begin;
        to->tmp_end = end > to->tmp_end ? end : to->tmp_end;
    }
    return (struct ar_access_place){
        .buffer = region.buffer, .offset = region.offset, .first = ar_region_first(region)};
}

static void
load(struct translation *t, struct ar_region dst, struct ar_access_place place)
{
    await(t, place, dst.length);
    add(t, (struct ar_access){
               .kind = AR_ACCESS_LOAD, .length = dst.length, .dst = own_place(t, dst), .a = place});
}

static bool
overlap(struct ar_region a, struct ar_region b)
{
    return a.buffer == b.buffer && a.offset < b.offset + b.length && b.offset < a.offset + a.length;
}

static bool
contains(struct ar_region a, struct ar_region b)
{
    return a.buffer == b.buffer && a.offset <= b.offset &&
           b.offset + b.length <= a.offset + a.length;
}

/* Ends the aliases that overlap the region, because it is written or must be read in one piece.
 * Those that will not be wholly overwritten are loaded. */
static void
end_aliases(struct translation *t, struct ar_region region, bool is_written)
{
    for (size_t i = 0; i < t->naliases;) {
        const struct alias alias = t->aliases[i];
        if (!overlap(alias.region, region)) {
            i++;
            continue;
        }
        if (!is_written || !contains(region, alias.region)) {
            t->is_late |= alias.round < t->round;
            load(t, alias.region, alias.place);
        }
        t->aliases[i] = t->aliases[--t->naliases];
    }
}

/* Where an operand is.  It is awaited if it is another rank's. */
static struct ar_access_place
operand(struct translation *t, struct ar_region region)
{
    for (size_t i = 0; i < t->naliases; i++) {
        const struct alias *const alias = &t->aliases[i];
        if (!contains(alias->region, region))
            continue;
        struct ar_access_place place = alias->place;
        place.offset += region.offset - alias->region.offset;
        if (place.first != AR_NO_ELEMENT)
            place.first += region.offset - alias->region.offset;
        t->is_late |= alias->round < t->round;
        await(t, place, region.length);
        return place;
    }
    end_aliases(t, region, false);
    return own_place(t, region);
}

/* The place of the next message from the peer, of so many elements. */
static struct ar_access_place
next_message(struct translation *t, int peer, size_t length)
{
    struct others *const o = t->others;
    if (o->next[peer] == o->end[peer] || o->messages[o->next[peer]].region.length != length) {
        t->error = AR_ERR_PROOF;
        return (struct ar_access_place){0};
    }
    return o->messages[o->next[peer]++].place;
}

static void
receive(struct translation *t, const struct ar_step *step, struct ar_access_place place)
{
    end_aliases(t, step->dst, true);
    if (step->dst.buffer != AR_TMP || t->loads_all) {
        load(t, step->dst, place);
        return;
    }
    struct alias *const all = ar_grow(t->aliases, t->naliases + 1, &t->aliases_room, sizeof *all);
    if (!all) {
        t->error = AR_ERR_MEMORY;
        return;
    }
    t->aliases = all;
    all[t->naliases++] = (struct alias){step->dst, place, t->round};
}

/* What is given needs no load.  After the last round nothing here reads it, and the ranks meet. */
static void
receive_given(struct translation *t, const struct ar_step *step, struct ar_access_place place)
{
    end_aliases(t, step->dst, true);
    if (!t->is_last)
        await(t, place, step->dst.length);
}

/* received: of a recv_reduce. */
static void
compute(struct translation *t, const struct ar_step *step, struct ar_access_place received)
{
    struct ar_access made = {.kind = step->kind == AR_COPY ? AR_ACCESS_COPY : AR_ACCESS_COMBINE,
                             .length = step->dst.length};
    made.a = operand(t, step->a);
    if (step->kind == AR_REDUCE) {
        made.b = operand(t, step->b);
    } else if (step->kind == AR_RECV_REDUCE) {
        await(t, received, step->dst.length);
        made.b = step->order == AR_LOCAL_FIRST ? received : made.a;
        made.a = step->order == AR_LOCAL_FIRST ? made.a : received;
    } else if (made.a.is_shared || made.a.is_peers) {
        made.kind = AR_ACCESS_LOAD;
    }
    end_aliases(t, step->dst, true);
    made.dst = own_place(t, step->dst);
    add(t, made);
}

/* First what is received, then what is computed, as schedule.h says. */
static void
translate_round(struct translation *t, const struct ar_schedule *s,
                struct ar_access_place *received)
{
    const size_t begin = ar_round_begin(s, t->round), end = s->round_end[t->round];
    for (size_t i = begin; i < end && !t->error; i++)
        if (ar_step_receives(&s->steps[i]))
            received[i] = next_message(t, s->steps[i].peer, s->steps[i].dst.length);
    for (size_t i = begin; i < end && !t->error; i++)
        if (s->steps[i].kind == AR_RECV)
            (received[i].is_peers && is_given(received[i].buffer, AR_RECV, s->steps[i].dst.buffer)
                 ? receive_given
                 : receive)(t, &s->steps[i], received[i]);
    for (size_t i = begin; i < end && !t->error; i++)
        if (s->steps[i].kind != AR_SEND && s->steps[i].kind != AR_RECV)
            compute(t, &s->steps[i], received[i]);
}

/* Stores in the receivers' OUT what the round gives. */
static void
translate_given(struct translation *t, const struct ar_storing *st, size_t round)
{
    for (size_t i = 0; i < st->nmessages; i++) {
        const struct ar_stored_message *const m = &st->messages[i];
        if (m->round == round && m->is_given)
            add(t, (struct ar_access){.kind = AR_ACCESS_GIVE,
                                      .length = m->region.length,
                                      .dst = m->given,
                                      .a = own_place(t, m->region)});
    }
}

/* Stores what the round sends, or in place gives it or leaves it where it is; run: the first one
 * that is not stored yet. */
static size_t
translate_stores(struct translation *t, const struct ar_storing *st, size_t run, size_t round)
{
    const size_t first = run;
    translate_given(t, st, round);
    for (; run < st->nruns && st->runs[run].round == round; run++) {
        const struct ar_stored_run *const r = &st->runs[run];
        if (st->in_place)
            continue;
        const struct ar_access_place from = operand(t, r->region);
        add(t,
            (struct ar_access){
                .kind = AR_ACCESS_STORE, .length = r->region.length, .dst = r->place, .a = from});
    }
    if (run > first)
        add(t, (struct ar_access){.kind = AR_ACCESS_RAISE, .dst = st->runs[first].place});
    return run;
}

static int
translate(struct translation *t, const struct ar_schedule *s, const struct ar_storing *st,
          struct ar_access_place *received)
{
    struct ar_accesses *const to = t->to;
    size_t run = 0;
    to->n = to->nstages = 0;
    to->can_end_early = true;
    to->tmp_begin = to->tmp_end = s->tmp_length;
    for (size_t round = 0; round <= s->nrounds; round++) {
        t->round = round ? round - 1 : 0;
        t->is_last = round == s->nrounds;
        if (round > 0)
            translate_round(t, s, received);
        run = translate_stores(t, st, run, round);
        to->stage_end[to->nstages++] = to->n;
    }
    return t->error;
}

/* Where chunks may overlap, a round must have read all that it received.  If a later round would
 * read some of it in another's area, the schedule is translated again, with everything loaded. */
static int
translate_either_way(struct ar_accesses *to, const struct ar_schedule *s,
                     const struct ar_storing *st, struct others *o)
{
    const size_t n = (size_t)to->nranks;
    struct ar_access_place *const received = calloc(s->nsteps + 1, sizeof *received);
    size_t *const next = malloc(n * sizeof *next);
    struct translation t = {.to = to, .others = o, .seen = malloc(n * sizeof *t.seen)};
    to->stage_end = malloc((s->nrounds + 1) * sizeof *to->stage_end);
    int error = received && next && t.seen && to->stage_end ? AR_OK : AR_ERR_MEMORY;
    for (size_t i = 0; i < n && !error; i++)
        next[i] = o->next[i];
    for (int again = 0; again < 2 && !error; again++) {
        for (size_t i = 0; i < n; i++) {
            t.seen[i] = 0;
            o->next[i] = next[i];
        }
        t.loads_all = again;
        t.is_late = false;
        t.naliases = 0;
        error = translate(&t, s, st, received);
        if (!t.is_late || !to->meets_readers)
            break;
    }
    free(received);
    free(next);
    free(t.seen);
    free(t.aliases);
    return error;
}

static int
find_overlap(struct ar_accesses *to, const struct others *o)
{
    if (!hear_each_other(o, to->nranks))
        return AR_OK;
    const int error = find_met(&to->nmet, o, to->nranks);
    to->meets_readers = to->nmet > 0;
    return error;
}

/* how: of each rank's storing. */
static int
init(struct ar_accesses *accesses, int rank, int nranks, struct ar_storing how,
     ar_schedule_source *source, void *context)
{
    struct ar_accesses made = {.rank = rank, .nranks = nranks};
    const size_t n = (size_t)nranks;
    struct ar_storing own = how, other = how;
    struct ar_schedule mine = {0};
    struct others o = {.next = malloc(4 * n * sizeof *o.next)};
    int error = o.next ? AR_OK : AR_ERR_MEMORY;
    o.end = o.next ? o.next + n : NULL;
    o.next_taker = o.next ? o.next + 2 * n : NULL;
    o.taker_end = o.next ? o.next + 3 * n : NULL;
    for (int i = 0; i < nranks && !error; i++) {
        struct ar_schedule s;
        struct ar_storing *const st = i == rank ? &own : &other;
        error = source(context, &s, i);
        if (error)
            break;
        error = ar_storing_find(st, &s);
        if (!error)
            error = keep_messages(&o, st, i, rank);
        if (!error)
            error = keep_hearing(&o, &s);
        if (!error && how.in_place)
            error = keep_takers(&o, &s, rank);
        made.area_length = st->length > made.area_length ? st->length : made.area_length;
        made.nflags = st->nflags > made.nflags ? st->nflags : made.nflags;
        if (i == rank)
            mine = s;
        else
            ar_schedule_fini(&s);
    }
    if (!error)
        error = find_overlap(&made, &o);
    if (!error && how.in_place)
        error = match_takers(&o, &own);
    if (!error)
        error = translate_either_way(&made, &mine, &own, &o);
    ar_schedule_fini(&mine);
    ar_storing_fini(&own);
    ar_storing_fini(&other);
    free(o.messages);
    free(o.takers);
    free(o.next);
    free(o.hears);
    if (error)
        ar_accesses_fini(&made);
    else
        *accesses = made;
    return error;
}

int
ar_accesses_init(struct ar_accesses *accesses, int rank, int nranks, size_t element_bytes,
                 ar_schedule_source *source, void *context)
{
    const size_t line_length = element_bytes < AR_LINE_BYTES ? AR_LINE_BYTES / element_bytes : 1;
    return init(accesses, rank, nranks, (struct ar_storing){.line_length = line_length}, source,
                context);
}

int
ar_accesses_init_in_place(struct ar_accesses *accesses, int rank, int nranks,
                          ar_schedule_source *source, void *context)
{
    return init(accesses, rank, nranks, (struct ar_storing){.in_place = true}, source, context);
}

int
ar_accesses_init_meeting(struct ar_accesses *accesses, int rank, int nranks)
{
    struct ar_accesses made = {
        .rank = rank, .nranks = nranks, .n = (size_t)nranks, .nstages = 1, .nflags = 1};
    made.all = calloc(made.n, sizeof *made.all);
    made.stage_end = malloc(sizeof *made.stage_end);
    if (!made.all || !made.stage_end) {
        ar_accesses_fini(&made);
        return AR_ERR_MEMORY;
    }
    for (int i = 0; i < nranks; i++) {
        const struct ar_access_place flag = {.is_shared = true, .rank = (rank + i) % nranks};
        made.all[i] = i == 0 ? (struct ar_access){.kind = AR_ACCESS_RAISE, .dst = flag}
                             : (struct ar_access){.kind = AR_ACCESS_AWAIT, .a = flag};
    }
    made.stage_end[0] = made.n;
    *accesses = made;
    return AR_OK;
}

size_t
ar_accesses_chunk_at(size_t tick, size_t nmet)
{
    const size_t late = nmet > 1 ? nmet - 1 : 0;
    return tick < 2 ? tick : tick < 2 + late ? SIZE_MAX : tick - late;
}

void
ar_accesses_fini(struct ar_accesses *accesses)
{
    free(accesses->all);
    free(accesses->stage_end);
}
