#include "tuning/advise.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "algorithms/nodes.h"
#include "config/files.h"
#include "tuning/elimination.h"

/* Between these sizes times are taken to be straight lines.  Twice the length of most segments is
 * among them. */
static const size_t sizes[] = {8,       64,      128,     256,      512,       1024,      2048,
                               4096,    8192,    32768,   65536,    131072,    262144,    524288,
                               1048576, 2097152, 8388608, 33554432, 134217728, 1073741824};
enum { SIZES = sizeof sizes / sizeof sizes[0] };
_Static_assert(SIZES <= AR_ADVICE_MAX, "an entry for each size");

/* The order of asking.  A root that is too slow at two of the first sizes is not asked about those
 * between. */
static const int order[SIZES] = {0, 9, 15, 18, 1,  2,  3,  4,  5,  6,
                                 7, 8, 10, 11, 12, 13, 14, 16, 17, 19};
enum { FIRST_SIZES = 4 };

/* An algorithm replaces that of the size before only if it is faster by this factor. */
#define WORTH_A_CHANGE 0.98

/* Longer segments must be faster by this factor to replace shorter ones.  So must anything that
 * replaces a ring of eager messages: where ranks share cores, asking the receiver costs more than
 * the model says, and so do more and shorter messages; and a long message holds up the others of
 * its connection (doc/performance.md, several hosts). */
#define WORTH_LONGER 0.97

/* Where nodes share hosts that have no core to spare, the latency of messages counts twice: they
 * also wait for turns of ranks and of the network's own work, which the model does not see.
 * Between two algorithms that keep the cores equally busy that decides (doc/design/model.md),
 * so those that are up to so many times as slow as the fastest are simulated, too.  A ring of eager
 * messages is exempt: its other segments use the cores while one waits. */
#define NEARLY_BEST 1.1

#define ELEMENT_BYTES ((size_t)8)

/* Candidates for one size that are simulated at once.  More of them are fewer waves, for which all
 * ranks wait. */
#define AT_ONCE ((size_t)8)

/* How many candidates of one size are asked about before their wave, at most, if there are helpers
 * for them. */
#define EARLY_AT_ONCE ((size_t)32)

/* A candidate that seems to win gets so many times the steps of an estimate, also with more than
 * 1000 ranks, so that none of them waits longer for it. */
#define MOST_ESTIMATES ((size_t)16)

/* An estimate leaves out some of what ranks wait for; rarely it is too long. */
#define ESTIMATE_AT_BEST  0.85
#define ESTIMATE_AT_WORST 1.2

/* How long the model may simulate. */
struct effort {
    size_t estimate;    /* steps of an estimate */
    double limit;       /* of an estimate: see struct ar_question */
    size_t all;         /* steps of all candidates that seem to win, together */
    size_t part;        /* one of them takes this part of the steps that are left, */
    size_t least, most; /* but at least and at most so many */
    size_t a_message;   /* steps that a message counts as */
};

/* --- the measure --- */

struct search {
    const struct ar_advice_request *request;
    const struct ar_advice_helpers *helpers; /* NULL: none */
    const size_t *sizes;                     /* nsizes, in bytes */
    int nsizes;
    size_t element_bytes;
    struct effort effort; /* what is left of it */
    struct ar_candidate_list list;
    struct ar_elimination at[SIZES];
    bool shares_hosts;
    double *waits; /* of each candidate at size after size: the part of its time that it waits */
    struct ar_compared *rows; /* ar_compare's, of the one size */
    /* What is asked at once: as many as there are candidates at all sizes, at most. */
    struct ar_advice_task *tasks;
    struct ar_advice_answer *answers;
    size_t ntasks;
    /* What was asked with many steps so far, each once, and some of it before its wave. */
    struct ar_advice_task *asked;
    struct ar_advice_answer *told;
    size_t nasked;
};

/* Do nodes share hosts that have no core to spare? */
static bool
hosts_are_shared(const struct ar_advice_request *r)
{
    return ar_machine_shares_hosts(r->machine) && ar_nodes_count(r->node_of, r->nranks) > 1;
}

