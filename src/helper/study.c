#include "config.h"

#include "helper/study.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cores/cpus.h"
#include "report/clock.h"
#include "report/say.h"

/* A visit in the last passes, in which nothing is dropped, gets 3 shares of the time, an earlier
 * one 2. */
#define FINAL_SHARE 3
#define FIRST_SHARE 2
#define BATCHES     3   /* of each candidate in a visit */
#define PLANNED     0.9 /* of a visit's time, for them; it also judges and warms up */

/* How much faster something must be to refute a choice, and in which part of the passes: more than
 * to replace it (ar_by_clock), for a study repeated has other times. */
#define REFUTE_MARGIN 0.05
#define REFUTE_SHARE  (3.0 / 4)

/* --- the ranks --- */

struct ar_place_of_ranks
ar_study_places(MPI_Comm comm)
{
    struct ar_place_of_ranks places;
    MPI_Comm local;
    int rank, last[2]; /* the last rank of the node, and less the first */
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &local);
    MPI_Comm_rank(local, &places.local_rank);
    MPI_Comm_size(local, &places.local_ranks);
    MPI_Comm_rank(comm, &rank);
    MPI_Allreduce((const int[]){rank, -rank}, last, 2, MPI_INT, MPI_MAX, local);
    MPI_Comm_free(&local);
    const int is_first = places.local_rank == 0;
    const int has_gap = last[0] + last[1] + 1 > places.local_ranks;
    int gaps;
    MPI_Allreduce(&is_first, &places.nodes, 1, MPI_INT, MPI_SUM, comm);
    MPI_Allreduce(&places.local_ranks, &places.per_node, 1, MPI_INT, MPI_MAX, comm);
    MPI_Allreduce(&has_gap, &gaps, 1, MPI_INT, MPI_MAX, comm);
    places.is_scattered = gaps > 0;
    return places;
}

/* The system leaves ranks that share cores where they are.  So they are bound to random cores, and
 * then set free again. */
static int
deal(const struct ar_place_of_ranks *places, uint64_t seed)
{
    const size_t n = (size_t)places->local_ranks;
    struct ar_cpus all, one = {{0}};
    if (!ar_cpus_of_thread(&all) || (int)n <= ar_cpus_count(&all))
        return AR_EXIT_DONE;
    size_t *const order = malloc(n * sizeof *order);
    if (!order)
        return AR_EXIT_FAILED;
    ar_shuffle(order, n, seed);
    int left = (int)(order[places->local_rank] % (size_t)ar_cpus_count(&all));
    int cpu = ar_cpus_next(&all, -1);
    free(order);
    while (left-- > 0)
        cpu = ar_cpus_next(&all, cpu);
    ar_cpus_add(&one, cpu);
    ar_cpus_bind_thread(&one);
    ar_cpus_bind_thread(&all);
    return AR_EXIT_DONE;
}

/* --- candidates --- */

static int
out_of_memory(void)
{
    ar_say("out of memory");
    return AR_EXIT_FAILED;
}

int
ar_study_init(struct ar_study *study, struct ar_measurement *m,
              const struct ar_place_of_ranks *places, const size_t *bytes, size_t n)
{
    const struct ar_reduction *const r = &m->reduction;
    *study = (struct ar_study){
        .measurement = m, .places = *places, .visits = (size_t)ar_by_clock.passes * n};
    ar_measurement_clear(m);
    study->sizes = calloc(n, sizeof *study->sizes);
    study->order = calloc(n, sizeof *study->order);
    if (!study->sizes || !study->order)
        return out_of_memory();
    for (study->nsizes = 0; study->nsizes < n; study->nsizes++) {
        struct ar_study_size *const size = &study->sizes[study->nsizes];
        const size_t count = bytes[study->nsizes] / r->size;
        size->bytes = bytes[study->nsizes];
        size->weight = 1;
        size->count = count > INT_MAX ? INT_MAX : count;
        size->request = (struct ar_request){.bytes = size->count * r->size,
                                            .nranks = m->nranks,
                                            .commutative = true,
                                            .shares_memory = places->nodes == 1 && m->nranks > 1,
                                            .op = r->which,
                                            .type = r->type_class,
                                            .nodes = (size_t)places->nodes,
                                            .per_node = (size_t)places->per_node,
                                            .is_scattered = places->is_scattered};
    }
    return AR_EXIT_DONE;
}

void
ar_study_fini(struct ar_study *study)
{
    for (size_t i = 0; i < study->nsizes; i++) {
        ar_elimination_fini(&study->sizes[i].search);
        ar_candidates_fini(&study->sizes[i].list);
        free(study->sizes[i].seconds);
    }
    free(study->sizes);
    free(study->order);
}

