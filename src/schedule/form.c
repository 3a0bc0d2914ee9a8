#include "schedule/form.h"

#include <stdbool.h>

static bool
is_inside(const struct ar_schedule *s, struct ar_region r)
{
    const size_t room = r.buffer == AR_TMP ? s->tmp_length : s->count;
    return (unsigned)r.buffer <= AR_TMP && r.offset <= room && r.length <= room - r.offset;
}

static const char *
find_flaw_of_step(const struct ar_schedule *s, const struct ar_step *step)
{
    const bool reads = step->kind != AR_RECV, writes = step->kind != AR_SEND;
    const bool is_local = step->kind == AR_COPY || step->kind == AR_REDUCE;
    const size_t b = step->kind == AR_REDUCE ? step->dst.length : 0;
    if ((unsigned)step->kind > AR_REDUCE || (unsigned)step->order > AR_RECEIVED_FIRST)
        return "is no step";
    if (!is_local && (step->peer < 0 || step->peer >= s->nranks || step->peer == s->rank))
        return "has no other rank as its peer";
    if (!is_inside(s, step->dst) || !is_inside(s, step->a) || !is_inside(s, step->b))
        return "is outside its buffer";
    if (writes && step->dst.buffer == AR_IN)
        return "writes to IN";
    if (step->b.length != b || (reads && writes && step->a.length != step->dst.length) ||
        (!reads && step->a.length > 0) || (!writes && step->dst.length > 0))
        return "has operands of different lengths";
    return NULL;
}

/* Of TMP, in a proof: it takes 8 bytes for each element. */
#define PROVED_MOST (SIZE_MAX >> 6)

/* Elements have numbers of 32 bits in the proof. */
const char *
ar_schedule_find_flaw(const struct ar_schedule *s, int rank, int nranks, size_t count, size_t *step)
{
    size_t end = 0;
    if (s->rank != rank || s->nranks != nranks || s->count != count)
        return "its schedule is of another rank, count or number of ranks";
    if (count >= UINT32_MAX || s->tmp_length > PROVED_MOST)
        return "its vectors are too long to be proved";
    for (size_t i = 0; i < s->nrounds && end <= s->nsteps; i++)
        end = s->round_end[i] >= end ? s->round_end[i] : SIZE_MAX;
    if (end != s->nsteps)
        return "its rounds do not divide its steps";
    for (size_t i = 0; i < s->nsteps; i++) {
        const char *const flaw = find_flaw_of_step(s, &s->steps[i]);
        if (flaw) {
            *step = i;
            return flaw;
        }
    }
    return NULL;
}
