#include "config.h"

#include "cli/study.h"

#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "report/report.h"
#include "select/trials.h"

#define FINALISTS   6 /* beside what stays */
#define VARIED      3 /* how many algorithms show their variants */
#define FINALS      11
#define FINAL_SHARE 3 /* of the time, where a scouting visit has 2 */
#define BATCHES     3 /* of each candidate in a visit */

/* How much faster a choice must be than another, and in which part of the passes: to replace it,
 * and to refute it, which is more, for a study repeated has other times. */
static const struct bar {
    double margin, share;
} to_replace = {0.02, 2.0 / 3}, to_refute = {0.05, 3.0 / 4};

/* The passes before the finals: who was slower, at its best, than the fastest by such a factor
 * leaves. */
static const struct scouting {
    double factor;
    size_t most;        /* stay in */
    bool then_variants; /* enter */
} scouting[] = {{4, SIZE_MAX, false},   {2, SIZE_MAX, false},   {1.6, SIZE_MAX, true},
                {1.8, SIZE_MAX, false}, {1.5, SIZE_MAX, false}, {1.3, FINALISTS, false}};

enum { SCOUTINGS = sizeof scouting / sizeof scouting[0], PASSES = SCOUTINGS + FINALS };

/* --- the ranks --- */

struct ar_place_of_ranks
ar_study_places(void)
{
    struct ar_place_of_ranks places;
    MPI_Comm local;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &local);
    MPI_Comm_rank(local, &places.local_rank);
    MPI_Comm_size(local, &places.local_ranks);
    MPI_Comm_free(&local);
    const int is_first = places.local_rank == 0;
    MPI_Allreduce(&is_first, &places.nodes, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&places.local_ranks, &places.per_node, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return places;
}

/* The system leaves ranks that share cores where they are: they are put on cores
 * by chance, and then it is free again to move them. */
static int
deal(const struct ar_place_of_ranks *places, uint64_t seed)
{
    const size_t n = (size_t)places->local_ranks;
    cpu_set_t all, one;
    CPU_ZERO(&one);
    if (sched_getaffinity(0, sizeof all, &all) || (int)n <= CPU_COUNT(&all))
        return AR_EXIT_DONE;
    size_t *const order = malloc(n * sizeof *order);
    if (!order)
        return AR_EXIT_FAILED;
    ar_shuffle(order, n, seed);
    int left = (int)(order[places->local_rank] % (size_t)CPU_COUNT(&all)), cpu = 0;
    free(order);
    while (!CPU_ISSET(cpu, &all) || left-- > 0)
        cpu++;
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    sched_setaffinity(0, sizeof all, &all);
    return AR_EXIT_DONE;
}

static struct ar_request
request_of(const struct ar_study *study, size_t count)
{
    const struct ar_reduction *const r = &study->contest->reduction;
    return (struct ar_request){
        .bytes = count * r->size,
        .nranks = study->contest->nranks,
        .commutative = true,
        .shares_memory = study->places.nodes == 1 && study->contest->nranks > 1,
        .op = r->which,
        .type = r->type_class,
        .nodes = (size_t)study->places.nodes,
        .per_node = (size_t)study->places.per_node,
    };
}

/* --- candidates --- */

static int
out_of_memory(void)
{
    ar_say("out of memory");
    return AR_EXIT_FAILED;
}

static struct ar_candidate *
find_candidate(const struct ar_field *field, const char *label)
{
    for (size_t i = 0; i < field->n; i++)
        if (strcmp(field->of[i].label, label) == 0)
            return &field->of[i];
    return NULL;
}

/* Enters what is not there; NULL without memory. */
static struct ar_candidate *
enter(struct ar_field *field, const struct ar_choice *choice)
{
    char label[AR_CHOICE_TEXT];
    ar_choice_print(choice, label, sizeof label);
    struct ar_candidate *const there = find_candidate(field, label);
    struct ar_candidate *const more =
        there ? field->of : reallocarray(field->of, field->n + 1, sizeof *more);
    if (there || !more)
        return there;
    field->of = more;
    more[field->n] = (struct ar_candidate){.choice = *choice, .is_in = true};
    memcpy(more[field->n].label, label, sizeof label);
    return &more[field->n++];
}

static int
enter_trials(struct ar_field *field, enum ar_trials which, const struct ar_algorithm *row)
{
    struct ar_trial_list list;
    bool entered = true;
    if (ar_trials_list(&list, which, &field->request, NULL, row))
        return out_of_memory();
    for (size_t i = 0; i < list.n && entered; i++)
        entered = enter(field, &list.choices[i]) != NULL;
    ar_trials_fini(&list);
    return entered ? AR_EXIT_DONE : out_of_memory();
}

static void
dismiss(struct ar_contest *contest)
{
    while (contest->nentrants > 0)
        ar_contest_drop(contest, contest->nentrants - 1);
}

