#include "execute/plan.h"

#include <limits.h>
#include <stdlib.h>

#define SLOT_ALIGNMENT ((size_t)64)
/* What TMP and the landing of a slot take beside their elements, at most: a
 * lead for alignment below 16, and the round_up. */
#define SLOT_OVERHEAD ((size_t)2 * (16 + SLOT_ALIGNMENT))

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
    return (bytes + SLOT_ALIGNMENT - 1) / SLOT_ALIGNMENT * SLOT_ALIGNMENT;
}

/* Elements a segment.  It depends on nothing that may differ between ranks: the
 * scratch of the neediest rank is bounded by the registry's row, and the extent
 * is left out, since ranks may lay out the same elements differently.  No message
 * is longer than a slot's vectors, so INT_MAX bytes of them keep each count an int. */
static size_t
segment_length(const struct ar_algorithm *algorithm, const struct ar_params *params, int nranks,
               size_t count, size_t size, size_t scratch_bytes)
{
    const size_t vectors = ar_algorithm_scratch_vectors(algorithm, params, nranks);
    const size_t slot_bytes = min_size(scratch_bytes / (size_t)params->window, INT_MAX);
    size_t length = count;
    if (params->segment_bytes > 0)
        length = min_size(length, params->segment_bytes / size);
    length = min_size(length, (slot_bytes - min_size(slot_bytes, SLOT_OVERHEAD)) / size / vectors);
    return max_size(length, 1);
}

static size_t
round_begin(const struct ar_schedule *s, size_t round)
{
    return round ? s->round_end[round - 1] : 0;
}

/* Most messages in a round, and most elements that recv_reduce steps of one
 * round receive. */
static void
measure(const struct ar_schedule *s, int *messages, size_t *landing)
{
    for (size_t round = 0; round < s->nrounds; round++) {
        int m = 0;
        size_t l = 0;
        for (size_t i = round_begin(s, round); i < s->round_end[round]; i++) {
            m += s->steps[i].peer >= 0;
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
    measure(&plan->full, &plan->messages, &landing);
    measure(&plan->tail, &plan->messages, &landing);
    const size_t requests = window * (size_t)plan->messages;
    plan->tmp_bytes = round_up(
        ar_reduction_room_bytes(r, max_size(plan->full.tmp_length, plan->tail.tmp_length)));
    plan->slot_bytes = plan->tmp_bytes + round_up(ar_reduction_room_bytes(r, landing));
    plan->slots = calloc(window, sizeof *plan->slots);
    plan->requests = malloc(requests * sizeof *plan->requests);
    plan->completed = malloc(requests * sizeof *plan->completed);
    if (!plan->slots || !plan->requests || !plan->completed)
        return AR_ERR_MEMORY;
    for (size_t i = 0; i < requests; i++)
        plan->requests[i] = MPI_REQUEST_NULL;
    return AR_OK;
}

static int
emit(struct ar_plan *plan, const struct ar_algorithm *algorithm, const struct ar_params *params,
     int rank, int nranks)
{
    const size_t rest = plan->count % plan->segment;
    int error = ar_algorithm_emit(algorithm, &plan->full, rank, nranks, plan->segment, params);
    if (!error && rest > 0)
        error = ar_algorithm_emit(algorithm, &plan->tail, rank, nranks, rest, params);
    return error;
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
    plan->segment = segment_length(algorithm, params, nranks, count, r->size, scratch_bytes);
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
    ar_schedule_fini(&plan->full);
    ar_schedule_fini(&plan->tail);
    free(plan->slots);
    free(plan->requests);
    free(plan->completed);
    free(plan);
}

size_t
ar_plan_scratch_bytes(const struct ar_plan *plan)
{
    return plan->slot_bytes * (size_t)plan->window;
}

static size_t
schedule_bytes(const struct ar_schedule *s)
{
    return s->steps_room * sizeof *s->steps + s->rounds_room * sizeof *s->round_end;
}

size_t
ar_plan_memory_bytes(const struct ar_plan *plan)
{
    return sizeof *plan + schedule_bytes(&plan->full) + schedule_bytes(&plan->tail) +
           (size_t)plan->window *
               (sizeof *plan->slots +
                (size_t)plan->messages * (sizeof *plan->requests + sizeof *plan->completed));
}
