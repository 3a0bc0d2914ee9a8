#include "tuning/advise.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "algorithms/nodes.h"
#include "config/files.h"
#include "tuning/elimination.h"

/* Sizes between which times are taken to be straight lines; twice the length of most segments is
 * one. */
static const size_t sizes[] = {8,      128,     1024,    8192,     32768,     131072,
                               524288, 2097152, 8388608, 33554432, 134217728, 1073741824};
enum { SIZES = sizeof sizes / sizeof sizes[0] };
_Static_assert(SIZES <= AR_ADVICE_MAX, "an entry for each size");

/* Sizes that come first: a root that is too slow at two of them is not asked about those between.
 */
static const int first_sizes[] = {0, 4, 7, 10};
enum { FIRST_SIZES = sizeof first_sizes / sizeof first_sizes[0] };

/* An algorithm replaces that of the size before only if it is faster by this factor. */
#define WORTH_A_CHANGE 0.98

/* Longer segments replace shorter ones only if they are faster by this factor: longer messages have
 * to be asked for, and hold up the others of their connection, which costs more than the model says
 * where ranks share cores (doc/performance.md, several hosts). */
#define WORTH_LONGER 0.97

/* An estimate leaves out some of what ranks wait for; rarely it is too long. */
#define ESTIMATE_AT_BEST  0.85
#define ESTIMATE_AT_WORST 1.2

/* All that seem to win, together, take so many times the steps of an estimate, and one of them a
 * part of the steps that are left. */
#define STEPS_TO_CHECK 1024
#define PART_OF_STEPS  8

#define STEPS_A_MESSAGE 3 /* to send, to receive, to reduce */

/* Where candidates are compared for a reader: the steps of one, at most and at least, of all, and
 * of an estimate; and up to how many times the best time they are simulated. */
#define COMPARE_MOST     (AR_PREDICT_STEPS / 2)
#define COMPARE_LEAST    (AR_PREDICT_STEPS / 32)
#define COMPARE_ALL      (AR_PREDICT_STEPS * 2)
#define COMPARE_ESTIMATE (AR_PREDICT_STEPS / 32)
#define COMPARE_WITHIN   3

/* --- the measure --- */

int
ar_advise_candidates(struct ar_candidate_list *list, const struct ar_advice_request *request,
                     size_t bytes)
{
    const size_t nodes = (size_t)ar_nodes_count(request->node_of, request->nranks);
    const struct ar_request call = {.bytes = bytes,
                                    .nranks = request->nranks,
                                    .commutative = !request->in_order,
                                    .nodes = nodes};
    return ar_candidates_init(list, &call, request->allowed);
}

static int
predict(struct ar_prediction *p, const struct ar_advice_request *r, const struct ar_candidate *c,
        size_t bytes, size_t element_bytes, size_t most_steps, double limit)
{
    struct ar_choice choice = c->choice;
    const struct ar_question question = {.machine = r->machine,
                                         .choice = &choice,
                                         .nranks = r->nranks,
                                         .count = bytes / element_bytes,
                                         .element_bytes = element_bytes,
                                         .scratch_bytes = r->scratch_bytes,
                                         .most_steps = most_steps,
                                         .limit = limit};
    choice.params.node_of = r->node_of;
    return ar_predict(p, &question);
}

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

/* Neither native nor what the size is too short or too long for takes part. */
static int
begin(struct ar_elimination *e, const struct ar_candidate_list *list, size_t bytes)
{
    const int error = ar_elimination_init(e, &ar_by_model, list, list->n);
    for (size_t i = 0; i < list->n && !error; i++)
        if (list->of[i].choice.kind != AR_CHOICE_ALGORITHM ||
            !ar_candidate_fits(&list->of[i], bytes))
            ar_elimination_exclude(e, i);
    return error;
}

/* --- advice for all sizes --- */

struct search {
    const struct ar_advice_request *request;
    struct ar_candidate_list list;
    struct ar_elimination at[SIZES];
    size_t steps_left; /* for the candidates that seem to win */
};

/* Longer messages have more segments: where some were simulated, their pace tells the time of all
 * longer ones.  is_last: it was simulated with many steps. */