int
ar_study_init(struct ar_study *study, struct ar_contest *contest,
              const struct ar_place_of_ranks *places, const size_t *bytes, size_t n)
{
    int status = AR_EXIT_DONE;
    *study = (struct ar_study){.contest = contest, .places = *places};
    contest->silent = true;
    dismiss(contest);
    study->fields = calloc(n, sizeof *study->fields);
    study->order = calloc(n, sizeof *study->order);
    if (!study->fields || !study->order)
        return out_of_memory();
    for (study->nfields = 0; study->nfields < n && !status; study->nfields++) {
        struct ar_field *const field = &study->fields[study->nfields];
        const size_t count = bytes[study->nfields] / contest->reduction.size;
        field->bytes = bytes[study->nfields];
        field->count = count < 1 ? 1 : count > INT_MAX ? INT_MAX : count;
        field->request = request_of(study, field->count);
        status = enter_trials(field, AR_TRIALS_ALL, NULL);
    }
    return status;
}

void
ar_study_fini(struct ar_study *study)
{
    for (size_t i = 0; i < study->nfields; i++)
        free(study->fields[i].of);
    free(study->fields);
    free(study->order);
}

int
ar_study_keep(struct ar_study *study, size_t size, const struct ar_choice *choice)
{
    struct ar_candidate *const kept = enter(&study->fields[size], choice);
    if (!kept)
        return out_of_memory();
    kept->stays = true;
    return AR_EXIT_DONE;
}

/* --- visits --- */

size_t
ar_study_visits(const struct ar_study *study)
{
    return PASSES * study->nfields;
}

bool
ar_study_next(struct ar_study *study, struct ar_visit *visit)
{
    const size_t n = study->nfields;
    if (study->visits == ar_study_visits(study))
        return false;
    if (study->visits % n == 0)
        ar_shuffle(study->order, n, study->visits);
    visit->number = study->visits++;
    visit->pass = (int)(visit->number / n);
    visit->size = study->order[visit->number % n];
    return true;
}

static int
weight_of(int pass)
{
    return pass < SCOUTINGS ? 2 : FINAL_SHARE;
}

double
ar_study_share(const struct ar_study *study, const struct ar_visit *visit, double seconds)
{
    const size_t left = study->nfields - visit->number % study->nfields;
    double weight = (double)left * weight_of(visit->pass);
    for (int pass = visit->pass + 1; pass < PASSES; pass++)
        weight += (double)study->nfields * weight_of(pass);
    return seconds * weight_of(visit->pass) / weight;
}

/* Their places, shuffled; those that are in alone.  Malloced; NULL without memory. */
static size_t *
draw(const struct ar_field *field, size_t *n, uint64_t seed)
{
    size_t *const order = malloc(field->n * sizeof *order);
    *n = 0;
    if (!order)
        return NULL;
    ar_shuffle(order, field->n, seed);
    for (size_t i = 0; i < field->n; i++)
        if (field->of[order[i]].is_in)
            order[(*n)++] = order[i];
    return order;
}

static int
run(struct ar_contest *contest, struct ar_field *field, const size_t *order, size_t n,
    double seconds)
{
    const struct ar_contest_round round = {
        .count = field->count,
        .place = AR_OUT_OF_PLACE,
        .repetitions = BATCHES,
        .seconds = seconds,
    };
    int status = AR_EXIT_DONE;
    for (size_t i = 0; i < n && !status; i++) {
        status = ar_contest_add_choice(contest, &field->of[order[i]].choice);
        if (!status)
            contest->entrants[i].is_judged = field->of[order[i]].is_judged;
    }
    if (!status && ar_contest_run(contest, &round))
        status = AR_EXIT_FAILED;
    for (size_t i = 0; i < contest->nentrants; i++) {
        field->of[order[i]].seconds = contest->entrants[i].median;
        if (contest->rank == 0 && contest->entrants[i].wrong)
            ar_say("%s gave a WRONG RESULT on %zu elements", contest->entrants[i].label,
                   field->count);
    }
    return status;
}

int
ar_study_measure(struct ar_study *study, const struct ar_visit *visit, double seconds)
{
    struct ar_field *const field = &study->fields[visit->size];
    size_t n;
    size_t *const order = draw(field, &n, visit->number);
    int status = order ? deal(&study->places, visit->number) : AR_EXIT_FAILED;
    if (status)
        status = out_of_memory();
    else
        status = run(study->contest, field, order, n, seconds);
    dismiss(study->contest);
    free(order);
    return status;
}

/* --- who goes on --- */

static double
median_of(const struct ar_candidate *c)
{
    return ar_passes_median(&c->passes);
}

static const struct ar_candidate *
fastest(const struct ar_field *field, const struct ar_candidate *beside)
{
    const struct ar_candidate *best = NULL;
    for (size_t i = 0; i < field->n; i++) {
        const struct ar_candidate *const c = &field->of[i];
        if (c != beside && c->is_in && (!best || median_of(c) < median_of(best)))
            best = c;
    }
    return best;
}

