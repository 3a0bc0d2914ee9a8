#include <config.h>

#include "communicator/tuner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/nodes.h"
#include "communicator/decide.h"
#include "communicator/forecast.h"
#include "communicator/tuned_rules.h"
#include "execute/group.h"
#include "select/number.h"
#include "tuning/online.h"

/* One size and class.  Where only rivals are tried, the first candidate is what the configuration
 * says of each call, and it is alone, without picks, until the first agreement. */
struct ar_tuned {
    struct ar_tuned *next;
    struct ar_tuned_rule rule; /* what it settled on last; for which calls is known before */
    size_t bytes;              /* of its first call */
    struct ar_candidate_list list;
    struct ar_pick *picks; /* owned; of each candidate */
    struct ar_online online;
};

struct ar_tuner {
    struct ar_tuned *first;
    unsigned npicks;     /* numbers given so far */
    struct ar_pick call; /* of the agreement; its number is 0 before the first one */
    struct ar_reduction max;
    struct ar_budget budget, told; /* what of it the dump knows */
    bool gives_up;                 /* ranks share cores, so no rival is tried.  Agreed */
};

/* What the ranks agree on. */
struct agreement {
    struct ar_online_times times;
    int64_t shares_cores; /* whether those of some node do */
};

static const char trying[] = "tuning";

static bool
tries_all(const struct ar_communicator *c)
{
    return c->config->tune == AR_TUNE_ONLINE;
}

/* --- life --- */

struct ar_tuner *
ar_tuner_create(const struct ar_communicator *c)
{
    struct ar_tuner *const tuner = calloc(1, sizeof *tuner);
    if (!tuner)
        return NULL;
    tuner->budget.percent = c->config->tune_overhead;
    if (!ar_reduction_resolve(&tuner->max, MPI_MAX, MPI_INT64_T)) {
        free(tuner);
        return NULL;
    }
    return tuner;
}

static void
destroy_tuned(struct ar_tuned *t)
{
    ar_online_fini(&t->online);
    ar_candidates_fini(&t->list);
    free(t->picks);
    free(t);
}

void
ar_tuner_destroy(struct ar_tuner *tuner)
{
    if (!tuner)
        return;
    for (struct ar_tuned *t = tuner->first, *next; t; t = next) {
        next = t->next;
        destroy_tuned(t);
    }
    free(tuner);
}

/* The candidates for the request, of which choice, which runs here now, is the incumbent. */
static int
list_all(struct ar_tuned *t, size_t *first, const struct ar_communicator *c,
         const struct ar_request *request, const struct ar_choice *choice)
{
    const int error = ar_candidates_init(&t->list, request, c->config->allowed);
    return error ? error : ar_candidates_add(&t->list, first, choice);
}

/* Auto's choice, which may stay alone: many communicators make few calls. */
static int
list_one(struct ar_tuned *t, size_t *first, const struct ar_choice *choice)
{
    t->list.of = calloc(1, sizeof *t->list.of);
    t->list.room = t->list.of ? 1 : 0;
    return t->list.of ? ar_candidates_add(&t->list, first, choice) : AR_ERR_MEMORY;
}