static void
go_on(struct search *s, size_t i, int size, double pace, bool is_last)
{
    const size_t segment = s->list.of[i].choice.params.segment_bytes;
    const struct ar_standing *const known = &s->at[size].of[i];
    for (int next = size + 1; next < SIZES && pace > 0 && segment > 0; next++) {
        const struct ar_standing *const entry = &s->at[next].of[i];
        const double more = pace * (double)(sizes[next] - sizes[size]) / (double)segment;
        if (!entry->is_measured || (is_last && !entry->is_sure))
            ar_elimination_note_bounds(&s->at[next], i, known->least + more, known->likely + more,
                                       is_last);
    }
}

/* Asks the model about a candidate, for elements of 8 bytes: first with few steps, and with many
 * when it is asked again. */
static int
measure(struct search *s, size_t i, int size)
{
    struct ar_prediction p;
    const bool is_last = s->at[size].of[i].is_measured;
    const size_t most = is_last ? s->steps_left / PART_OF_STEPS : s->request->most_steps;
    const int error = predict(&p, s->request, &s->list.of[i], sizes[size], 8, most, 0);
    if (error)
        return error;
    note(&s->at[size], i, &p, is_last);
    go_on(s, i, size, p.pace, is_last);
    const size_t steps = is_last ? STEPS_A_MESSAGE * p.messages : 0;
    s->steps_left -= steps < s->steps_left ? steps : s->steps_left;
    return AR_OK;
}

/* Estimates the roots, and the variants of those that are not too slow. */
static int
estimate(struct search *s, int size)
{
    struct ar_elimination *const e = &s->at[size];
    int error = AR_OK;
    for (size_t i; !error && (i = ar_elimination_next(e)) < e->n && !e->of[i].is_measured;)
        error = measure(s, i, size);
    return error;
}

/* Leaves out the roots that are out at the first sizes on both sides. */
static void
exclude_slow(struct search *s, int size)
{
    int k = 0;
    while (k + 1 < FIRST_SIZES && first_sizes[k + 1] <= size)
        k++;
    const struct ar_elimination *const below = &s->at[first_sizes[k]];
    const struct ar_elimination *const above = &s->at[first_sizes[k + (k + 1 < FIRST_SIZES)]];
    for (size_t i = 0; i < s->list.n; i++)
        if (s->list.of[i].root == i && below->of[i].state == AR_STANDS_OUT &&
            above->of[i].state == AR_STANDS_OUT)
            ar_elimination_exclude(&s->at[size], i);
}

static int
run(struct search *s)
{
    int error = AR_OK;
    for (int k = 0; k < FIRST_SIZES && !error; k++)
        error = estimate(s, first_sizes[k]);
    for (int size = 0; size < SIZES && !error; size++) {
        if (s->at[size].pass == 0) { /* none of the first */
            exclude_slow(s, size);
            error = estimate(s, size);
        }
    }
    for (int size = 0; size < SIZES && !error; size++)
        for (size_t i; !error && s->steps_left > s->request->most_steps &&
                       (i = ar_elimination_next(&s->at[size])) < s->list.n;)
            error = measure(s, i, size);
    return error;
}

/* --- what is best --- */

static double
time_at(const struct search *s, size_t i, int size)
{
    return s->at[size].of[i].likely;
}

/* The best at a size, or the one before it where that is hardly slower. */
static size_t
winner(const struct search *s, int size, size_t before)
{
    const struct ar_candidate *const of = s->list.of;
    size_t best = before;
    double time = before < s->list.n ? time_at(s, before, size) * WORTH_A_CHANGE : INFINITY;
    for (size_t i = 0; i < s->list.n; i++) {
        const size_t than = best < s->list.n ? of[best].choice.params.segment_bytes : 0;
        const bool is_longer =
            than > 0 && of[i].root == of[best].root && of[i].choice.params.segment_bytes > than;
        if (s->at[size].of[i].state == AR_STANDS_IN &&
            time_at(s, i, size) < time * (is_longer ? WORTH_LONGER : 1)) {
            best = i;
            time = time_at(s, i, size);
        }
    }
    return best;
}

/* Bytes up to which the one candidate is faster, between two sizes; a round number. */
static size_t
crossing(const struct search *s, size_t one, size_t other, int size)
{
    const double lead = time_at(s, other, size - 1) - time_at(s, one, size - 1);
    const double lag = time_at(s, one, size) - time_at(s, other, size);
    const double from = (double)sizes[size - 1], to = (double)sizes[size];
    double at = sqrt(from * to);
    if (lead >= 0 && lead < INFINITY && lag > 0 && lag < INFINITY)
        at = from + (to - from) * lead / (lead + lag);
    size_t unit = 1;
    while ((double)unit * 16 < at)
        unit *= 2;
    return (size_t)(at / (double)unit) * unit;
}

