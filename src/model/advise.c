#include "model/advise.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/nodes.h"
#include "select/names.h"

/* Sizes between which times are taken to be straight lines; twice the length of each cut is one. */
static const size_t sizes[] = {8,      128,     1024,    8192,     32768,     131072,
                               524288, 2097152, 8388608, 33554432, 134217728, 1073741824};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

/* Rows are asked about these first; who is much slower than the best at two is not asked about
 * those between. */
static const int heats[] = {0, 4, 7, 10};
enum { HEATS = sizeof heats / sizeof heats[0] };
#define MUCH_SLOWER 2.5

/* A new algorithm must be faster by that. */
#define WORTH_A_CHANGE 0.98

/* Longer segments must be by that: longer messages have to be asked for, and hold up the others of
 * their connection, which costs more than the model says where ranks share cores
 * (doc/performance.md, several hosts). */
#define WORTH_LONGER 0.97

/* What messages are cut into, where a row does not say itself; tried on those of two and more. */
static const struct {
    size_t segment_bytes;
    int window;
} cuts[] = {{65536, 4}, {262144, 4}, {1048576, 2}, {1048576, 4}};
enum { CUTS = sizeof cuts / sizeof cuts[0] };

/* --- candidates --- */

static bool
may_serve(const struct ar_advice_request *request, size_t row)
{
    const struct ar_algorithm *const a = ar_algorithm_at(row);
    return !a->shares_memory && (a->keeps_order || !request->in_order) &&
           (!request->allowed || request->allowed[row]);
}

/* What serves short messages, and is not cut: how often to halve, in groups of how many to
 * exchange. */
static const int halvings[] = {1, 2, 3, 4};
static const int radices[] = {2, 3, 8};
enum {
    HALVINGS = sizeof halvings / sizeof halvings[0],
    RADICES = sizeof radices / sizeof radices[0]
};

static void
add_short(struct ar_candidate *all, size_t *n, const struct ar_choice *choice)
{
    const unsigned takes = choice->algorithm->takes;
    for (int i = 0; i < HALVINGS && takes & AR_TAKES_HALVINGS; i++) {
        all[*n] = (struct ar_candidate){*choice, *n};
        all[(*n)++].choice.params.halvings = halvings[i];
    }
    for (int i = 0; i < RADICES && takes & AR_TAKES_RADIX; i++) {
        all[*n] = (struct ar_candidate){*choice, *n};
        all[(*n)++].choice.params.radix = radices[i];
    }
}

/* The choice uncut, and cut. */
static void
add(struct ar_candidate *all, size_t *n, const struct ar_choice *choice)
{
    const size_t uncut = *n;
    all[(*n)++] = (struct ar_candidate){*choice, uncut};
    for (int k = 0; k < CUTS; k++)
        if (choice->params.segment_bytes != cuts[k].segment_bytes) {
            all[*n] = all[uncut];
            all[*n].choice.params.segment_bytes = cuts[k].segment_bytes;
            all[(*n)++].choice.params.window = cuts[k].window;
        }
}

/* What may run between nodes, beneath all lanes or one. */
static const char *const inner[] = {"butterfly", "rhd", "circulant", "ring"};
static const int lanes[] = {0, 1};
enum { INNER = sizeof inner / sizeof inner[0], LANES = sizeof lanes / sizeof lanes[0] };

static void
add_levels(struct ar_candidate *all, size_t *n, const struct ar_choice *choice)
{
    for (int i = 0; i < INNER; i++)
        for (int k = 0; k < LANES; k++) {
            struct ar_choice levels = *choice;
            levels.params.inter = ar_algorithm_find(inner[i], strlen(inner[i]));
            levels.params.lanes = lanes[k];
            add(all, n, &levels);
        }
}

/* Several nodes, and several ranks on one. */
static bool
has_nodes(const struct ar_advice_request *request)
{
    const int nodes = ar_nodes_count(request->node_of, request->nranks);
    return nodes > 1 && nodes < request->nranks;
}

struct ar_candidate *
ar_candidates(const struct ar_advice_request *request, size_t *n)
{
    const size_t rows = ar_algorithm_count();
    const size_t most = (rows + INNER * LANES) * (1 + CUTS) + rows * (HALVINGS + RADICES);
    struct ar_candidate *const all = calloc(most, sizeof *all);
    *n = 0;
    for (size_t i = 0; all && i < rows; i++) {
        if (!may_serve(request, i))
            continue;
        struct ar_choice choice = ar_choice_default(ar_algorithm_at(i));
        choice.params.node_of = request->node_of;
        if (!(choice.algorithm->takes & AR_TAKES_INTER)) {
            add(all, n, &choice);
            add_short(all, n, &choice);
        } else if (has_nodes(request))
            add_levels(all, n, &choice);
    }
    return all;
}

/* --- times --- */

