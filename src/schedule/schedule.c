#include "schedule/schedule.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "schedule/form.h"
#include "schedule/grow.h"
#include "schedule/walk.h"

void
ar_schedule_init(struct ar_schedule *s, int rank, int nranks, size_t count)
{
    memset(s, 0, sizeof *s);
    s->rank = rank;
    s->nranks = nranks;
    s->count = count;
}

void
ar_schedule_fini(struct ar_schedule *s)
{
    free(s->steps);
    free(s->round_end);
    memset(s, 0, sizeof *s);
}

void
ar_schedules_destroy(struct ar_schedule *schedules, int nranks)
{
    for (int r = 0; schedules && r < nranks; r++)
        ar_schedule_fini(&schedules[r]);
    free(schedules);
}

void
ar_schedule_fail(struct ar_schedule *s, int error)
{
    if (!s->error)
        s->error = error;
}

static bool
fits(const struct ar_schedule *s, struct ar_region r)
{
    const size_t room = r.buffer == AR_TMP ? AR_TMP_MOST : s->count;
    return r.offset <= room && r.length <= room - r.offset;
}

static bool
is_legal(const struct ar_schedule *s, const struct ar_step *step)
{
    const bool reads = step->kind != AR_RECV, writes = step->kind != AR_SEND;

    if (ar_step_is_message(step) &&
        (step->peer < 0 || step->peer >= s->nranks || step->peer == s->rank))
        return false;
    if (writes && step->dst.buffer == AR_IN)
        return false;
    if (reads && writes && step->a.length != step->dst.length)
        return false;
    if (step->kind == AR_REDUCE && step->b.length != step->dst.length)
        return false;
    return fits(s, step->dst) && fits(s, step->a) && fits(s, step->b);
}

/* Notes how far a region reaches into TMP. */
static void
touch(struct ar_schedule *s, struct ar_region r)
{
    if (r.buffer == AR_TMP && r.length > 0 && r.offset + r.length > s->tmp_length)
        s->tmp_length = r.offset + r.length;
}

/* Appends the step unless it is of length 0. */
static void
append(struct ar_schedule *s, struct ar_step step)
{
    if (s->error)
        return;
    if (!is_legal(s, &step)) {
        ar_schedule_fail(s, AR_ERR_STEP);
        return;
    }
    if (step.dst.length + step.a.length == 0)
        return;
    struct ar_step *steps = ar_grow(s->steps, s->nsteps + 1, &s->steps_room, sizeof *steps);
    if (!steps) {
        ar_schedule_fail(s, AR_ERR_MEMORY);
        return;
    }
    s->steps = steps;
    s->steps[s->nsteps++] = step;
    touch(s, step.dst);
    touch(s, step.a);
    touch(s, step.b);
}

static const struct ar_region nothing = {AR_TMP, 0, 0};

void
ar_send(struct ar_schedule *s, int peer, struct ar_region a)
{
    append(s, (struct ar_step){AR_SEND, AR_LOCAL_FIRST, peer, nothing, a, nothing});
}

void
ar_recv(struct ar_schedule *s, int peer, struct ar_region dst)
{
    append(s, (struct ar_step){AR_RECV, AR_LOCAL_FIRST, peer, dst, nothing, nothing});
}

void
ar_recv_reduce(struct ar_schedule *s, int peer, struct ar_region dst, struct ar_region a,
               enum ar_order order)
{
    append(s, (struct ar_step){AR_RECV_REDUCE, order, peer, dst, a, nothing});
}

void
ar_copy(struct ar_schedule *s, struct ar_region dst, struct ar_region a)
{
    append(s, (struct ar_step){AR_COPY, AR_LOCAL_FIRST, -1, dst, a, nothing});
}

void
ar_reduce(struct ar_schedule *s, struct ar_region dst, struct ar_region a, struct ar_region b)
{
    append(s, (struct ar_step){AR_REDUCE, AR_LOCAL_FIRST, -1, dst, a, b});
}

void
ar_end_round(struct ar_schedule *s)
{
    if (s->error || s->nsteps == ar_round_begin(s, s->nrounds))
        return;
    size_t *ends = ar_grow(s->round_end, s->nrounds + 1, &s->rounds_room, sizeof *ends);
    if (!ends) {
        ar_schedule_fail(s, AR_ERR_MEMORY);
        return;
    }
    s->round_end = ends;
    s->round_end[s->nrounds++] = s->nsteps;
}

int
ar_schedule_finish(struct ar_schedule *s)
{
    ar_end_round(s);
    return s->error;
}

void
ar_schedule_trim(struct ar_schedule *s)
{
    s->steps = ar_shrink(s->steps, s->nsteps, &s->steps_room, sizeof *s->steps);
    s->round_end = ar_shrink(s->round_end, s->nrounds, &s->rounds_room, sizeof *s->round_end);
}

/* An offset that has no room in a region makes it one that no emitter takes. */
static struct ar_region
region_of(enum ar_buffer buffer, struct ar_span span)
{
    const bool fits = span.offset <= AR_TMP_MOST;
    return (struct ar_region){buffer, fits ? span.offset : 0, fits ? span.length : SIZE_MAX};
}

struct ar_region
ar_in(struct ar_span span)
{
    return region_of(AR_IN, span);
}

struct ar_region
ar_out(struct ar_span span)
{
    return region_of(AR_OUT, span);
}

struct ar_region
ar_tmp(struct ar_span span)
{
    return region_of(AR_TMP, span);
}

static size_t
block_offset(struct ar_cut cut, int i)
{
    size_t parts = (size_t)cut.parts, k = (size_t)i;
    size_t base = cut.count / parts, longer = cut.count % parts;
    return k * base + (k < longer ? k : longer);
}

struct ar_span
ar_blocks(struct ar_cut cut, int first, int n)
{
    size_t from = block_offset(cut, first);
    return (struct ar_span){from, block_offset(cut, first + n) - from};
}

struct ar_span
ar_block(struct ar_cut cut, int i)
{
    return ar_blocks(cut, (i + cut.parts) % cut.parts, 1);
}

struct ar_span
ar_whole(size_t count)
{
    return (struct ar_span){0, count};
}

struct ar_span
ar_subspan(struct ar_span span, int parts, int i)
{
    struct ar_span part = ar_block((struct ar_cut){span.length, parts}, i);
    part.offset += span.offset;
    return part;
}
