#include <config.h>

#include "communicator/tuner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/nodes.h"
#include "communicator/decide.h"
#include "communicator/tuned_rules.h"
#include "execute/group.h"
#include "report/report.h"
#include "select/number.h"
#include "tuning/online.h"

/* One size and class. */
struct ar_tuned {
    struct ar_tuned *next;
    struct ar_tuned_rule rule; /* what it settled on last; for which calls is known before */
    struct ar_candidate_list list;
    struct ar_pick *picks; /* owned; of each candidate */
    struct ar_online online;
};

struct ar_tuner {
    struct ar_tuned *first;
    unsigned npicks;     /* numbers given so far */
    struct ar_pick call; /* of the agreement */
    struct ar_reduction max;
    struct ar_budget budget, told; /* what of it the dump knows */
};

static const char trying[] = "tuning";

/* --- life --- */

struct ar_tuner *
ar_tuner_create(struct ar_communicator *c)
{
    const struct ar_request request = {.bytes = sizeof(struct ar_online_times),
                                       .nranks = c->nranks,
                                       .commutative = true,
                                       .shares_memory = true};
    struct ar_tuner *const tuner = calloc(1, sizeof *tuner);
    if (!tuner)
        return NULL;
    tuner->budget.percent = c->config->tune_overhead;
    tuner->call = (struct ar_pick){.number = ++tuner->npicks, .reason = trying};
    if (ar_auto_select(&tuner->call.choice, &request, c->config->allowed) ||
        !ar_reduction_resolve(&tuner->max, MPI_MAX, MPI_INT64_T)) {
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
list_picks(struct ar_tuned *t, const struct ar_communicator *c, const struct ar_request *request,
           const struct ar_choice *choice)
{
    size_t first;
    if (ar_candidates_init(&t->list, request, c->config->allowed) ||
        ar_candidates_add(&t->list, &first, choice) ||
        ar_online_init(&t->online, &c->tuner->budget, &t->list, first, c->nranks))
        return MPI_ERR_NO_MEM;
    t->picks = calloc(t->list.n, sizeof *t->picks);
    for (size_t i = 0; t->picks && i < t->list.n; i++)
        t->picks[i] = (struct ar_pick){++c->tuner->npicks, t->list.of[i].choice, trying};
    return t->picks ? MPI_SUCCESS : MPI_ERR_NO_MEM;
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
    const struct ar_choice choice = now->choice;
    struct ar_tuned *const t = calloc(1, sizeof *t);
    *error = MPI_ERR_NO_MEM;
    if (!t)
        return NULL;
    request->shares_memory = c->memory[AR_MEMORY_SHORT].state == AR_ENGINE_READY;
    request->nodes =
        c->carriage.node_of ? (size_t)ar_nodes_count(c->carriage.node_of, c->nranks) : 1;
    request->is_scattered =
        c->carriage.node_of && !ar_nodes_are_blocks(c->carriage.node_of, c->nranks);
    t->rule = (struct ar_tuned_rule){.bin = ar_size_bin(request->bytes),
                                     .nranks = c->nranks,
                                     .type = request->type,
                                     .commutative = request->commutative};
    *error = list_picks(t, c, request, &choice);
    if (*error) {
        destroy_tuned(t);
        return NULL;
    }
    t->next = c->tuner->first;
    c->tuner->first = t;
    return t;
}

static bool
is_for(const struct ar_tuned *t, const struct ar_reduction *r, unsigned bin)
{
    return t->rule.bin == bin && t->rule.type == r->type_class &&
           t->rule.commutative == r->commutative;
}

const struct ar_pick *
ar_tuner_pick(struct ar_communicator *c, MPI_Comm comm, struct ar_tuned **tuned,
              const struct ar_reduction *r, size_t count, int *error)
{
    struct ar_request request;
    const unsigned bin = ar_size_bin(count * r->size);
    struct ar_rules *const *const rules = c->config->rules;
    struct ar_tuned *t = c->tuner->first;
    *tuned = NULL;
    *error = MPI_SUCCESS;
    while (t && !is_for(t, r, bin))
        t = t->next;
    if (!t || rules[AR_SOURCE_ALGO] || rules[AR_SOURCE_PROGRAM] || rules[AR_SOURCE_FILE]) {
        *error = ar_request_describe(c, comm, &request, r, count, AR_OUT_OF_PLACE);
        const struct ar_choice *clause = *error ? NULL : ar_config_clause(c->config, &request);
        if (*error || (clause && clause->kind != AR_CHOICE_AUTO) || r->size == 0)
            return NULL;
    }
    if (!t)
        t = create_tuned(c, comm, r, count, &request, error);
    if (!t)
        return NULL;
    *tuned = t;
    return &t->picks[ar_online_turn(&t->online)];
}

bool
ar_tuned_is_settled(const struct ar_tuned *tuned)
{
    return tuned->online.state != AR_TRYING;
}

bool
ar_tuned_counts(struct ar_tuned *tuned)
{
    return ar_online_counts(&tuned->online);
}

/* --- the verdicts --- */

#define NTIMES (sizeof(struct ar_online_times) / sizeof(int64_t))

static void
turn_signs(struct ar_online_times *times)
{
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < AR_ONLINE_BATCH; i++)
            times->pairs[side][i] = -times->pairs[side][i];
}

/* The greatest times of all ranks; the least of the pairs, since these go with the other sign. What
 * it takes counts as set-up in the statistics. */
static int
agree(struct ar_communicator *c, MPI_Comm comm, struct ar_online_times *times)
{
    const uint64_t start = ar_clock_system_ns();
    struct ar_tuner *const tuner = c->tuner;
    int error;
    tuner->max.comm = comm;
    turn_signs(times);
    struct ar_decision *const d = ar_communicator_decide_on(c, comm, &tuner->max, NTIMES,
                                                            AR_OUT_OF_PLACE, &tuner->call, &error);
    if (d)
        error = d->runner == AR_RUN_NATIVE
                    ? ar_reduce_all(times, NTIMES, MPI_INT64_T, MPI_MAX, comm)
                    : ar_communicator_run(c, comm, d, &tuner->max, times, times);
    turn_signs(times);
    const uint64_t ns = ar_clock_system_ns() - start;
    if (c->recorder)
        c->recorder->setup_ns += ns;
    tuner->budget.own_agree_ns = (int64_t)ns;
    return error;
}

static void
settle(struct ar_tuner *tuner, struct ar_tuned *t)
{
    const struct ar_online *const o = &t->online;
    struct ar_pick *const pick = &t->picks[o->incumbent];
    struct ar_tuned_rule *const rule = &t->rule;
    char gain[AR_NUMBER_TEXT];
    if (o->incumbent == o->first)
        snprintf(rule->reason, sizeof rule->reason, "tuned online: tried %zu, stayed", o->tried);
    else
        snprintf(rule->reason, sizeof rule->reason, "tuned online: tried %zu, won by %sx", o->tried,
                 ar_number_print(o->gain, gain, sizeof gain));
    rule->choice = pick->choice;
    rule->ns = o->incumbent_ns;
    ar_tuned_rules_keep(rule);
    pick->reason = rule->reason;
    pick->number = ++tuner->npicks; /* decisions with the new reason */
}

int
ar_tuner_note(struct ar_communicator *c, MPI_Comm comm, struct ar_tuned *t, int64_t ns)
{
    if (!ar_online_note(&t->online, ns))
        return MPI_SUCCESS;
    struct ar_online_times times = ar_online_summarize(&t->online);
    const int error = agree(c, comm, &times);
    if (!error && ar_online_judge(&t->online, &times))
        settle(c->tuner, t);
    struct ar_tuner *const tuner = c->tuner;
    ar_tuned_rules_count(tuner->budget.time_ns - tuner->told.time_ns,
                         tuner->budget.spent_ns - tuner->told.spent_ns);
    tuner->told = tuner->budget;
    return error;
}
