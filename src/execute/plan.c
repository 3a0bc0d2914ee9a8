#include "execute/plan.h"

#include <stdint.h>
#include <stdlib.h>

#include "execute/cell.h"
#include "schedule/folding.h"
#include "schedule/walk.h"

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
        *landing = l > *landing ? l : *landing;
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
    const size_t full = plan->full.schedule.tmp_length, tail = plan->tail.schedule.tmp_length;
    plan->tmp_bytes = ar_scratch_round_up(ar_reduction_room_bytes(r, full > tail ? full : tail));
    plan->instance_bytes =
        plan->tmp_bytes + ar_scratch_round_up(ar_reduction_room_bytes(r, landing));
    plan->instances = calloc(window, sizeof *plan->instances);
    plan->requests = malloc(requests * sizeof *plan->requests);
    plan->transfers = calloc(requests, sizeof *plan->transfers);
    plan->completed = malloc(requests * sizeof *plan->completed);
    plan->statuses = malloc(requests * sizeof *plan->statuses);
    if (!plan->instances || !plan->requests || !plan->transfers || !plan->completed ||
        !plan->statuses)
        return AR_ERR_MEMORY;
    for (size_t i = 0; i < requests; i++)
        plan->requests[i] = MPI_REQUEST_NULL;
    return AR_OK;
}

static int
emit(struct ar_routine *routine, const struct ar_algorithm *algorithm,
     const struct ar_params *params, int rank, int nranks, size_t count)
{
    struct ar_schedule *s = &routine->schedule;
    const int error = ar_algorithm_emit(algorithm, s, rank, nranks, count, params);
    if (error)
        return error;
    ar_schedule_trim(s);
    routine->folding = calloc(s->nsteps + 1, sizeof *routine->folding);
    if (!routine->folding)
        return AR_ERR_MEMORY;
    ar_folding_find(routine->folding, s);
    return AR_OK;
}

int
ar_plan_create(struct ar_plan **made, const struct ar_algorithm *algorithm,
               const struct ar_params *params, int rank, int nranks, size_t count,
               const struct ar_reduction *r, size_t scratch_bytes, int most)
{
    struct ar_plan *plan = calloc(1, sizeof *plan);
    if (!plan)
        return AR_ERR_MEMORY;
    plan->count = count;
    plan->segment = ar_algorithm_segment(algorithm, params, nranks, count, r->size, scratch_bytes);
    plan->nsegments = (count + plan->segment - 1) / plan->segment;
    plan->window = ar_algorithm_window(algorithm, params, nranks);
    plan->window = plan->window < most ? plan->window : most;
    if ((size_t)plan->window > plan->nsegments)
        plan->window = (int)plan->nsegments;
    const size_t rest = count % plan->segment;
    struct ar_params whole = *params; /* all segments in the form of the message */
    whole.whole_bytes = count <= params->whole_bytes / r->size ? SIZE_MAX : 0;
    int error = emit(&plan->full, algorithm, &whole, rank, nranks, plan->segment);
    if (!error && rest > 0)
        error = emit(&plan->tail, algorithm, &whole, rank, nranks, rest);
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
    free(plan->full.folding);
    free(plan->tail.folding);
    free(plan->instances);
    free(plan->requests);
    free(plan->transfers);
    free(plan->completed);
    free(plan->statuses);
    free(plan);
}

size_t
ar_plan_scratch_bytes(const struct ar_plan *plan)
{
    return plan->instance_bytes * (size_t)plan->window;
}

bool
ar_plan_can_stream(const struct ar_plan *plan, const struct ar_reduction *r)
{
    const struct ar_schedule *const s = &plan->full.schedule;
    bool can = false;
    for (size_t i = 0; i < s->nsteps && !can; i++)
        can = s->steps[i].peer >= 0 && !ar_step_receives(&s->steps[i]) &&
              ar_cell_streams(r, s->steps[i].a.length);
    return can;
}

static size_t
routine_bytes(const struct ar_routine *routine)
{
    const struct ar_schedule *s = &routine->schedule;
    return s->steps_room * sizeof *s->steps + s->rounds_room * sizeof *s->round_end +
           s->nsteps * sizeof *routine->folding;
}

size_t
ar_plan_memory_bytes(const struct ar_plan *plan)
{
    return sizeof *plan + routine_bytes(&plan->full) + routine_bytes(&plan->tail) +
           (size_t)plan->window *
               (sizeof *plan->instances +
                (size_t)plan->messages * (sizeof *plan->requests + sizeof *plan->transfers +
                                          sizeof *plan->completed + sizeof *plan->statuses));
}
