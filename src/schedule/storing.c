#include "schedule/storing.h"

#include <stdlib.h>

#include "schedule/grow.h"
#include "schedule/walk.h"

static int
by_region(const void *a, const void *b)
{
    const struct ar_region *const x = &((const struct ar_stored_message *)a)->region;
    const struct ar_region *const y = &((const struct ar_stored_message *)b)->region;
    if (x->buffer != y->buffer)
        return x->buffer < y->buffer ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static int
by_step(const void *a, const void *b)
{
    const struct ar_stored_message *const x = a, *const y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* The run to which the region belongs, the last one or a new one: what is sent to several ranks is
 * stored once. */
static struct ar_stored_run *
extend_runs(struct ar_storing *st, size_t round, size_t first, struct ar_region region)
{
    struct ar_stored_run *const last = st->nruns > first ? &st->runs[st->nruns - 1] : NULL;
    const size_t end = region.offset + region.length;
    if (last && last->region.buffer == region.buffer &&
        last->region.offset + last->region.length >= region.offset) {
        if (end > last->region.offset + last->region.length)
            last->region.length = end - last->region.offset;
        return last;
    }
    const size_t offset = last ? last->place.offset + last->region.length : 0;
    struct ar_stored_run *const runs =
        ar_grow(st->runs, st->nruns + 1, &st->runs_room, sizeof *runs);
    if (!runs)
        return NULL;
    st->runs = runs;
    runs[st->nruns] = (struct ar_stored_run){round, region, {.is_shared = true, .offset = offset}};
    return &runs[st->nruns++];
}

/* Adds what the round sends; false without memory. */
static bool
add_messages(struct ar_storing *st, const struct ar_schedule *s, size_t round)
{
    const size_t begin = ar_round_begin(s, round), end = s->round_end[round];
    struct ar_stored_message *const all =
        ar_grow(st->messages, st->nmessages + end - begin, &st->messages_room, sizeof *all);
    if (!all)
        return false;
    st->messages = all;
    for (size_t i = begin; i < end; i++)
        if (s->steps[i].kind == AR_SEND)
            all[st->nmessages++] = (struct ar_stored_message){
                .to = s->steps[i].peer, .round = round, .at = i, .region = s->steps[i].a};
    return true;
}

static int
store_round(struct ar_storing *st, const struct ar_schedule *s, size_t round)
{
    const size_t first_run = st->nruns, first = st->nmessages;
    if (!add_messages(st, s, round))
        return AR_ERR_MEMORY;
    if (st->nmessages == first)
        return AR_OK;
    struct ar_stored_message *const all = st->messages;
    qsort(all + first, st->nmessages - first, sizeof *all, by_region);
    for (size_t i = first; i < st->nmessages; i++) {
        const struct ar_stored_run *const run = extend_runs(st, round, first_run, all[i].region);
        if (!run)
            return AR_ERR_MEMORY;
        all[i].place = run->place;
        all[i].place.offset += all[i].region.offset - run->region.offset;
        all[i].place.first = ar_region_first(all[i].region);
    }
    const struct ar_stored_run *const last = &st->runs[st->nruns - 1];
    const size_t length = last->place.offset + last->region.length;
    for (size_t i = first; i < st->nmessages; i++) {
        all[i].place.rank = s->rank;
        all[i].place.flag = st->nflags;
        all[i].place.begin = st->length;
        all[i].place.length = length;
    }
    for (size_t i = first_run; i < st->nruns; i++) {
        const size_t offset = st->runs[i].place.offset;
        st->runs[i].place = all[first].place;
        st->runs[i].place.offset = offset;
        st->runs[i].place.first = ar_region_first(st->runs[i].region);
    }
    qsort(all + first, st->nmessages - first, sizeof *all, by_step);
    st->nflags++;
    st->length += (length + st->line_length - 1) / st->line_length * st->line_length;
    return AR_OK;
}

/* Everything stays where it is; what was combined, and so is in OUT, needs a flag. */
static int
show_round(struct ar_storing *st, const struct ar_schedule *s, size_t round)
{
    const size_t first = st->nmessages;
    bool needs_flag = false;
    if (!add_messages(st, s, round))
        return AR_ERR_MEMORY;
    for (size_t i = first; i < st->nmessages; i++) {
        struct ar_stored_message *const m = &st->messages[i];
        const bool is_out = m->region.buffer == AR_OUT;
        if (m->region.buffer == AR_TMP)
            return AR_ERR_STEP;
        m->place = (struct ar_access_place){.is_peers = true,
                                            .buffer = m->region.buffer,
                                            .rank = s->rank,
                                            .flag = is_out ? st->nflags : AR_NO_FLAG,
                                            .offset = m->region.offset,
                                            .first = ar_region_first(m->region)};
        needs_flag |= is_out;
    }
    if (!needs_flag)
        return AR_OK;
    struct ar_stored_run *const runs =
        ar_grow(st->runs, st->nruns + 1, &st->runs_room, sizeof *runs);
    if (!runs)
        return AR_ERR_MEMORY;
    st->runs = runs;
    runs[st->nruns++] =
        (struct ar_stored_run){.round = round, .place = {.rank = s->rank, .flag = st->nflags++}};
    return AR_OK;
}

int
ar_storing_find(struct ar_storing *st, const struct ar_schedule *s)
{
    int error = AR_OK;
    st->nruns = st->nmessages = st->length = 0;
    st->nflags = 0;
    for (size_t round = 0; round < s->nrounds && !error; round++)
        error = st->in_place ? show_round(st, s, round) : store_round(st, s, round);
    return error;
}

void
ar_storing_fini(struct ar_storing *st)
{
    free(st->runs);
    free(st->messages);
}
