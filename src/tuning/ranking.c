/* All candidates for one size, simulated: with few steps first, and with many where a candidate may
 * be as fast as the best. */
#include "tuning/ranking.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* An estimate leaves out some of what ranks wait for; rarely it is too long. */
#define ESTIMATE_AT_BEST 0.85

/* How long the model may simulate, in steps. */
#define ESTIMATE (AR_PREDICT_STEPS / 32) /* of a candidate, at first, and later at least */
#define MOST     (AR_PREDICT_STEPS / 2)  /* and at most */
#define ALL      (AR_PREDICT_STEPS * 2)  /* of all that are asked about again */
#define PART     4                       /* of those that are left, for one of them */

/* A candidate is simulated with many steps if it may take no more than so many times as long as the
 * best.  Variants of a row that is slower by the other factor are left out. */
#define WITHIN     3
#define ROW_WITHIN 2.1

struct comparison {
    const struct ar_advice_request *request;
    size_t bytes, element_bytes;
    struct ar_candidate_list list;
    struct standing {
        bool is_asked, is_sure; /* no more effort can tell more */
    } * standings;              /* of each candidate; owned */
    struct ar_compared *rows;   /* likewise */
    size_t nasked;              /* predictions so far */
};

static double
time_of(const struct comparison *s, size_t i)
{
    return s->rows[i].prediction.end.at;
}

/* The least time of those that were asked about, or of those that are sure. */
static double
best_of(const struct comparison *s, bool of_sure)
{
    double best = INFINITY;
    for (size_t i = 0; i < s->list.n; i++)
        if (of_sure ? s->standings[i].is_sure : s->standings[i].is_asked)
            best = fmin(best, time_of(s, i));
    return best;
}

/* Asks about a candidate: first for an estimate, and with many steps when it is asked again. */
static int
ask(struct comparison *s, size_t i, size_t most_steps)
{
    struct standing *const standing = &s->standings[i];
    const bool is_last = standing->is_asked;
    if (s->request->hear)
        s->request->hear(++s->nasked, s->bytes);
    struct ar_choice choice = s->list.of[i].choice;
    choice.params.node_of = s->request->node_of;
    const struct ar_question question = {.machine = s->request->machine,
                                         .choice = &choice,
                                         .nranks = s->request->nranks,
                                         .count = s->bytes / s->element_bytes,
                                         .element_bytes = s->element_bytes,
                                         .scratch_bytes = s->request->scratch_bytes,
                                         .most_steps = most_steps,
                                         .limit = is_last ? 0 : DBL_MIN};
    struct ar_prediction *const p = &s->rows[i].prediction;
    s->rows[i].choice = s->list.of[i].choice;
    const int error = ar_predict(p, &question);
    standing->is_asked = true;
    standing->is_sure =
        is_last || (p->quality == AR_QUALITY_SIMULATED && p->simulated == p->nsegments);
    return error;
}

/* Estimates the rows, or the variants of those that are not too slow.  native takes no part. */
static int
estimate(struct comparison *s, bool of_rows)
{
    const double sure = best_of(s, true);
    const double limit = ROW_WITHIN * (sure < INFINITY ? sure : best_of(s, false));
    int error = AR_OK;
    for (size_t i = 0; i < s->list.n && !error; i++) {
        const struct ar_candidate *const c = &s->list.of[i];
        if (c->is_first == of_rows && c->choice.kind == AR_CHOICE_ALGORITHM &&
            ar_candidate_fits(c, s->bytes) &&
            (of_rows ||
             (s->standings[c->root].is_asked && ESTIMATE_AT_BEST * time_of(s, c->root) <= limit)))
            error = ask(s, i, ESTIMATE);
    }
    return error;
}

/* The most promising of those that may be about as fast as the best; list.n: there is none. */
static size_t
find_promising(const struct comparison *s)
{
    const double limit = WITHIN * best_of(s, true);
    size_t found = s->list.n;
    for (size_t i = 0; i < s->list.n; i++)
        if (s->standings[i].is_asked && !s->standings[i].is_sure &&
            ESTIMATE_AT_BEST * time_of(s, i) < limit &&
            (found == s->list.n || time_of(s, i) < time_of(s, found)))
            found = i;
    return found;
}

static int
measure(struct comparison *s)
{
    size_t left = ALL;
    int error = estimate(s, true);
    if (!error)
        error = estimate(s, false);
    for (size_t i; !error && (i = find_promising(s)) < s->list.n;) {
        const size_t part = left / PART;
        error = ask(s, i, part > MOST ? MOST : part < ESTIMATE ? ESTIMATE : part);
        const size_t messages = s->rows[i].prediction.messages;
        left -= messages < left ? messages : left;
    }
    return error;
}

static int
compare_times(const void *x, const void *y)
{
    const struct ar_compared *a = x, *b = y;
    const double s = a->prediction.end.at, t = b->prediction.end.at;
    return (s > t) - (s < t);
}

int
ar_compare(struct ar_compared **rows, size_t *n, const struct ar_advice_request *request,
           size_t bytes, size_t element_bytes)
{
    struct comparison s = {.request = request, .bytes = bytes, .element_bytes = element_bytes};
    int error = ar_advise_candidates(&s.list, request, bytes);
    if (error)
        return error;
    s.rows = calloc(s.list.n + 1, sizeof *s.rows);
    s.standings = calloc(s.list.n + 1, sizeof *s.standings);
    error = s.rows && s.standings ? measure(&s) : AR_ERR_MEMORY;
    if (!error) {
        *rows = s.rows;
        *n = 0;
        for (size_t i = 0; i < s.list.n; i++)
            if (s.standings[i].is_asked)
                s.rows[(*n)++] = s.rows[i];
        qsort(s.rows, *n, sizeof *s.rows, compare_times);
    } else {
        free(s.rows);
    }
    free(s.standings);
    ar_candidates_fini(&s.list);
    return error;
}