static size_t
native_of(const struct ar_candidate_list *list)
{
    size_t native = 0;
    while (list->of[native].choice.kind != AR_CHOICE_NATIVE)
        native++;
    return native;
}

/* Native stays, too: what everything is compared with is measured as well as the best. */
int
ar_study_keep(struct ar_study_size *size, const struct ar_choice *choice)
{
    size_t kept;
    if (ar_candidates_init(&size->list, &size->request, NULL) ||
        ar_candidates_add(&size->list, &kept, choice) ||
        ar_elimination_init(&size->search, &ar_by_clock, &size->list, kept))
        return out_of_memory();
    ar_elimination_keep(&size->search, native_of(&size->list));
    size->seconds = calloc(size->list.n, sizeof *size->seconds);
    return size->seconds ? AR_EXIT_DONE : out_of_memory();
}

int
ar_study_keep_pair(struct ar_study_size *size, const struct ar_choice *choice,
                   const struct ar_choice *rival)
{
    size_t pair[2];
    if (ar_candidates_init(&size->list, &size->request, NULL) ||
        ar_candidates_add(&size->list, &pair[0], choice) ||
        ar_candidates_add(&size->list, &pair[1], rival))
        return out_of_memory();
    size->list.of[pair[1]].is_first = true;
    if (ar_elimination_init(&size->search, &ar_by_clock, &size->list, pair[0]))
        return out_of_memory();
    ar_elimination_keep(&size->search, pair[1]);
    for (size_t i = 0; i < size->list.n; i++)
        if (i != pair[0] && i != pair[1])
            ar_elimination_exclude(&size->search, i);
    size->seconds = calloc(size->list.n, sizeof *size->seconds);
    return size->seconds ? AR_EXIT_DONE : out_of_memory();
}

/* --- visits --- */

bool
ar_study_next(struct ar_study *study)
{
    const size_t n = study->nsizes, number = study->visits_begun;
    if (number == study->visits)
        return false;
    if (number % n == 0)
        ar_shuffle(study->order, n, number);
    study->visits_begun++;
    study->pass = (int)(number / n);
    study->now = &study->sizes[study->order[number % n]];
    return true;
}

static int
weight_of(int pass)
{
    return pass < ar_by_clock.nfactors ? FIRST_SHARE : FINAL_SHARE;
}

/* What the visit may take of the seconds that are left for all to come. */
static double
share_of(const struct ar_study *study, double seconds)
{
    const size_t begun = (study->visits_begun - 1) % study->nsizes;
    double left = 0, all = 0;
    for (size_t i = 0; i < study->nsizes; i++) {
        all += study->sizes[i].weight;
        left += i >= begun ? study->sizes[study->order[i]].weight : 0;
    }
    left *= weight_of(study->pass);
    for (int pass = study->pass + 1; pass < ar_by_clock.passes; pass++)
        left += all * weight_of(pass);
    return seconds * study->now->weight * weight_of(study->pass) / left;
}

bool
ar_study_has(const struct ar_study_size *size, size_t i)
{
    return size->search.of[i].state == AR_STANDS_IN;
}

/* Runs the candidates that order names; those that were measured before are known to be right. */
static int
run(struct ar_study *study, const size_t *order, size_t n, double seconds, uint64_t deadline_ns)
{
    struct ar_measurement *const m = study->measurement;
    struct ar_study_size *const size = study->now;
    const struct ar_study_cold *const cold = &study->cold;
    const bool is_cold = study->pass % 2 && cold->short_bytes > 0,
               is_long = size->bytes > cold->short_bytes;
    const struct ar_workload work = {.count = size->count,
                                     .place = size->request.place,
                                     .repetitions = BATCHES,
                                     .seconds = seconds,
                                     .deadline_ns = deadline_ns,
                                     .rotate_bytes = !is_cold  ? 0
                                                     : is_long ? cold->long_bytes
                                                               : cold->short_bytes,
                                     .fresh = is_cold && is_long};
    int status = AR_EXIT_DONE;
    for (size_t i = 0; i < n && !status; i++) {
        status = ar_measurement_add_choice(m, &size->list.of[order[i]].choice);
        if (!status)
            m->measured[i].is_judged = size->search.of[order[i]].likely < INFINITY;
    }
    if (!status && ar_measurement_run(m, &work))
        status = AR_EXIT_FAILED;
    if (!status && (m->interrupted || m->batches == 0))
        status = AR_EXIT_INTERRUPTED;
    for (size_t i = 0; i < m->nmeasured; i++) {
        const struct ar_outcome *const o = &m->measured[i].outcome;
        size->seconds[order[i]] = o->us.median * 1e-6;
        if (m->speaks && o->wrong)
            ar_say("%s gave a WRONG RESULT on %zu elements", m->measured[i].label, size->count);
    }
    ar_measurement_clear(m);
    return status;
}