static void
conclude(struct ar_advice *advice, const struct search *s)
{
    size_t last = s->list.n;
    advice->n = 0;
    for (int size = 0; size < SIZES; size++) {
        const size_t i = winner(s, size, last);
        if (i == s->list.n)
            return;
        if (i != last && size > 0)
            advice->entries[advice->n - 1].bytes = crossing(s, last, i, size);
        if (i != last)
            advice->entries[advice->n++] = (struct ar_advice_entry){
                SIZE_MAX, s->list.of[i].choice, sizes[size], time_at(s, i, size)};
        last = i;
    }
}

int
ar_advise(struct ar_advice *advice, const struct ar_advice_request *request)
{
    struct search s = {.request = request, .steps_left = STEPS_TO_CHECK * request->most_steps};
    int error = ar_advise_candidates(&s.list, request, SIZE_MAX);
    if (error)
        return error;
    for (int size = 0; size < SIZES && !error; size++)
        error = begin(&s.at[size], &s.list, sizes[size]);
    if (!error)
        error = run(&s);
    if (!error)
        conclude(advice, &s);
    for (int size = 0; size < SIZES; size++)
        ar_elimination_fini(&s.at[size]);
    ar_candidates_fini(&s.list);
    return error;
}

char *
ar_advice_rules(const struct ar_advice *advice)
{
    char *text = NULL;
    size_t length, from = 0;
    const struct ar_request any = {.nranks = 0};
    FILE *const out = open_memstream(&text, &length);
    if (!out)
        return NULL;
    for (int i = 0; i < advice->n; i++) {
        const struct ar_advice_entry *const e = &advice->entries[i];
        fputs(i ? ";" : "", out);
        ar_rules_clause_write(out, &e->choice, from, e->bytes, &any, 0);
        from = e->bytes + 1;
    }
    const int failed = ferror(out);
    if (fclose(out) || failed) {
        free(text);
        return NULL;
    }
    return text;
}

/* --- all of one size --- */

static int
compare_times(const void *x, const void *y)
{
    const struct ar_compared *a = x, *b = y;
    const double s = a->prediction.end.at, t = b->prediction.end.at;
    return (s > t) - (s < t);
}

/* Predicts candidates, first by an estimate, which simulates few steps. */
static int
compare(struct ar_compared *rows, struct ar_elimination *e, const struct ar_candidate_list *list,
        const struct ar_advice_request *request, size_t bytes, size_t element_bytes)
{
    size_t left = COMPARE_ALL;
    int error = AR_OK;
    for (size_t i; !error && (i = ar_elimination_next(e)) < e->n;) {
        struct ar_prediction *const p = &rows[i].prediction;
        const bool is_last = e->of[i].is_measured;
        const size_t share = left / 4 > COMPARE_MOST    ? COMPARE_MOST
                             : left / 4 < COMPARE_LEAST ? COMPARE_LEAST
                                                        : left / 4;
        error = predict(p, request, &list->of[i], bytes, element_bytes,
                        is_last ? share : COMPARE_ESTIMATE, is_last ? 0 : DBL_MIN);
        if (!error)
            note(e, i, p, is_last);
        if (is_last)
            left -= p->messages < left ? p->messages : left;
    }
    return error;
}

int
ar_compare(struct ar_compared **rows, size_t *n, const struct ar_advice_request *request,
           size_t bytes, size_t element_bytes)
{
    struct ar_candidate_list list;
    struct ar_elimination e;
    int error = ar_advise_candidates(&list, request, bytes);
    if (error)
        return error;
    struct ar_compared *const all = calloc(list.n + 1, sizeof *all);
    error = all ? begin(&e, &list, bytes) : AR_ERR_MEMORY;
    if (!error) {
        e.within = COMPARE_WITHIN;
        error = compare(all, &e, &list, request, bytes, element_bytes);
        *n = 0;
        for (size_t i = 0; i < list.n; i++)
            if (e.of[i].is_measured) {
                all[*n].prediction = all[i].prediction;
                all[(*n)++].choice = list.of[i].choice;
            }
        qsort(all, *n, sizeof *all, compare_times);
        ar_elimination_fini(&e);
    }
    ar_candidates_fini(&list);
    if (error)
        free(all);
    else
        *rows = all;
    return error;
}
