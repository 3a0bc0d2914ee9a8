#include "config.h"

#include "cli/study.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "report/report.h"
#include "select/trials.h"

/* Three rounds: who is slower than the fastest by such a factor leaves after the first two. */
#define FACTOR_FIRST  1.6
#define FACTOR_SECOND 1.25
#define FINALISTS     6 /* beside native and what is kept */
#define VARIED        3 /* how many algorithms show their variants */
#define NOISE_LEAST   0.05

static const struct stage {
    int repetitions;
    double share; /* of the time */
} stages[] = {{5, 0.3}, {7, 0.25}, {21, 0.45}};

/* --- timings --- */

/* Of the quicker half alone: what disturbs a machine makes calls slower, by any factor. */
static struct ar_timing
timing_of(const struct ar_entrant *e, int repetitions)
{
    const int n = repetitions;
    const double noise = e->median > 0 ? 1 - e->times[n / 4] / e->median : 0;
    return (struct ar_timing){e->median, noise > NOISE_LEAST ? noise : NOISE_LEAST};
}

bool
ar_timing_is_slower(const struct ar_timing *a, const struct ar_timing *b)
{
    const double noise = a->noise > b->noise ? a->noise : b->noise;
    return a->seconds > b->seconds * (1 + noise);
}

/* --- the ranks --- */

struct ar_place_of_ranks
ar_study_places(void)
{
    struct ar_place_of_ranks places;
    MPI_Comm local;
    int rank, nranks;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &local);
    MPI_Comm_rank(local, &rank);
    MPI_Comm_size(local, &nranks);
    MPI_Comm_free(&local);
    const int is_first = rank == 0;
    MPI_Allreduce(&is_first, &places.nodes, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&nranks, &places.per_node, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return places;
}

static struct ar_request
request_of(const struct ar_contest *contest, size_t count, const struct ar_place_of_ranks *places)
{
    return (struct ar_request){
        .bytes = count * contest->reduction.size,
        .nranks = contest->nranks,
        .commutative = true,
        .shares_memory = places->nodes == 1 && contest->nranks > 1,
        .op = contest->reduction.which,
        .type = contest->reduction.type_class,
        .nodes = (size_t)places->nodes,
        .per_node = (size_t)places->per_node,
    };
}

/* --- who takes part --- */

void
ar_study_begin(struct ar_contest *contest)
{
    contest->silent = true;
    ar_contest_drop(contest, 1);
}

static void
clear(struct ar_contest *contest)
{
    while (contest->nentrants > 1)
        ar_contest_drop(contest, contest->nentrants - 1);
}

static bool
takes_part(const struct ar_contest *contest, const struct ar_choice *choice)
{
    char text[AR_CHOICE_TEXT];
    ar_choice_print(choice, text, sizeof text);
    for (size_t i = 0; i < contest->nentrants; i++)
        if (strcmp(contest->entrants[i].label, text) == 0)
            return true;
    return false;
}

/* Enters what the list has and is not there; the list goes. */
static int
enter(struct ar_contest *contest, struct ar_trial_list *list)
{
    int status = AR_EXIT_DONE;
    for (size_t i = 0; i < list->n && !status; i++)
        if (!takes_part(contest, &list->choices[i]))
            status = ar_contest_add_choice(contest, &list->choices[i]);
    ar_trials_fini(list);
    return status;
}

static int
enter_trials(struct ar_contest *contest, enum ar_trials which, const struct ar_request *request,
             const struct ar_algorithm *row)
{
    struct ar_trial_list list;
    if (ar_trials_list(&list, which, request, NULL, row)) {
        ar_say("out of memory");
        return AR_EXIT_FAILED;
    }
    return enter(contest, &list);
}

/* Those from first on, that are no slower than i. */
static size_t
place_of(const struct ar_contest *contest, size_t first, size_t i)
{
    size_t place = 0;
    for (size_t k = first; k < contest->nentrants; k++)
        place += contest->entrants[k].median < contest->entrants[i].median ||
                 (k < i && contest->entrants[k].median <= contest->entrants[i].median);
    return place;
}