/* The list is complete. */
static int
make_picks(struct ar_tuned *t, const struct ar_communicator *c, size_t first)
{
    if (ar_online_enter(&t->online, &t->list, first))
        return MPI_ERR_NO_MEM;
    t->picks = calloc(t->list.n, sizeof *t->picks);
    for (size_t i = 0; t->picks && i < t->list.n; i++)
        t->picks[i] =
            (struct ar_pick){++c->choice.tuner->npicks, t->list.of[i].choice, trying, true};
    return t->picks ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

/* Native and what formulas propose next join auto's choice.  Collective over comm. */
static int
add_rivals(struct ar_tuned *t, struct ar_communicator *c, MPI_Comm comm)
{
    static const struct ar_choice native = {.kind = AR_CHOICE_NATIVE};
    const struct ar_request request = {.bytes = t->bytes, .nranks = c->nranks};
    struct ar_rules *rivals;
    size_t which;
    const int failed = ar_model_rivals(c, comm, &rivals, !t->rule.commutative);
    int error = failed ? AR_OK : ar_candidates_add(&t->list, &which, &native);
    for (size_t i = 0; rivals && i < rivals->nclauses && !error; i++)
        if (ar_clause_matches(&rivals->clauses[i], &request))
            error = ar_candidates_add(&t->list, &which, &rivals->clauses[i].choice);
    ar_rules_destroy(rivals);
    return failed ? failed : error ? MPI_ERR_NO_MEM : make_picks(t, c, 0);
}

/* A search for calls of r like this one of so many bytes, for which choice runs now.  request: all
 * candidates that serve it are tried; NULL: rivals, which are found out later.  Returns NULL
 * without memory. */
static struct ar_tuned *
add_tuned(struct ar_communicator *c, const struct ar_reduction *r, size_t bytes,
          const struct ar_choice *choice, const struct ar_request *request)
{
    size_t first;
    struct ar_tuned *const t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->bytes = bytes;
    t->rule = (struct ar_tuned_rule){.bin = ar_size_bin(bytes),
                                     .nranks = c->nranks,
                                     .type = r->type_class,
                                     .commutative = r->commutative};
    ar_online_init(&t->online, &c->choice.tuner->budget, c->nranks);
    if (request ? list_all(t, &first, c, request, choice) || make_picks(t, c, first)
                : list_one(t, &first, choice)) {
        destroy_tuned(t);
        return NULL;
    }
    t->next = c->choice.tuner->first;
    c->choice.tuner->first = t;
    return t;
}

/* Collective at the first call of all, which finds out about the ranks' places. */
static struct ar_tuned *
create_tuned(struct ar_communicator *c, MPI_Comm comm, const struct ar_reduction *r, size_t count,
             struct ar_request *request, int *error)
{
    const struct ar_decision *const now =
        ar_communicator_decide_on(c, comm, r, count, AR_OUT_OF_PLACE, NULL, error);
    if (!now)
        return NULL;
    request->shares_memory = c->memory.grades[AR_MEMORY_SHORT].state == AR_ENGINE_READY;
    request->nodes = c->messages.carriage.node_of
                         ? (size_t)ar_nodes_count(c->messages.carriage.node_of, c->nranks)
                         : 1;
    request->is_scattered = c->messages.carriage.node_of &&
                            !ar_nodes_are_blocks(c->messages.carriage.node_of, c->nranks);
    struct ar_tuned *const t = add_tuned(c, r, request->bytes, &now->choice, request);
    *error = t ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    return t;
}

static struct ar_tuned *
find(const struct ar_tuner *tuner, const struct ar_reduction *r, unsigned bin)
{
    struct ar_tuned *t = tuner->first;
    while (t && (t->rule.bin != bin || t->rule.type != r->type_class ||
                 t->rule.commutative != r->commutative))
        t = t->next;
    return t;
}

/* --- the next call --- */

const struct ar_pick *
ar_tuner_pick(struct ar_communicator *c, MPI_Comm comm, struct ar_tuned **tuned,
              const struct ar_reduction *r, size_t count, enum ar_place place, int *error)
{
    struct ar_request request;
    struct ar_rules *const *const rules = c->config->rules;
    struct ar_tuned *t = find(c->choice.tuner, r, ar_size_bin(count * r->size));
    *tuned = NULL;
    *error = MPI_SUCCESS;
    if (!tries_all(c) && (!t || !r->named || c->choice.tuner->gives_up))
        return NULL;
    if (!t || rules[AR_SOURCE_ALGO] || rules[AR_SOURCE_PROGRAM] || rules[AR_SOURCE_FILE]) {
        *error = ar_request_describe(c, comm, &request, r, count, place);
        const struct ar_choice *clause = *error ? NULL : ar_config_clause(c->config, &request);
        if (*error || (clause && clause->kind != AR_CHOICE_AUTO) || r->size == 0)
            return NULL;
    }
    if (!t)
        t = create_tuned(c, comm, r, count, &request, error);
    if (!t)
        return NULL;
    if (tries_all(c) || !ar_online_is_settled(&t->online)) /* rivals are tried once */
        *tuned = t;
    const size_t turn = ar_online_turn(&t->online);
    return tries_all(c) || turn > 0 ? &t->picks[turn] : NULL;
}

/* Are rivals tried only where no ranks of a node share cores?  Where they do, one call of an MPI
 * library that does not yield takes as long as thousands of ours. */
static bool
minds_cores(const struct ar_communicator *c)
{
    return c->config->tune == AR_TUNE_RIVALS;
}

/* Is d auto's, and a prediction?  Only types and ops that all ranks name alike count, so that all
 * come to the same conclusion.  Whether ranks of several nodes share cores is known only after the
 * first agreement. */
static bool
is_doubtful(const struct ar_communicator *c, const struct ar_decision *d,
            const struct ar_reduction *r)
{
    return c->config->tune != AR_TUNE_OFF && !tries_all(c) && c->nranks > 1 && r->named &&
           d->key.keeps == AR_DETERMINISM_NONE && d->choice.kind == AR_CHOICE_ALGORITHM &&
           (!d->clause || d->clause->kind == AR_CHOICE_AUTO) &&
           (d->node
                ? c->nranks > AR_RANKS_PLANNED_AT_ONCE && !(minds_cores(c) && d->node->is_crowded)
                : d->runner == AR_RUN_MESSAGES) &&
           !ar_config_has_list(c->config);
}

int
ar_tuner_doubt(struct ar_communicator *c, struct ar_tuned **tuned, const struct ar_decision *d,
               const struct ar_reduction *r, size_t count)
{
    const size_t bytes = count * r->size;
    if (!is_doubtful(c, d, r) || (c->choice.tuner && c->choice.tuner->gives_up))
        return MPI_SUCCESS;
    if (!c->choice.tuner)
        c->choice.tuner = ar_tuner_create(c);
    if (!c->choice.tuner)
        return MPI_ERR_NO_MEM;
    if (find(c->choice.tuner, r, ar_size_bin(bytes)))
        return MPI_SUCCESS;
    *tuned = add_tuned(c, r, bytes, &d->choice, NULL);
    /* Recent calls may belong to it, too: all ranks find out at the same call. */
    ar_recent_forget(&c->choice.recents, NULL);
    return *tuned ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

bool
ar_tuned_is_settled(const struct ar_tuned *tuned)
{
    return !ar_online_is_trying(&tuned->online);
}

bool
ar_tuned_counts(struct ar_tuned *tuned)
{
    return ar_online_counts(&tuned->online);
}

/* --- the verdicts --- */

#define NNUMBERS (sizeof(struct agreement) / sizeof(int64_t))

static void
turn_signs(struct ar_online_times *times)
{
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < AR_ONLINE_BATCH; i++)
            times->pairs[side][i] = -times->pairs[side][i];
}

/* What carries the times: what is fast here, as far as one knows. */
static int
choose_call(struct ar_communicator *c)
{
    struct ar_pick *const call = &c->choice.tuner->call;
    const struct ar_request request = {.bytes = sizeof(struct agreement),
                                       .nranks = c->nranks,
                                       .commutative = true,
                                       .shares_memory = c->memory.grades[AR_MEMORY_SHORT].state ==
                                                        AR_ENGINE_READY};
    call->number = ++c->choice.tuner->npicks;
    call->reason = trying;
    return ar_auto_select(&call->choice, &request, c->config->allowed) ? MPI_ERR_NO_MEM
                                                                       : MPI_SUCCESS;
}

/* The numbers become the greatest of all ranks.  If only rivals are tried there are few agreements,
 * for which a plan for shared memory would cost more than it saves. */
static int
take_greatest(struct ar_communicator *c, MPI_Comm comm, struct agreement *numbers)
{
    struct ar_tuner *const tuner = c->choice.tuner;
    if (!tries_all(c) && c->memory.grades[AR_MEMORY_SHORT].state == AR_ENGINE_READY)
        return ar_reduce_all(numbers, NNUMBERS, MPI_INT64_T, MPI_MAX, comm);
    int error = tuner->call.number == 0 ? choose_call(c) : MPI_SUCCESS;
    if (error)
        return error;
    tuner->max.comm = comm;
    struct ar_decision *const d = ar_communicator_decide_on(c, comm, &tuner->max, NNUMBERS,
                                                            AR_OUT_OF_PLACE, &tuner->call, &error);
    if (!d)
        return error;
    return d->runner == AR_RUN_NATIVE
               ? ar_reduce_all(numbers, NNUMBERS, MPI_INT64_T, MPI_MAX, comm)
               : ar_communicator_run(c, comm, d, &tuner->max, numbers, numbers, NNUMBERS);
}

/* The greatest times of all ranks; the least of the pairs, since these go with the other sign. */
static int
agree(struct ar_communicator *c, MPI_Comm comm, struct agreement *numbers)
{
    turn_signs(&numbers->times);
    const int error = take_greatest(c, comm, numbers);
    turn_signs(&numbers->times);
    return error;
}

/* Tells the result, and writes it down where it was asked for. */
static void
settle(const struct ar_communicator *c, struct ar_tuned *t)
{
    const struct ar_online *const o = &t->online;
    struct ar_pick *const pick = &t->picks[o->incumbent];
    struct ar_tuned_rule *const rule = &t->rule;
    char gain[AR_NUMBER_TEXT];
    ar_number_print(o->gain, gain, sizeof gain);
    if (!tries_all(c))
        snprintf(rule->reason, sizeof rule->reason, "%s won by %sx",
                 pick->choice.algorithm ? pick->choice.algorithm->name : "native", gain);
    else if (o->incumbent == o->first)
        snprintf(rule->reason, sizeof rule->reason, "tuned online: tried %zu, stayed", o->tried);
    else
        snprintf(rule->reason, sizeof rule->reason, "tuned online: tried %zu, won by %sx", o->tried,
                 gain);
    rule->choice = pick->choice;
    rule->ns = o->incumbent_ns;
    if (tries_all(c))
        ar_tuned_rules_keep(rule);
    pick->reason = rule->reason;
    pick->number = ++c->choice.tuner->npicks; /* decisions with the new reason */
}

/* For the file of what was found. */
static void
count(struct ar_tuner *tuner)
{
    ar_tuned_rules_count(tuner->budget.time_ns - tuner->told.time_ns,
                         tuner->budget.spent_ns - tuner->told.spent_ns);
    tuner->told = tuner->budget;
}

int
ar_tuner_note(struct ar_communicator *c, MPI_Comm comm, struct ar_tuned *t, int64_t ns)
{
    struct ar_tuner *const tuner = c->choice.tuner;
    struct ar_setup setup;
    if (!ar_online_note(&t->online, ns))
        return MPI_SUCCESS;
    ar_setup_begin(&setup);
    struct agreement numbers = {ar_online_summarize(&t->online), c->shares_cores};
    int error = agree(c, comm, &numbers);
    tuner->gives_up |= !error && minds_cores(c) && numbers.shares_cores;
    if (!error && !tuner->gives_up && !t->picks)
        error = add_rivals(t, c, comm);
    tuner->budget.own_agree_ns = (int64_t)(ar_clock_system_ns() - setup.start_ns);
    if (!error && !tuner->gives_up && ar_online_judge(&t->online, &numbers.times))
        settle(c, t);
    if (tries_all(c))
        count(tuner);
    ar_setup_end(&setup, c);
    return error;
}