/* How many are faster. */
static size_t
place_of(const struct ar_field *field, const struct ar_candidate *c)
{
    size_t place = 0;
    for (size_t i = 0; i < field->n; i++) {
        const struct ar_candidate *const other = &field->of[i];
        place += other->is_in && (median_of(other) < median_of(c) ||
                                  (other < c && median_of(other) <= median_of(c)));
    }
    return place;
}

/* A disturbance makes calls slower, by any factor: the best pass speaks for a candidate. */
static void
thin_out(struct ar_field *field, const struct scouting *by)
{
    const double limit = by->factor * median_of(fastest(field, NULL));
    bool *const leaves = calloc(field->n, sizeof *leaves);
    for (size_t i = 0; leaves && i < field->n; i++) {
        const struct ar_candidate *const c = &field->of[i];
        leaves[i] = c->is_in && !c->stays &&
                    (ar_passes_least(&c->passes) > limit || place_of(field, c) >= by->most);
    }
    for (size_t i = 0; leaves && i < field->n; i++)
        field->of[i].is_in &= !leaves[i];
    free(leaves);
}

/* Those of the fastest algorithms, and of the one that stays. */
static int
enter_variants(struct ar_field *field)
{
    const struct ar_algorithm *rows[VARIED + 1] = {NULL};
    int status = AR_EXIT_DONE;
    for (size_t i = 0; i < field->n; i++) {
        const struct ar_candidate *const c = &field->of[i];
        const size_t place = c->is_in ? place_of(field, c) : VARIED;
        if (place < VARIED)
            rows[place] = c->choice.algorithm; /* native has none */
        if (c->stays)
            rows[VARIED] = c->choice.algorithm;
    }
    for (int k = 0; k <= VARIED && !status; k++)
        status = rows[k] ? enter_trials(field, AR_TRIALS_VARIANTS, rows[k]) : AR_EXIT_DONE;
    return status;
}

int
ar_study_advance(struct ar_study *study, const struct ar_visit *visit)
{
    struct ar_field *const field = &study->fields[visit->size];
    for (size_t i = 0; i < field->n; i++) {
        struct ar_candidate *const c = &field->of[i];
        if (c->is_in && visit->pass == SCOUTINGS)
            c->passes.n = 0;
        if (c->is_in)
            ar_passes_add(&c->passes, c->seconds);
        c->is_judged = true;
    }
    if (visit->pass >= SCOUTINGS)
        return AR_EXIT_DONE;
    thin_out(field, &scouting[visit->pass]);
    return scouting[visit->pass].then_variants ? enter_variants(field) : AR_EXIT_DONE;
}

/* --- findings --- */

static struct ar_timing
timing_of(const struct ar_candidate *c)
{
    return (struct ar_timing){median_of(c), ar_passes_noise(&c->passes)};
}

static void
find(struct ar_finding *found, const struct ar_field *field, const struct ar_candidate *chosen,
     const struct ar_candidate *next)
{
    found->bytes = field->bytes;
    found->choice = chosen->choice;
    found->time = timing_of(chosen);
    found->native = timing_of(find_candidate(field, "native"));
    found->next = next ? next->choice : chosen->choice;
    found->next_time = next ? timing_of(next) : found->time;
}

static const struct ar_candidate *
find_kept(const struct ar_field *field)
{
    size_t i = 0;
    while (!field->of[i].stays)
        i++;
    return &field->of[i];
}

static bool
wins(const struct ar_candidate *a, const struct ar_candidate *b, const struct bar *bar)
{
    return a->is_in && ar_passes_won(&a->passes, &b->passes, bar->margin) >= bar->share;
}

void
ar_study_find(struct ar_finding *found, const struct ar_study *study, size_t size,
              const struct ar_choice *preferred)
{
    const struct ar_field *const field = &study->fields[size];
    const struct ar_candidate *const kept = find_kept(field), *const best = fastest(field, NULL);
    const struct ar_candidate *chosen = wins(best, kept, &to_replace) ? best : kept, *other = NULL;
    char label[AR_CHOICE_TEXT];
    if (preferred)
        other = find_candidate(field, ar_choice_print(preferred, label, sizeof label));
    if (chosen == best && other && wins(other, kept, &to_replace) &&
        !wins(best, other, &to_replace))
        chosen = other;
    find(found, field, chosen, fastest(field, chosen));
    found->is_beaten = false;
}

void
ar_study_compare(struct ar_finding *found, const struct ar_study *study, size_t size)
{
    const struct ar_field *const field = &study->fields[size];
    const struct ar_candidate *const kept = find_kept(field), *winner = NULL;
    for (size_t i = 0; i < field->n; i++) {
        const struct ar_candidate *const c = &field->of[i];
        if (wins(c, kept, &to_refute) && (!winner || median_of(c) < median_of(winner)))
            winner = c;
    }
    find(found, field, kept, winner ? winner : fastest(field, kept));
    found->is_beaten = winner != NULL;
}