/* What is known of a candidate at a size. */
struct guess {
    double time; /* ns; INFINITY: not asked */
    enum { BOUND, GUESSED, SIMULATED } kind;
    bool is_checked; /* no more can be known */
};

/* A guess leaves out some of what ranks wait for; rarely it is too long. */
#define GUESS_AT_BEST  0.85
#define GUESS_AT_WORST 1.2

struct race {
    const struct ar_advice_request *request;
    struct ar_candidate *all;
    size_t n;
    struct guess (*guesses)[SIZES]; /* of each candidate */
    size_t steps_left;              /* for those who seem to win */
};

static bool
is_segmented(const struct ar_candidate *c)
{
    return c->choice.params.segment_bytes > 0;
}

/* Longer messages are more segments of a row of which some were simulated. */
static void
go_on(struct race *race, size_t candidate, int size, const struct ar_prediction *p)
{
    if (p->pace <= 0 || !is_segmented(&race->all[candidate]))
        return;
    const struct guess *const known = &race->guesses[candidate][size];
    const double segment = (double)race->all[candidate].choice.params.segment_bytes;
    for (int next = size + 1; next < SIZES; next++) {
        struct guess *const guess = &race->guesses[candidate][next];
        const double more = (double)(sizes[next] - sizes[size]) / segment;
        if (!guess->is_checked)
            *guess = (struct guess){known->time + p->pace * more, known->kind, known->is_checked};
    }
}

/* Elements of 8 bytes, or bytes where there are fewer. */
static int
ask(struct race *race, size_t candidate, int size, size_t most_steps, struct ar_prediction *p)
{
    const struct ar_advice_request *const r = race->request;
    const struct ar_question question = {.machine = r->machine,
                                         .choice = &race->all[candidate].choice,
                                         .nranks = r->nranks,
                                         .count = sizes[size] / 8,
                                         .element_bytes = 8,
                                         .scratch_bytes = r->scratch_bytes,
                                         .most_steps = most_steps};
    const int error = ar_predict(p, &question);
    struct guess *const guess = &race->guesses[candidate][size];
    guess->time = p->end.at;
    guess->kind = p->quality == AR_QUALITY_ESTIMATE    ? BOUND
                  : p->quality == AR_QUALITY_SIMULATED ? SIMULATED
                                                       : GUESSED;
    guess->is_checked = guess->kind == SIMULATED && p->simulated == p->nsegments;
    return error;
}

/* A first guess, in few steps. */
static int
guess(struct race *race, size_t candidate, int size)
{
    struct ar_prediction p;
    if (race->guesses[candidate][size].time < INFINITY)
        return AR_OK;
    const int error = ask(race, candidate, size, race->request->most_steps, &p);
    if (!error)
        go_on(race, candidate, size, &p);
    return error;
}

/* What to count with; INFINITY: nobody knows. */
static double
time_at(const struct race *race, size_t candidate, int size)
{
    const struct guess *const guess = &race->guesses[candidate][size];
    switch (guess->kind) {
    case SIMULATED:
        return guess->time;
    case GUESSED:
        return guess->time * GUESS_AT_WORST;
    default:
        return INFINITY;
    }
}

/* What it may turn out to be. */
static double
promise(const struct race *race, size_t candidate, int size)
{
    const struct guess *const guess = &race->guesses[candidate][size];
    return guess->is_checked ? time_at(race, candidate, size) : guess->time * GUESS_AT_BEST;
}

static double
best_at(const struct race *race, int size)
{
    double best = INFINITY;
    for (size_t i = 0; i < race->n; i++)
        best = fmin(best, time_at(race, i, size));
    return best;
}

/* At the heats on both sides of a size? */
static bool
is_out(const struct race *race, size_t candidate, int size)
{
    int h = 0;
    while (h + 1 < HEATS && heats[h + 1] <= size)
        h++;
    for (int last = h + 1 < HEATS && heats[h] < size ? h + 1 : h; h <= last; h++)
        if (race->guesses[candidate][heats[h]].time <= MUCH_SLOWER * best_at(race, heats[h]))
            return false;
    return true;
}

static int
run_heats(struct race *race)
{
    int error = AR_OK;
    for (int h = 0; h < HEATS && !error; h++)
        for (size_t i = 0; i < race->n && !error; i++)
            if (race->all[i].uncut == i)
                error = guess(race, i, heats[h]);
    return error;
}

/* All sizes, of those who are left; cut ones where they are cut. */
static int
run_finals(struct race *race)
{
    int error = AR_OK;
    for (size_t i = 0; i < race->n && !error; i++) {
        const size_t segment = race->all[i].choice.params.segment_bytes;
        const bool is_row = race->all[i].uncut == i;
        for (int size = 0; size < SIZES && !error; size++)
            if ((is_row || (is_segmented(&race->all[i]) && sizes[size] >= 2 * segment)) &&
                !is_out(race, race->all[i].uncut, size))
                error = guess(race, i, size);
    }
    return error;
}

