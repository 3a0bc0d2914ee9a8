#include "execute/plan.h"

#include <stdbool.h>
#include <stdlib.h>

#include "schedule/walk.h"

static size_t
min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t
max_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t
round_up(size_t bytes)
{
    return (bytes + AR_SLOT_ALIGNMENT - 1) / AR_SLOT_ALIGNMENT * AR_SLOT_ALIGNMENT;
}

/* Most messages in a round, and most elements that recv_reduce steps of one
 * round receive. */
static void
measure(const struct ar_schedule *s, int *messages, size_t *landing)
{
    for (size_t round = 0; round < s->nrounds; round++) {
        int m = 0;
        size_t l = 0;
        for (size_t i = ar_round_begin(s, round); i < s->round_end[round]; i++) {
            m += ar_step_is_message(&s->steps[i]);
            l += s->steps[i].kind == AR_RECV_REDUCE ? s->steps[i].dst.length : 0;
        }
        *messages = m > *messages ? m : *messages;
        *landing = max_size(*landing, l);
    }
}

static int
lay_out(struct ar_plan *plan, const struct ar_reduction *r)
{
    const size_t window = (size_t)plan->window;
    size_t landing = 0;
    plan->messages = 1;
    measure(&plan->full.schedule, &plan->messages, &landing);
    measure(&plan->tail.schedule, &plan->messages, &landing);
    const size_t requests = window * (size_t)plan->messages;
    plan->tmp_bytes = round_up(ar_reduction_room_bytes(
        r, max_size(plan->full.schedule.tmp_length, plan->tail.schedule.tmp_length)));
    plan->slot_bytes = plan->tmp_bytes + round_up(ar_reduction_room_bytes(r, landing));
    plan->slots = calloc(window, sizeof *plan->slots);
    plan->requests = malloc(requests * sizeof *plan->requests);
    plan->transfers = calloc(requests, sizeof *plan->transfers);
    plan->completed = malloc(requests * sizeof *plan->completed);
    if (!plan->slots || !plan->requests || !plan->transfers || !plan->completed)
        return AR_ERR_MEMORY;
    for (size_t i = 0; i < requests; i++)
        plan->requests[i] = MPI_REQUEST_NULL;
    return AR_OK;
}

/* --- what may be combined as it comes --- */

static bool
same_memory(enum ar_buffer a, enum ar_buffer b, bool in_place)
{
    return a == b || (in_place && a != AR_TMP && b != AR_TMP);
}

static bool
overlap(struct ar_region a, struct ar_region b, bool in_place)
{
    return same_memory(a.buffer, b.buffer, in_place) && a.offset < b.offset + b.length &&
           b.offset < a.offset + a.length;
}

/* A region in part on itself would be combined with what it became. */
static bool
is_in_step(const struct ar_step *step, bool in_place)
{
    return step->a.offset == step->dst.offset || !overlap(step->a, step->dst, in_place);
}

/* Does it keep its hands off what the other one, a recv_reduce, reads and writes? */
static bool
is_apart(const struct ar_step *step, const struct ar_step *other, bool in_place)
{
    return !overlap(step->a, other->dst, in_place) && !overlap(step->b, other->dst, in_place) &&
           !overlap(step->dst, other->dst, in_place) && !overlap(step->dst, other->a, in_place);
}

/* Longer rounds are not looked through: that takes the square of their length. */
#define LONGEST_ROUND 64

static bool
may_fold(const struct ar_schedule *s, size_t begin, size_t end, size_t i, bool in_place)
{
    if (s->steps[i].kind != AR_RECV_REDUCE || end - begin > LONGEST_ROUND ||
        !is_in_step(&s->steps[i], in_place))
        return false;
    for (size_t j = begin; j < end; j++)
        if (j != i && !is_apart(&s->steps[j], &s->steps[i], in_place))
            return false;
    return true;
}

static enum ar_fold
fold_of(const struct ar_schedule *s, size_t begin, size_t end, size_t i)
{
    if (may_fold(s, begin, end, i, true))
        return AR_FOLD_AT_ONCE;
    return may_fold(s, begin, end, i, false) ? AR_FOLD_UNLESS_IN_PLACE : AR_FOLD_LATE;
}

static int
look_through(struct ar_routine *routine)
{
    const struct ar_schedule *s = &routine->schedule;
    routine->folds = calloc(s->nsteps + 1, sizeof *routine->folds);
    if (!routine->folds)
        return AR_ERR_MEMORY;
    for (size_t round = 0; round < s->nrounds; round++)
        for (size_t i = ar_round_begin(s, round); i < s->round_end[round]; i++)
            routine->folds[i] = fold_of(s, ar_round_begin(s, round), s->round_end[round], i);
    return AR_OK;
}

/* --- plans --- */

static int
emit(struct ar_plan *plan, const struct ar_algorithm *algorithm, const struct ar_params *params,
     int rank, int nranks)
{
    const size_t rest = plan->count % plan->segment;
    int error =
        ar_algorithm_emit(algorithm, &plan->full.schedule, rank, nranks, plan->segment, params);
    if (!error && rest > 0)
        error = ar_algorithm_emit(algorithm, &plan->tail.schedule, rank, nranks, rest, params);
    if (!error)
        error = look_through(&plan->full);
    return error ? error : look_through(&plan->tail);
}

int
ar_plan_create(struct ar_plan **made, const struct ar_algorithm *algorithm,
               const struct ar_params *params, int rank, int nranks, size_t count,
               const struct ar_reduction *r, size_t scratch_bytes)
{
    struct ar_plan *plan = calloc(1, sizeof *plan);
    if (!plan)
        return AR_ERR_MEMORY;
    plan->count = count;
    plan->segment = ar_algorithm_segment(algorithm, params, nranks, count, r->size, scratch_bytes);
    plan->nsegments = (count + plan->segment - 1) / plan->segment;
    plan->window = (int)min_size((size_t)params->window, plan->nsegments);
    int error = emit(plan, algorithm, params, rank, nranks);
    if (!error)
        error = lay_out(plan, r);
    if (error)
        ar_plan_destroy(plan);
    else
        *made = plan;
    return error;
}

void
ar_plan_destroy(struct ar_plan *plan)
{
    if (!plan)
        return;
    ar_schedule_fini(&plan->full.schedule);
    ar_schedule_fini(&plan->tail.schedule);
    free(plan->full.folds);
    free(plan->tail.folds);
    free(plan->slots);
    free(plan->requests);
    free(plan->transfers);
    free(plan->completed);
    free(plan);
}

size_t
ar_plan_scratch_bytes(const struct ar_plan *plan)
{
    return plan->slot_bytes * (size_t)plan->window;
}

static size_t
routine_bytes(const struct ar_routine *routine)
{
    const struct ar_schedule *s = &routine->schedule;
    return s->steps_room * sizeof *s->steps + s->rounds_room * sizeof *s->round_end +
           s->nsteps * sizeof *routine->folds;
}

size_t
ar_plan_memory_bytes(const struct ar_plan *plan)
{
    return sizeof *plan + routine_bytes(&plan->full) + routine_bytes(&plan->tail) +
           (size_t)plan->window *
               (sizeof *plan->slots +
                (size_t)plan->messages *
                    (sizeof *plan->requests + sizeof *plan->transfers + sizeof *plan->completed));
}