static size_t
fastest(const struct ar_contest *contest, size_t first)
{
    size_t best = first;
    for (size_t i = first; i < contest->nentrants; i++)
        if (contest->entrants[i].median < contest->entrants[best].median)
            best = i;
    return best;
}

/* Out goes who is slow or not among the first ones; not before kept, nor who is called keep. */
static void
thin_out(struct ar_contest *contest, size_t kept, double factor, size_t most, const char *keep)
{
    const double limit = factor * contest->entrants[fastest(contest, 0)].median;
    bool *const stays = calloc(contest->nentrants, sizeof *stays);
    for (size_t i = 0; stays && i < contest->nentrants; i++) {
        const struct ar_entrant *const e = &contest->entrants[i];
        stays[i] = i < kept || strcmp(e->label, keep) == 0 ||
                   (e->least <= limit && place_of(contest, kept, i) < most);
    }
    for (size_t i = contest->nentrants; stays && i-- > 0;)
        if (!stays[i])
            ar_contest_drop(contest, i);
    free(stays);
}

/* Enters the variants of the fastest algorithms. */
static int
enter_variants(struct ar_contest *contest, size_t kept, const struct ar_request *request)
{
    const struct ar_algorithm *rows[VARIED] = {NULL};
    int status = AR_EXIT_DONE;
    for (size_t i = kept; i < contest->nentrants; i++) {
        const size_t place = place_of(contest, kept, i);
        if (place < VARIED)
            rows[place] = contest->entrants[i].pick->choice.algorithm;
    }
    for (int k = 0; k < VARIED && rows[k] && !status; k++)
        status = enter_trials(contest, AR_TRIALS_VARIANTS, request, rows[k]);
    return status;
}

/* --- rounds --- */

static int
run_stage(struct ar_contest *contest, size_t count, double seconds, const struct stage *stage)
{
    const struct ar_contest_round round = {
        .count = count,
        .place = AR_OUT_OF_PLACE,
        .repetitions = stage->repetitions,
        .seconds = seconds * stage->share,
    };
    if (!ar_contest_run(contest, &round))
        return AR_EXIT_DONE;
    for (size_t i = 0; contest->rank == 0 && i < contest->nentrants; i++)
        if (contest->entrants[i].wrong)
            ar_say("%s gave a WRONG RESULT on %zu elements", contest->entrants[i].label, count);
    return AR_EXIT_FAILED;
}

/* All three; the first kept entrants are there already, and stay. */
static int
run_stages(struct ar_contest *contest, size_t kept, const struct ar_request *request, size_t count,
           double seconds, const char *keep)
{
    int status = enter_trials(contest, AR_TRIALS_ALL, request, NULL);
    if (!status)
        status = run_stage(contest, count, seconds, &stages[0]);
    if (status)
        return status;
    thin_out(contest, kept, FACTOR_FIRST, SIZE_MAX, keep);
    const size_t before = contest->nentrants;
    status = enter_variants(contest, kept, request);
    if (!status && contest->nentrants > before)
        status = run_stage(contest, count, seconds, &stages[1]);
    if (status)
        return status;
    thin_out(contest, kept, FACTOR_SECOND, FINALISTS, keep);
    return run_stage(contest, count, seconds, &stages[2]);
}

static struct ar_choice
choice_of(const struct ar_entrant *e)
{
    return e->pick ? e->pick->choice : (struct ar_choice){.kind = AR_CHOICE_NATIVE};
}

/* The entrant with this label, or the fastest where there is none or it is slower. */
static size_t
settle(const struct ar_contest *contest, const char *preferred)
{
    const int n = stages[2].repetitions;
    const size_t best = fastest(contest, 0);
    const struct ar_timing least = timing_of(&contest->entrants[best], n);
    for (size_t i = 0; i < contest->nentrants; i++) {
        const struct ar_timing time = timing_of(&contest->entrants[i], n);
        if (strcmp(contest->entrants[i].label, preferred) == 0 &&
            !ar_timing_is_slower(&time, &least))
            return i;
    }
    return best;
}

