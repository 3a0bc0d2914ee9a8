#include "schedule/holdings.h"

#include <stdlib.h>
#include <string.h>

#include "schedule/walk.h"

static struct ar_cell *
cells_of(struct ar_holdings *trace, int rank, struct ar_region region)
{
    return trace->holders[rank].memory[region.buffer] + region.offset;
}

/* --- running --- */

/* A send's data is taken as its round is entered: the local part may overwrite it. */
static void
post_sends(struct ar_holdings *trace, int rank)
{
    const struct ar_schedule *s = &trace->schedules[rank];
    size_t round = trace->holders[rank].round;
    for (size_t i = ar_round_begin(s, round); round < s->nrounds && i < s->round_end[round]; i++)
        if (s->steps[i].kind == AR_SEND)
            memcpy(trace->payloads[trace->timeline.first_step[rank] + i],
                   cells_of(trace, rank, s->steps[i].a),
                   s->steps[i].a.length * sizeof(struct ar_cell));
}

static const struct ar_cell *
received(const struct ar_holdings *trace, int rank, size_t i)
{
    int peer = trace->schedules[rank].steps[i].peer;
    return ar_holdings_payload(trace, peer,
                               trace->timeline.partner[trace->timeline.first_step[rank] + i]);
}

static void
combine(struct ar_cell *dst, const struct ar_cell *a, const struct ar_cell *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        dst[i] = (struct ar_cell){a[i].element, a[i].ranks | b[i].ranks};
}

/* Messages first, then the local part. */
static void
run_round(struct ar_holdings *trace, int rank)
{
    const struct ar_schedule *s = &trace->schedules[rank];
    const size_t begin = ar_round_begin(s, trace->holders[rank].round);
    const size_t end = s->round_end[trace->holders[rank].round++];
    for (size_t i = begin; i < end; i++)
        if (s->steps[i].kind == AR_RECV)
            memcpy(cells_of(trace, rank, s->steps[i].dst), received(trace, rank, i),
                   s->steps[i].dst.length * sizeof(struct ar_cell));
    for (size_t i = begin; i < end; i++) {
        const struct ar_step *step = &s->steps[i];
        struct ar_cell *dst = cells_of(trace, rank, step->dst), *a = cells_of(trace, rank, step->a);
        if (step->kind == AR_COPY)
            memmove(dst, a, step->dst.length * sizeof *dst);
        else if (step->kind == AR_REDUCE)
            combine(dst, a, cells_of(trace, rank, step->b), step->dst.length);
        else if (step->kind == AR_RECV_REDUCE)
            combine(dst, a, received(trace, rank, i), step->dst.length);
    }
    if (trace->ended)
        trace->ended(trace->context, rank, trace->holders[rank].round - 1);
    post_sends(trace, rank);
}

/* One unit at a time, so that what arrives has been posted. */
void
ar_holdings_advance(struct ar_holdings *trace, size_t time)
{
    for (; trace->next <= time; trace->next++)
        for (int r = 0; r < trace->nranks; r++) {
            const size_t *end = trace->timeline.round_end + trace->timeline.first_round[r];
            const size_t *round = &trace->holders[r].round;
            while (*round < trace->schedules[r].nrounds && end[*round] <= trace->next)
                run_round(trace, r);
        }
}

const struct ar_cell *
ar_holdings_payload(const struct ar_holdings *trace, int rank, size_t step)
{
    return trace->payloads[trace->timeline.first_step[rank] + step];
}

/* --- liveness --- */

enum use { UNTOUCHED, READ, WRITTEN };

static bool
covers(struct ar_region region, enum ar_buffer buffer, size_t i)
{
    return region.length > 0 && region.buffer == buffer && i >= region.offset &&
           i - region.offset < region.length;
}

/* What the round does to the cell first.  Messages come before the local part, and sends never
 * read what a recv writes. */