/* --- those who seem to win --- */

/* All of them take so many times the steps of a first guess, one of them a part of what is left. */
#define STEPS_TO_CHECK 1024
#define PART_OF_STEPS  8

#define STEPS_A_MESSAGE 3 /* to send, to receive, to reduce */

static size_t
most_promising(const struct race *race, int size)
{
    size_t most = 0;
    for (size_t i = 1; i < race->n; i++)
        if (promise(race, i, size) < promise(race, most, size))
            most = i;
    return most;
}

/* First guesses see less than all that ranks wait for: who seems to win is looked at again, until
 * the first is sure. */
static int
check_first(struct race *race, int size)
{
    int error = AR_OK;
    while (!error && race->n > 0 && race->steps_left > race->request->most_steps) {
        struct ar_prediction p;
        const size_t first = most_promising(race, size);
        if (race->guesses[first][size].is_checked)
            break;
        error = ask(race, first, size, race->steps_left / PART_OF_STEPS, &p);
        race->guesses[first][size].is_checked = true;
        if (!error)
            go_on(race, first, size, &p);
        const size_t steps = STEPS_A_MESSAGE * p.messages;
        race->steps_left -= steps < race->steps_left ? steps : race->steps_left;
    }
    return error;
}

/* --- advice --- */

/* The same row in longer segments? */
static bool
is_longer(const struct race *race, size_t candidate, size_t than)
{
    return than < race->n && race->all[candidate].uncut == race->all[than].uncut &&
           is_segmented(&race->all[than]) &&
           race->all[candidate].choice.params.segment_bytes >
               race->all[than].choice.params.segment_bytes;
}

/* The best at a size, or the one before it where that is hardly slower. */
static size_t
winner(const struct race *race, int size, size_t before)
{
    size_t best = before;
    double time = before < race->n ? time_at(race, before, size) * WORTH_A_CHANGE : INFINITY;
    for (size_t i = 0; i < race->n; i++)
        if (time_at(race, i, size) < time * (is_longer(race, i, best) ? WORTH_LONGER : 1)) {
            best = i;
            time = time_at(race, i, size);
        }
    return best;
}

/* Bytes up to which the one candidate is faster, between two sizes; a round number. */
static size_t
crossing(const struct race *race, size_t one, size_t other, int size)
{
    const double lead = time_at(race, other, size - 1) - time_at(race, one, size - 1);
    const double lag = time_at(race, one, size) - time_at(race, other, size);
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
settle(struct ar_advice *advice, const struct race *race)
{
    size_t last = race->n;
    advice->n = 0;
    for (int size = 0; size < SIZES; size++) {
        const size_t i = winner(race, size, last);
        if (i == race->n)
            return;
        if (i != last && size > 0)
            advice->entries[advice->n - 1].bytes = crossing(race, last, i, size);
        if (i != last)
            advice->entries[advice->n++] = (struct ar_advice_entry){
                SIZE_MAX, race->all[i].choice, sizes[size], time_at(race, i, size)};
        last = i;
    }
}

static void
forget(struct race *race)
{
    for (size_t i = 0; i < race->n; i++)
        for (int size = 0; size < SIZES; size++)
            race->guesses[i][size] = (struct guess){.time = INFINITY};
}

_Static_assert(SIZES <= AR_ADVICE_MAX, "an entry for each size");

int
ar_advise(struct ar_advice *advice, const struct ar_advice_request *request)
{
    struct race race = {.request = request, .steps_left = STEPS_TO_CHECK * request->most_steps};
    race.all = ar_candidates(request, &race.n);
    race.guesses = race.all ? malloc((race.n + 1) * sizeof *race.guesses) : NULL;
    int error = race.guesses ? AR_OK : AR_ERR_MEMORY;
    if (!error) {
        forget(&race);
        error = run_heats(&race);
    }
    if (!error)
        error = run_finals(&race);
    for (int size = 0; size < SIZES && !error; size++)
        error = check_first(&race, size);
    if (!error)
        settle(advice, &race);
    free(race.all);
    free(race.guesses);
    return error;
}

char *
ar_advice_rules(const struct ar_advice *advice)
{
    char *text = NULL;
    size_t length, from = 0;
    FILE *const out = open_memstream(&text, &length);
    if (!out)
        return NULL;
    for (int i = 0; i < advice->n; i++) {
        const struct ar_advice_entry *const e = &advice->entries[i];
        char name[AR_CHOICE_TEXT], first[AR_SIZE_TEXT], last[AR_SIZE_TEXT];
        fprintf(out, "%s%s:%s-%s", i ? ";" : "", ar_choice_print(&e->choice, name, sizeof name),
                ar_size_print(from, first, sizeof first),
                ar_size_print(e->bytes, last, sizeof last));
        from = e->bytes + 1;
    }
    const int failed = ferror(out);
    if (fclose(out) || failed) {
        free(text);
        return NULL;
    }
    return text;
}