static void
find(struct ar_finding *found, const struct ar_contest *contest, size_t chosen)
{
    const int n = stages[2].repetitions;
    size_t next = chosen == 0 && contest->nentrants > 1 ? 1 : 0;
    for (size_t i = 0; i < contest->nentrants; i++)
        if (i != chosen && contest->entrants[i].median < contest->entrants[next].median)
            next = i;
    found->choice = choice_of(&contest->entrants[chosen]);
    found->time = timing_of(&contest->entrants[chosen], n);
    found->native = timing_of(&contest->entrants[0], n);
    found->next = choice_of(&contest->entrants[next]);
    found->next_time = timing_of(&contest->entrants[next], n);
}

int
ar_study_size(struct ar_finding *found, struct ar_contest *contest, size_t count, double seconds,
              const struct ar_choice *preferred, const struct ar_place_of_ranks *places)
{
    const struct ar_request request = request_of(contest, count, places);
    const unsigned picks = contest->npicks;
    struct ar_choice own;
    char label[AR_CHOICE_TEXT];
    clear(contest);
    if (!preferred && ar_auto_choose(&own, &request, NULL))
        return AR_EXIT_FAILED;
    ar_choice_print(preferred ? preferred : &own, label, sizeof label);
    int status = AR_EXIT_DONE;
    if (preferred && !takes_part(contest, preferred))
        status = ar_contest_add_choice(contest, preferred);
    if (!status)
        status = run_stages(contest, 1, &request, count, seconds, label);
    if (status)
        return status;
    /* Once is chance: what is to replace the preferred one wins twice. */
    if (strcmp(contest->entrants[settle(contest, label)].label, label) != 0)
        status = run_stage(contest, count, seconds, &stages[2]);
    if (status)
        return status;
    found->bytes = request.bytes;
    found->tried = contest->npicks - picks + 1;
    find(found, contest, settle(contest, label));
    return AR_EXIT_DONE;
}

/* What rules choose.  AR_OK, AR_ERR_SYNTAX or AR_ERR_MEMORY. */
static int
choose(struct ar_choice *choice, const char *text, const struct ar_request *request)
{
    struct ar_problem problem;
    struct ar_rules *rules;
    int error = ar_rules_parse(&rules, text, &problem);
    if (error)
        return error;
    const struct ar_choice *const match = ar_rules_match(rules, request, NULL);
    if (match && match->kind != AR_CHOICE_AUTO)
        *choice = *match;
    else
        error = ar_auto_choose(choice, request, NULL);
    ar_rules_destroy(rules);
    return error;
}

static size_t
find_label(const struct ar_contest *contest, const char *label)
{
    size_t i = 0;
    while (i + 1 < contest->nentrants && strcmp(contest->entrants[i].label, label) != 0)
        i++;
    return i;
}

int
ar_study_compare(struct ar_comparison *found, struct ar_contest *contest, const char *rules,
                 size_t count, double seconds, const struct ar_place_of_ranks *places)
{
    const struct ar_request request = request_of(contest, count, places);
    struct ar_choice choice;
    struct ar_finding best;
    clear(contest);
    if (choose(&choice, rules, &request))
        return AR_EXIT_FAILED;
    ar_choice_print(&choice, found->ran, sizeof found->ran);
    int status = AR_EXIT_DONE;
    if (!takes_part(contest, &choice))
        status = ar_contest_add_choice(contest, &choice);
    if (!status)
        status = run_stages(contest, 1, &request, count, seconds, found->ran);
    if (status)
        return status;
    find(&best, contest, find_label(contest, found->ran));
    if (ar_timing_is_slower(&best.time, &best.next_time)) { /* once is chance */
        status = run_stage(contest, count, seconds, &stages[2]);
        find(&best, contest, find_label(contest, found->ran));
    }
    if (status)
        return status;
    found->bytes = request.bytes;
    found->rules = best.time;
    found->native = best.native;
    ar_choice_print(&best.next, found->best, sizeof found->best);
    found->best_time = best.next_time;
    return AR_EXIT_DONE;
}
