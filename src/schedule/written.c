#include "schedule/written.h"

#include <stdlib.h>

#include "schedule/grow.h"

const char *const ar_written_words[] = {
    [AR_SEND] = "send", [AR_RECV] = "recv",     [AR_RECV_REDUCE] = "recv_reduce",
    [AR_COPY] = "copy", [AR_REDUCE] = "reduce", NULL};

void
ar_written_fini(struct ar_written *w)
{
    for (int r = 0; w->ranks && r < w->nranks; r++)
        free(w->ranks[r].steps);
    free(w->ranks);
    free(w->pieces);
    *w = (struct ar_written){.nranks = 0};
}

int
ar_written_append(struct ar_written *w, int rank, const struct ar_written_step *step)
{
    struct ar_written_rank *const to = &w->ranks[rank];
    struct ar_written_step *const steps = ar_grow(to->steps, to->n + 1, &to->room, sizeof *steps);
    if (!steps)
        return AR_ERR_MEMORY;
    to->steps = steps;
    steps[to->n++] = *step;
    return AR_OK;
}

/* Where each piece of TMP begins; NULL without memory. */
static size_t *
place_pieces(const struct ar_written *w, struct ar_cut cut)
{
    size_t *const begin = malloc((w->npieces + 1) * sizeof *begin);
    size_t at = 0;
    for (size_t i = 0; begin && i < w->npieces; i++) {
        begin[i] = at;
        at += ar_blocks(cut, w->pieces[i].first, w->pieces[i].n).length;
    }
    return begin;
}

static struct ar_region
region_of(const struct ar_written_region *r, const struct ar_written *w, struct ar_cut cut,
          const size_t *begin)
{
    struct ar_span span = ar_blocks(cut, r->first, r->n);
    if (r->buffer == AR_TMP)
        span.offset += begin[r->piece] - ar_blocks(cut, w->pieces[r->piece].first, 1).offset;
    return r->buffer == AR_IN ? ar_in(span) : r->buffer == AR_OUT ? ar_out(span) : ar_tmp(span);
}

static void
emit_step(struct ar_schedule *s, const struct ar_written *w, const struct ar_written_step *step,
          struct ar_cut cut, const size_t *begin)
{
    const struct ar_region dst = region_of(&step->dst, w, cut, begin);
    const struct ar_region a = region_of(&step->a, w, cut, begin);
    switch (step->kind) {
    case AR_SEND:
        ar_send(s, step->peer, a);
        break;
    case AR_RECV:
        ar_recv(s, step->peer, dst);
        break;
    case AR_RECV_REDUCE:
        ar_recv_reduce(s, step->peer, dst, a, step->order);
        break;
    case AR_COPY:
        ar_copy(s, dst, a);
        break;
    case AR_REDUCE:
        ar_reduce(s, dst, a, region_of(&step->b, w, cut, begin));
        break;
    }
    if (step->ends_round)
        ar_end_round(s);
}

int
ar_written_emit(struct ar_schedule *s, const struct ar_written *w, int rank, size_t count)
{
    const struct ar_cut cut = {count, w->nblocks};
    size_t *const begin = place_pieces(w, cut);
    ar_schedule_init(s, rank, w->nranks, count);
    for (size_t i = 0; begin && i < w->ranks[rank].n; i++)
        emit_step(s, w, &w->ranks[rank].steps[i], cut, begin);
    if (!begin)
        ar_schedule_fail(s, AR_ERR_MEMORY);
    free(begin);
    const int error = ar_schedule_finish(s);
    if (error)
        ar_schedule_fini(s);
    return error;
}