int
ar_study_measure(struct ar_study *study, double seconds)
{
    struct ar_study_size *const size = study->now;
    const uint64_t seed = study->visits_begun - 1;
    size_t *const order = malloc(size->list.n * sizeof *order), n = 0;
    if (!order || deal(&study->places, seed)) {
        free(order);
        return out_of_memory();
    }
    ar_shuffle(order, size->list.n, seed);
    for (size_t i = 0; i < size->list.n; i++)
        if (ar_study_has(size, order[i]))
            order[n++] = order[i];
    const uint64_t deadline_ns = ar_clock_system_ns() + (uint64_t)(seconds * 1e9);
    const int status = run(study, order, n, PLANNED * share_of(study, seconds), deadline_ns);
    free(order);
    return status;
}

void
ar_study_advance(struct ar_study *study)
{
    struct ar_study_size *const size = study->now;
    for (size_t i = 0; i < size->list.n; i++)
        if (ar_study_has(size, i))
            ar_elimination_note(&size->search, i, size->seconds[i]);
    ar_elimination_next(&size->search); /* ends the pass */
}

/* --- findings --- */

/* All values begin anew after the scouting, so a study that was interrupted just there has only the
 * median. */
static struct ar_estimate
time_of(const struct ar_study_size *size, size_t i)
{
    const struct ar_values *const values = &size->search.of[i].values;
    if (values->n == 0)
        return (struct ar_estimate){size->search.of[i].likely, NAN, NAN, NAN};
    return ar_values_estimate(values);
}

/* Fills what was found of the chosen candidate, and of next, the best of the others. */
static void
tell(struct ar_winner *found, const struct ar_study_size *size, size_t chosen, size_t next)
{
    const size_t other = next < size->list.n ? next : chosen;
    const size_t native = native_of(&size->list), kept = size->search.incumbent;
    *found = (struct ar_winner){.bytes = size->bytes,
                                .choice = size->list.of[chosen].choice,
                                .time = time_of(size, chosen),
                                .native = time_of(size, native),
                                .next = size->list.of[other].choice,
                                .next_time = time_of(size, other),
                                .kept = size->list.of[kept].choice,
                                .kept_time = time_of(size, kept),
                                .gain = {0, 0, 0, 0}};
    if (chosen != kept)
        found->gain =
            ar_values_gain(&size->search.of[chosen].values, &size->search.of[kept].values);
}

bool
ar_winner_is_known(const struct ar_winner *found)
{
    return isfinite(found->time.median);
}

void
ar_study_find(struct ar_winner *found, const struct ar_study_size *size,
              const struct ar_choice *preferred)
{
    const struct ar_elimination *const e = &size->search;
    const double margin = ar_by_clock.margin, share = ar_by_clock.share;
    const size_t best = ar_elimination_fastest(e, e->n);
    size_t chosen = best < e->n ? ar_elimination_winner(e) : e->incumbent;
    for (size_t i = 0; i < e->n && preferred && chosen == best; i++)
        if (ar_choice_equals(&size->list.of[i].choice, preferred) &&
            ar_elimination_beats(e, i, e->incumbent, margin, share) &&
            !ar_elimination_beats(e, best, i, margin, share))
            chosen = i;
    tell(found, size, chosen, ar_elimination_fastest(e, chosen));
}

void
ar_study_find_rival(struct ar_winner *found, const struct ar_study_size *size)
{
    const size_t rival = ar_elimination_fastest(&size->search, size->search.incumbent);
    const size_t kept = size->search.incumbent;
    tell(found, size, rival < size->list.n ? rival : kept, kept);
}

void
ar_study_compare(struct ar_winner *found, const struct ar_study_size *size)
{
    const struct ar_elimination *const e = &size->search;
    size_t winner = e->n;
    for (size_t i = 0; i < e->n; i++)
        if (ar_elimination_beats(e, i, e->incumbent, REFUTE_MARGIN, REFUTE_SHARE) &&
            (winner == e->n || e->of[i].likely < e->of[winner].likely))
            winner = i;
    tell(found, size, e->incumbent,
         winner < e->n ? winner : ar_elimination_fastest(e, e->incumbent));
    found->is_beaten = winner < e->n && ar_estimates_are_sure(&found->time, &found->next_time) &&
                       !ar_estimates_tie(&found->time, &found->next_time);
}