static enum use
use_in_round(const struct ar_schedule *s, size_t round, enum ar_buffer buffer, size_t i)
{
    for (int local = 0; local < 2; local++)
        for (size_t k = ar_round_begin(s, round); k < s->round_end[round]; k++) {
            const struct ar_step *step = &s->steps[k];
            if ((step->kind != AR_SEND && step->kind != AR_RECV) != local)
                continue;
            if (covers(step->a, buffer, i) || covers(step->b, buffer, i))
                return READ;
            if (covers(step->dst, buffer, i))
                return WRITTEN;
        }
    return UNTOUCHED;
}

bool
ar_holdings_is_live(const struct ar_holdings *trace, int rank, enum ar_buffer buffer, size_t i)
{
    const struct ar_schedule *s = &trace->schedules[rank];
    enum use use = UNTOUCHED;
    for (size_t round = trace->holders[rank].round; round < s->nrounds && !use; round++)
        use = use_in_round(s, round, buffer, i);
    return use == READ || (use == UNTOUCHED && buffer == AR_OUT);
}

/* --- set-up --- */

/* Lays out rank's memories and payloads from cell on; returns the first cell behind. */
static struct ar_cell *
lay_out(struct ar_holdings *trace, int rank, struct ar_cell *cell)
{
    const struct ar_schedule *s = &trace->schedules[rank];
    struct ar_holder *h = &trace->holders[rank];
    const size_t lengths[] = {[AR_IN] = s->count, [AR_OUT] = s->count, [AR_TMP] = s->tmp_length};
    for (int b = AR_IN; b <= AR_TMP; b++) {
        h->memory[b] = cell;
        h->length[b] = lengths[b];
        cell += lengths[b];
    }
    for (size_t i = 0; i < s->nsteps; i++)
        if (s->steps[i].kind == AR_SEND) {
            trace->payloads[trace->timeline.first_step[rank] + i] = cell;
            cell += s->steps[i].a.length;
        }
    for (size_t i = 0; i < s->count; i++)
        h->memory[AR_IN][i] =
            (struct ar_cell){i, rank < AR_HOLDINGS_RANKS_MAX ? (uint64_t)1 << rank : 0};
    return cell;
}

static int
allocate(struct ar_holdings *trace)
{
    size_t n = 1;
    for (int r = 0; r < trace->nranks; r++) {
        const struct ar_schedule *s = &trace->schedules[r];
        n += 2 * s->count + s->tmp_length;
        for (size_t i = 0; i < s->nsteps; i++)
            n += s->steps[i].kind == AR_SEND ? s->steps[i].a.length : 0;
    }
    trace->holders = calloc((size_t)trace->nranks, sizeof *trace->holders);
    trace->cells = calloc(n, sizeof *trace->cells);
    trace->payloads =
        calloc(trace->timeline.first_step[trace->nranks] + 1, sizeof(struct ar_cell *));
    return trace->holders && trace->cells && trace->payloads ? AR_OK : AR_ERR_MEMORY;
}

int
ar_holdings_init(struct ar_holdings *trace, const struct ar_schedule *schedules, int nranks)
{
    memset(trace, 0, sizeof *trace);
    trace->schedules = schedules;
    trace->nranks = nranks;
    int error = ar_unit_times_init(&trace->timeline, schedules, nranks);
    if (!error)
        error = allocate(trace);
    if (error) {
        ar_holdings_fini(trace);
        return error;
    }
    struct ar_cell *cell = trace->cells;
    for (int r = 0; r < nranks; r++)
        cell = lay_out(trace, r, cell);
    for (int r = 0; r < nranks; r++)
        post_sends(trace, r);
    return AR_OK;
}

void
ar_holdings_fini(struct ar_holdings *trace)
{
    ar_unit_times_fini(&trace->timeline);
    free(trace->holders);
    free(trace->cells);
    free(trace->payloads);
    memset(trace, 0, sizeof *trace);
}
