/* All candidates for one size, simulated: with few steps first, and with many where a candidate may
 * be as fast as the best. */
#include "tuning/ranking.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "tuning/elimination.h"

/* An estimate leaves out some of what ranks wait for; rarely it is too long. */
#define ESTIMATE_AT_BEST  0.85
#define ESTIMATE_AT_WORST 1.2

/* How long the model may simulate, in steps. */
#define ESTIMATE (AR_PREDICT_STEPS / 32) /* of a candidate, at first, and later at least */
#define MOST     (AR_PREDICT_STEPS / 2)  /* and at most */
#define ALL      (AR_PREDICT_STEPS * 2)  /* of all that are asked about again */
#define PART     4                       /* of those that are left, for one of them */

/* A candidate is simulated with many steps if it may take so many times as long as the best. */
#define WITHIN 3

struct comparison {
    const struct ar_advice_request *request;
    size_t bytes, element_bytes;
    struct ar_candidate_list list;
    struct ar_elimination e;
    size_t left; /* of ALL */
    struct ar_compared *rows;
};

/* Notes what a prediction says of a candidate.  is_last: the model is not asked about it again. */
static void
note(struct ar_elimination *e, size_t i, const struct ar_prediction *p, bool is_last)
{
    const double time = p->end.at;
    const bool is_simulated = p->quality == AR_QUALITY_SIMULATED;
    const bool is_sure = is_last || (is_simulated && p->simulated == p->nsegments);
    const double likely = is_simulated                        ? time
                          : p->quality == AR_QUALITY_ESTIMATE ? INFINITY /* only a lower bound */
                                                              : time * ESTIMATE_AT_WORST;
    ar_elimination_note_bounds(e, i, is_sure ? likely : time * ESTIMATE_AT_BEST, likely, is_sure);
}

/* Asks about a candidate: first for an estimate, and with many steps when it is asked again. */
static int
measure(struct comparison *s, size_t i)
{
    const bool is_last = s->e.of[i].is_measured;
    const size_t part = s->left / PART;
    const size_t many = part > MOST ? MOST : part < ESTIMATE ? ESTIMATE : part;
    struct ar_choice choice = s->list.of[i].choice;
    choice.params.node_of = s->request->node_of;
    const struct ar_question question = {.machine = s->request->machine,
                                         .choice = &choice,
                                         .nranks = s->request->nranks,
                                         .count = s->bytes / s->element_bytes,
                                         .element_bytes = s->element_bytes,
                                         .scratch_bytes = s->request->scratch_bytes,
                                         .most_steps = is_last ? many : ESTIMATE,
                                         .limit = is_last ? 0 : DBL_MIN};
    struct ar_prediction *const p = &s->rows[i].prediction;
    s->rows[i].choice = s->list.of[i].choice;
    const int error = ar_predict(p, &question);
    if (error)
        return error;
    note(&s->e, i, p, is_last);
    const size_t steps = is_last ? p->messages : 0;
    s->left -= steps < s->left ? steps : s->left;
    return AR_OK;
}

static int
compare_times(const void *x, const void *y)
{
    const struct ar_compared *a = x, *b = y;
    const double s = a->prediction.end.at, t = b->prediction.end.at;
    return (s > t) - (s < t);
}

/* Until the best is known or the effort is spent.  native takes no part. */
static int
measure_all(struct comparison *s)
{
    struct ar_elimination *const e = &s->e;
    int error = AR_OK;
    e->within = WITHIN;
    for (size_t i = 0; i < e->n; i++)
        if (s->list.of[i].choice.kind != AR_CHOICE_ALGORITHM ||
            !ar_candidate_fits(&s->list.of[i], s->bytes))
            ar_elimination_exclude(e, i);
    for (size_t i; !error && (i = ar_elimination_next(e)) < e->n;)
        error = measure(s, i);
    return error;
}

int
ar_compare(struct ar_compared **rows, size_t *n, const struct ar_advice_request *request,
           size_t bytes, size_t element_bytes)
{
    struct comparison s = {
        .request = request, .bytes = bytes, .element_bytes = element_bytes, .left = ALL};
    int error = ar_advise_candidates(&s.list, request, bytes);
    if (error)
        return error;
    s.rows = calloc(s.list.n + 1, sizeof *s.rows);
    error = s.rows ? ar_elimination_init(&s.e, &ar_by_model, &s.list, s.list.n) : AR_ERR_MEMORY;
    if (!error)
        error = measure_all(&s);
    if (!error) {
        *rows = s.rows;
        *n = 0;
        for (size_t i = 0; i < s.list.n; i++)
            if (s.e.of[i].is_measured)
                s.rows[(*n)++] = s.rows[i];
        qsort(s.rows, *n, sizeof *s.rows, compare_times);
    } else {
        free(s.rows);
    }
    ar_elimination_fini(&s.e);
    ar_candidates_fini(&s.list);
    return error;
}