int
ar_advise_candidates(struct ar_candidate_list *list, const struct ar_advice_request *request,
                     size_t bytes)
{
    const size_t nodes = (size_t)ar_nodes_count(request->node_of, request->nranks);
    const struct ar_machine *const m = request->machine;
    const bool is_known = m->ndomains > 0 && request->nranks <= m->ranks_per_node;
    const bool shares_memory = request->shares_memory && nodes == 1 && is_known;
    const struct ar_params map = {.node_of = request->node_of};
    const struct ar_nodes on = ar_nodes_make(0, request->nranks, &map);
    const struct ar_request call = {.bytes = bytes,
                                    .nranks = request->nranks,
                                    .commutative = !request->in_order,
                                    .nodes = nodes,
                                    .least_per_node = (size_t)ar_nodes_least(&on),
                                    .eager_bytes = m->network.eager_bytes,
                                    .shares_memory = shares_memory,
                                    .knows_lines = shares_memory,
                                    .is_scattered =
                                        !ar_nodes_are_blocks(request->node_of, request->nranks),
                                    .shares_hosts = hosts_are_shared(request)};
    return ar_candidates_init(list, &call, request->allowed);
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

static double *
waits_at(const struct search *s, size_t i, int size)
{
    return &s->waits[(size_t)size * s->list.n + i];
}

/* Longer messages have more segments: where some were simulated, their pace tells the time of all
 * longer ones, which wait for the same part of it.  is_last: it was simulated with many steps. */
static void
go_on(struct search *s, size_t i, int size, double pace, bool is_last)
{
    const size_t segment = s->list.of[i].choice.params.segment_bytes;
    const struct ar_standing *const known = &s->at[size].of[i];
    for (int next = size + 1; next < s->nsizes && pace > 0 && segment > 0; next++) {
        const struct ar_standing *const entry = &s->at[next].of[i];
        const double more = pace * (double)(s->sizes[next] - s->sizes[size]) / (double)segment;
        if (!entry->is_measured || (is_last && !entry->is_sure)) {
            *waits_at(s, i, next) = *waits_at(s, i, size);
            ar_elimination_note_bounds(&s->at[next], i, known->least + more, known->likely + more,
                                       is_last);
        }
    }
}

static int
predict(struct ar_prediction *p, const struct ar_advice_request *r, struct ar_choice choice,
        struct ar_question question)
{
    choice.params.node_of = r->node_of;
    question.machine = r->machine;
    question.choice = &choice;
    question.nranks = r->nranks;
    question.scratch_bytes = r->scratch_bytes;
    return ar_predict(p, &question);
}

struct ar_advice_answer
ar_advise_answer(const struct ar_advice_request *request, const struct ar_candidate_list *list,
                 const struct ar_advice_task *task)
{
    const struct ar_question question = {.count = task->bytes / ELEMENT_BYTES,
                                         .element_bytes = ELEMENT_BYTES,
                                         .most_steps = task->most_steps};
    struct ar_advice_answer answer;
    answer.error = predict(&answer.prediction, request, list->of[task->candidate].choice, question);
    return answer;
}

/* What a prediction says of candidate i, and of its longer messages. */
static void
take(struct search *s, size_t i, int size, const struct ar_prediction *p, bool is_last)
{
    struct effort *const effort = &s->effort;
    note(&s->at[size], i, p, is_last);
    *waits_at(s, i, size) = p->end.at > 0 ? p->end.parts[AR_PART_LATENCY] / p->end.at : 0;
    go_on(s, i, size, p->pace, is_last);
    const size_t steps = is_last ? effort->a_message * p->messages : 0;
    effort->all -= steps < effort->all ? steps : effort->all;
}

static void
search_fini(struct search *s)
{
    for (int size = 0; size < s->nsizes; size++)
        ar_elimination_fini(&s->at[size]);
    ar_candidates_fini(&s->list);
    free(s->tasks);
    free(s->answers);
    free(s->asked);
    free(s->told);
    free(s->waits);
}

/* native takes no part, nor do candidates at a size for which they are too short or too long. */
static int
search_init(struct search *s, size_t bytes)
{
    int error = ar_advise_candidates(&s->list, s->request, bytes);
    if (error)
        return error;
    const size_t most = s->list.n * (size_t)s->nsizes + 1;
    s->tasks = malloc(most * sizeof *s->tasks);
    s->answers = malloc(most * sizeof *s->answers);
    s->asked = malloc(most * sizeof *s->asked);
    s->told = malloc(most * sizeof *s->told);
    s->waits = calloc(most, sizeof *s->waits);
    s->shares_hosts = hosts_are_shared(s->request);
    error = s->tasks && s->answers && s->asked && s->told && s->waits ? AR_OK : AR_ERR_MEMORY;
    for (int size = 0; size < s->nsizes && !error; size++) {
        error = ar_elimination_init(&s->at[size], &ar_by_model, &s->list, s->list.n);
        if (s->shares_hosts)
            s->at[size].within = NEARLY_BEST;
        for (size_t i = 0; i < s->list.n && !error; i++)
            if (s->list.of[i].choice.kind != AR_CHOICE_ALGORITHM ||
                !ar_candidate_fits(&s->list.of[i], s->sizes[size]))
                ar_elimination_exclude(&s->at[size], i);
    }
    if (error)
        search_fini(s);
    return error;
}

/* --- advice for all sizes --- */

/* Leaves out the roots that are out at the first sizes on both sides. */
static void
exclude_slow(struct search *s, int size)
{
    int k = 0;
    while (k + 1 < FIRST_SIZES && order[k + 1] <= size)
        k++;
    const struct ar_elimination *const below = &s->at[order[k]];
    const struct ar_elimination *const above = &s->at[order[k + (k + 1 < FIRST_SIZES)]];
    for (size_t i = 0; i < s->list.n; i++)
        if (s->list.of[i].root == i && below->of[i].state == AR_STANDS_OUT &&
            above->of[i].state == AR_STANDS_OUT)
            ar_elimination_exclude(&s->at[size], i);
}

static int
ask(const struct search *s, const struct ar_advice_task *tasks, size_t n,
    struct ar_advice_answer *answers)
{
    if (s->helpers)
        return s->helpers->ask(s->helpers->context, tasks, n, answers);
    for (size_t k = 0; k < n; k++)
        answers[k] = ar_advise_answer(s->request, &s->list, &tasks[k]);
    return AR_OK;
}

static void
add_task(struct search *s, size_t i, int size, size_t most_steps)
{
    s->tasks[s->ntasks++] = (struct ar_advice_task){i, size, sizes[size], most_steps};
}

/* Takes the answers to all tasks of the wave.  is_last: the model is not asked about them again. */
static int
end_wave(struct search *s, bool is_last)
{
    int error = AR_OK;
    for (size_t k = 0; k < s->ntasks && !error; k++) {
        error = s->answers[k].error;
        if (!error)
            take(s, s->tasks[k].candidate, s->tasks[k].size, &s->answers[k].prediction, is_last);
    }
    s->ntasks = 0;
    return error;
}

/* Adds all that the size's estimates, a pass of them, are about. */
static void
add_pass(struct search *s, int size)
{
    struct ar_elimination *const e = &s->at[size];
    for (size_t i = ar_elimination_next(e); i < e->n; i++)
        if (e->of[i].state == AR_STANDS_IN && !e->of[i].is_measured)
            add_task(s, i, size, s->effort.estimate);
}

/* Estimates the roots at these sizes, and the variants of those that are not too slow. */
static int
estimate(struct search *s, const int *at, int n)
{
    for (;;) {
        for (int k = 0; k < n; k++)
            add_pass(s, at[k]);
        if (s->ntasks == 0)
            return AR_OK;
        int error = ask(s, s->tasks, s->ntasks, s->answers);
        if (!error)
            error = end_wave(s, false);
        if (error)
            return error;
    }
}

/* Adds the most promising at each size: of all sizes the first, then the second and the third, as
 * far as the effort goes. */
static void
add_promising(struct search *s)
{
    const size_t most = s->effort.all / s->effort.most;
    for (size_t k = 0; k < AT_ONCE; k++)
        for (int size = 0; size < SIZES && s->ntasks < (most > 0 ? most : 1); size++) {
            size_t which[AT_ONCE];
            if (ar_elimination_promising(&s->at[size], which, AT_ONCE) > k)
                add_task(s, which[k], size, s->effort.most);
        }
}

/* The index of the task among the first nasked that were asked; nasked if it is not one of them. */
static size_t
find_asked(const struct search *s, const struct ar_advice_task *task, size_t nasked)
{
    size_t k = 0;
    while (k < nasked &&
           (s->asked[k].candidate != task->candidate || s->asked[k].size != task->size))
        k++;
    return k;
}

/* Lists what the helpers are asked: the tasks of the wave that were not asked yet, and beside them,
 * so that no helper is idle, what seems to be next.  Returns the number of all that are asked then.
 */
static size_t
list_asked(struct search *s)
{
    const size_t at_once = s->helpers ? s->helpers->at_once : 0;
    size_t n = s->nasked;
    for (size_t k = 0; k < s->ntasks; k++)
        if (find_asked(s, &s->tasks[k], n) == n)
            s->asked[n++] = s->tasks[k];
    for (size_t k = 0; n > s->nasked && k < EARLY_AT_ONCE; k++)
        for (int size = 0; size < SIZES && n < s->nasked + at_once; size++) {
            size_t which[EARLY_AT_ONCE];
            if (ar_elimination_promising(&s->at[size], which, EARLY_AT_ONCE) <= k)
                continue;
            const struct ar_advice_task early = {which[k], size, sizes[size], s->effort.most};
            if (find_asked(s, &early, n) == n)
                s->asked[n++] = early;
        }
    return n;
}

/* Asks what is not known yet of the wave, and sets its answers. */
static int
ask_early(struct search *s)
{
    const size_t n = list_asked(s), first = s->nasked;
    if (n > first) {
        const int error = ask(s, s->asked + first, n - first, s->told + first);
        if (error)
            return error;
    }
    s->nasked = n;
    for (size_t k = 0; k < s->ntasks; k++)
        s->answers[k] = s->told[find_asked(s, &s->tasks[k], n)];
    return AR_OK;
}

/* Simulates them, until the best is known or the effort is spent. */
static int
simulate(struct search *s)
{
    int error = AR_OK;
    while (!error && s->effort.all > s->effort.estimate) {
        add_promising(s);
        if (s->ntasks == 0)
            break;
        error = ask_early(s);
        if (!error)
            error = end_wave(s, true);
    }
    return error;
}

static int
run(struct search *s)
{
    int error = estimate(s, order, FIRST_SIZES);
    for (int k = FIRST_SIZES; k < SIZES && !error; k++)
        exclude_slow(s, order[k]);
    if (!error)
        error = estimate(s, order + FIRST_SIZES, SIZES - FIRST_SIZES);
    return error ? error : simulate(s);
}

/* --- what is best --- */

static double
time_at(const struct search *s, size_t i, int size)
{
    return s->at[size].of[i].likely;
}

/* The time by which candidates are compared. */
static double
cost_at(const struct search *s, size_t i, int size)
{
    const double time = time_at(s, i, size);
    if (!s->shares_hosts || s->list.of[i].is_eager)
        return time;
    return time * (1 + *waits_at(s, i, size)) / WORTH_LONGER;
}

/* The best at a size, or the one before it where that is hardly slower. */
static size_t
winner(const struct search *s, int size, size_t before)
{
    const struct ar_candidate *const of = s->list.of;
    const bool stays = before < s->list.n && ar_candidate_fits(&of[before], s->sizes[size]);
    size_t best = stays ? before : s->list.n;
    double time = stays ? cost_at(s, before, size) * WORTH_A_CHANGE : INFINITY;
    for (size_t i = 0; i < s->list.n; i++) {
        const size_t than = best < s->list.n ? of[best].choice.params.segment_bytes : 0;
        const bool is_longer =
            than > 0 && of[i].root == of[best].root && of[i].choice.params.segment_bytes > than;
        if (s->at[size].of[i].state == AR_STANDS_IN &&
            cost_at(s, i, size) < time * (is_longer ? WORTH_LONGER : 1)) {
            best = i;
            time = cost_at(s, i, size);
        }
    }
    return best;
}

/* Bytes up to which the one candidate is faster, between two sizes; a round number, unless one
 * of them is no candidate there. */
static size_t
crossing(const struct search *s, size_t one, size_t other, int size)
{
    const double lead = cost_at(s, other, size - 1) - cost_at(s, one, size - 1);
    const double lag = cost_at(s, one, size) - cost_at(s, other, size);
    const double from = (double)sizes[size - 1], to = (double)sizes[size];
    double at = sqrt(from * to);
    if (lead >= 0 && lead < INFINITY && lag > 0 && lag < INFINITY)
        at = from + (to - from) * lead / (lead + lag);
    size_t unit = 1;
    while ((double)unit * 16 < at)
        unit *= 2;
    const size_t round = (size_t)(at / (double)unit) * unit;
    const size_t least = s->list.of[other].bytes_min, most = s->list.of[one].bytes_max;
    return round < least ? least - 1 : round > most ? most : round;
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
ar_advise(struct ar_advice *advice, const struct ar_advice_request *request,
          const struct ar_advice_helpers *helpers)
{
    struct search s = {.request = request,
                       .helpers = helpers,
                       .sizes = sizes,
                       .nsizes = SIZES,
                       .effort = {.estimate = request->most_steps,
                                  .all = 1024 * request->most_steps,
                                  .most = MOST_ESTIMATES * request->most_steps,
                                  .a_message = 3}}; /* to send, to receive, to reduce */
    int error = search_init(&s, SIZE_MAX);
    if (error)
        return error;
    error = run(&s);
    if (!error)
        conclude(advice, &s);
    search_fini(&s);
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

/* Asks about a candidate: first for an estimate, and with many steps when it is asked again. */
static int
measure(struct search *s, size_t i)
{
    struct effort *const effort = &s->effort;
    const bool is_last = s->at[0].of[i].is_measured;
    const size_t part = effort->all / effort->part;
    const size_t many = part > effort->most    ? effort->most
                        : part < effort->least ? effort->least
                                               : part;
    const struct ar_question question = {.count = s->sizes[0] / s->element_bytes,
                                         .element_bytes = s->element_bytes,
                                         .most_steps = is_last ? many : effort->estimate,
                                         .limit = is_last ? 0 : effort->limit};
    s->rows[i].choice = s->list.of[i].choice;
    const int error = predict(&s->rows[i].prediction, s->request, s->list.of[i].choice, question);
    if (!error)
        take(s, i, 0, &s->rows[i].prediction, is_last);
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
    struct search s = {.request = request,
                       .sizes = &bytes,
                       .nsizes = 1,
                       .element_bytes = element_bytes,
                       .effort = {.estimate = AR_PREDICT_STEPS / 32,
                                  .limit = DBL_MIN,
                                  .all = AR_PREDICT_STEPS * 2,
                                  .part = 4,
                                  .least = AR_PREDICT_STEPS / 32,
                                  .most = AR_PREDICT_STEPS / 2,
                                  .a_message = 1}};
    int error = search_init(&s, bytes);
    if (error)
        return error;
    struct ar_elimination *const e = &s.at[0];
    e->within = 3;
    s.rows = calloc(e->n + 1, sizeof *s.rows);
    error = s.rows ? AR_OK : AR_ERR_MEMORY;
    for (size_t i; !error && (i = ar_elimination_next(e)) < e->n;)
        error = measure(&s, i);
    if (!error) {
        *rows = s.rows;
        *n = 0;
        for (size_t i = 0; i < e->n; i++)
            if (e->of[i].is_measured)
                s.rows[(*n)++] = s.rows[i];
        qsort(s.rows, *n, sizeof *s.rows, compare_times);
    } else {
        free(s.rows);
    }
    search_fini(&s);
    return error;
}
