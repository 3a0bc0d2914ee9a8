#include <config.h>

#include "communicator/tuner.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "communicator/provenance.h"
#include "communicator/request.h"
#include "report/report.h"
#include "select/trials.h"

#define QUICK_CALLS  1    /* of each side before the first judgement */
#define QUICK_FACTOR 3    /* /2: who is slower by more is out at once */
#define MARGIN_LEAST 50   /* thousandths that a winner must be faster by */
#define MARGIN_MOST  500  /* however much noise there is */
#define CHECK_CALLS  2000 /* between looks for drift, at least */
#define DRIFT_FACTOR 3    /* /2: so much slower or faster, twice in a row, is one */

enum state { MEASURING, WAITING, DUELLING, SETTLED, LOOKING };

/* One size and class. */
struct ar_tuned {
    struct ar_tuned *next;
    struct ar_tuner *tuner;
    unsigned bin; /* ar_size_bin */
    enum ar_type_class type;
    bool commutative;
    enum state state;
    struct ar_pick *picks; /* owned */
    size_t npicks;
    size_t incumbent, rival;         /* places in picks */
    double gain;                     /* over the first incumbent, by the duels that were won */
    int64_t incumbent_ns;            /* agreed */
    uint64_t calls, accounted, wake; /* so many so far; earned for; when there is something to do */
    int warm_ups;                    /* calls of this duel that do not count */
    int taken[2];                    /* times of the incumbent, and of the rival */
    int64_t ns[2][AR_DUEL_CALLS];
    int64_t spent_ns; /* of the rival, all calls */
    int drifts;       /* looks in a row that saw one */
    size_t tried;
};

/* Texts of reasons; labels and decisions may point to them as long as the communicator lives. */
struct reason {
    struct reason *next;
    char text[AR_REASON_TEXT];
};

struct ar_tuner {
    struct ar_tuned *first;
    struct reason *reasons;
    unsigned npicks;     /* numbers given so far */
    int overhead;        /* percent */
    struct ar_pick call; /* of the agreement */
    struct ar_reduction max;
    int64_t earned_ns, spent_ns; /* agreed, of all sizes */
    int64_t agree_ns;            /* agreed: what an agreement takes */
    int64_t own_agree_ns;        /* of the last one, on this rank */
};

static const char trying[] = "tuning";

/* --- what was settled, for the dump --- */

struct rule {
    struct rule *next;
    unsigned bin;
    int nranks;
    enum ar_type_class type;
    bool commutative;
    char choice[AR_CHOICE_TEXT];
    int64_t ns;
    char reason[AR_REASON_TEXT];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct rule *rules; /* under the lock */

static bool
is_same_kind(const struct rule *a, const struct rule *b)
{
    return a->bin == b->bin && a->nranks == b->nranks && a->type == b->type &&
           a->commutative == b->commutative;
}

/* In the order of size, so that the file reads well. */
static void
keep_rule(const struct rule *rule)
{
    pthread_mutex_lock(&lock);
    struct rule **at = &rules;
    while (*at && !is_same_kind(*at, rule) &&
           ((*at)->nranks < rule->nranks ||
            ((*at)->nranks == rule->nranks && (*at)->bin <= rule->bin)))
        at = &(*at)->next;
    const bool is_there = *at && is_same_kind(*at, rule);
    struct rule *const made = is_there ? *at : malloc(sizeof *made);
    if (made) {
        struct rule *const next = is_there ? made->next : *at;
        *made = *rule;
        made->next = next;
        *at = made;
    }
    pthread_mutex_unlock(&lock);
}

static void
write_rule(FILE *to, const struct rule *rule)
{
    char from[AR_SIZE_TEXT], end[AR_SIZE_TEXT], traits[AR_TRAITS_TEXT];
    const struct ar_request request = {.type = rule->type};
    struct ar_text t;
    ar_text_init(&t, traits, sizeof traits);
    ar_request_print(&t, &request, AR_TRAIT_TYPE);
    fprintf(to, "%s:%s-%s@%d,%s  # %.2f us, %s\n", rule->choice,
            ar_size_print(ar_size_bin_first(rule->bin), from, sizeof from),
            ar_size_print(ar_size_bin_last(rule->bin), end, sizeof end), rule->nranks, traits,
            (double)rule->ns * 1e-3, rule->reason);
}

void
ar_tuner_dump(const char *path, int nranks)
{
    char job[AR_PROVENANCE_TEXT];
    FILE *const to = fopen(path, "w");
    if (!to) {
        ar_say("ALLREDUCE_TUNE_DUMP: cannot write '%s': %s", path, strerror(errno));
        return;
    }
    ar_provenance_of_job(job, sizeof job, nranks);
    fprintf(to, "# For ALLREDUCE_RULES; tuned online by %s\n" AR_PROVENANCE_MARK "%s\n",
            program_invocation_short_name, job);
    pthread_mutex_lock(&lock);
    for (const struct rule *rule = rules; rule; rule = rule->next)
        write_rule(to, rule);
    pthread_mutex_unlock(&lock);
    if (fclose(to))
        ar_say("ALLREDUCE_TUNE_DUMP: cannot write '%s': %s", path, strerror(errno));
}

/* --- life --- */

struct ar_tuner *
ar_tuner_create(struct ar_communicator *c)
{
    const struct ar_request request = {.bytes = AR_DUEL_CALLS * sizeof(int64_t),
                                       .nranks = c->nranks,
                                       .commutative = true,
                                       .shares_memory = true};
    struct ar_tuner *const tuner = calloc(1, sizeof *tuner);
    if (!tuner)
        return NULL;
    tuner->overhead = c->config->tune_overhead;
    tuner->call = (struct ar_pick){.number = ++tuner->npicks, .reason = trying};
    if (ar_auto_choose(&tuner->call.choice, &request, c->config->allowed) ||
        !ar_reduction_resolve(&tuner->max, MPI_MAX, MPI_INT64_T)) {
        free(tuner);
        return NULL;
    }
    return tuner;
}

void
ar_tuner_destroy(struct ar_tuner *tuner)
{
    if (!tuner)
        return;
    for (struct ar_tuned *t = tuner->first, *next; t; t = next) {
        next = t->next;
        free(t->picks);
        free(t);
    }
    for (struct reason *r = tuner->reasons, *next; r; r = next) {
        next = r->next;
        free(r);
    }
    free(tuner);
}

static void
append_pick(struct ar_tuned *t, const struct ar_choice *choice)
{
    char text[AR_CHOICE_TEXT], other[AR_CHOICE_TEXT];
    ar_choice_print(choice, text, sizeof text);
    for (size_t i = 0; i < t->npicks; i++)
        if (strcmp(ar_choice_print(&t->picks[i].choice, other, sizeof other), text) == 0)
            return;
    t->picks[t->npicks++] = (struct ar_pick){++t->tuner->npicks, *choice, trying};
}

/* What auto runs here comes first. */
static int
list_picks(struct ar_tuned *t, const struct ar_request *request, const struct ar_choice *first,
           const bool *allowed)
{
    struct ar_trial_list list;
    if (ar_trials_list(&list, AR_TRIALS_FEW, request, allowed, NULL))
        return MPI_ERR_NO_MEM;
    t->picks = calloc(list.n + 1, sizeof *t->picks);
    if (t->picks)
        append_pick(t, first);
    for (size_t i = 0; t->picks && i < list.n; i++)
        append_pick(t, &list.choices[i]);
    ar_trials_fini(&list);
    return t->picks ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

/* What making the first decision has found out about the ranks' places. */
static void
describe_nodes(const struct ar_communicator *c, struct ar_request *request)
{
    request->shares_memory = c->memory[AR_MEMORY_SHORT].state == AR_ENGINE_READY;
    request->nodes = 1;
    for (int i = 0; c->node_of && i < c->nranks; i++)
        if ((size_t)c->node_of[i] >= request->nodes)
            request->nodes = (size_t)c->node_of[i] + 1;
}

static struct ar_tuned *
create_tuned(struct ar_communicator *c, MPI_Comm comm, const struct ar_reduction *r, size_t count,
             struct ar_request *request, int *error)
{
    const struct ar_decision *const first =
        ar_communicator_decide_on(c, comm, r, count, NULL, error);
    if (!first)
        return NULL;
    const struct ar_choice choice = first->choice;
    struct ar_tuned *const t = calloc(1, sizeof *t);
    *error = MPI_ERR_NO_MEM;
    if (!t)
        return NULL;
    describe_nodes(c, request);
    t->tuner = c->tuner;
    t->bin = ar_size_bin(request->bytes);
    t->type = request->type;
    t->commutative = request->commutative;
    t->warm_ups = 1;
    *error = list_picks(t, request, &choice, c->config->allowed);
    if (*error) {
        free(t);
        return NULL;
    }
    t->next = c->tuner->first;
    c->tuner->first = t;
    return t;
}

static bool
is_for(const struct ar_tuned *t, const struct ar_reduction *r, unsigned bin)
{
    return t->bin == bin && t->type == r->type_class && t->commutative == r->commutative;
}

static bool
has_rules(const struct ar_config *config)
{
    return config->rules || config->program_rules || config->file_rules;
}

const struct ar_pick *
ar_tuner_pick(struct ar_communicator *c, MPI_Comm comm, struct ar_tuned **tuned,
              const struct ar_reduction *r, size_t count, int *error)
{
    struct ar_request request;
    const unsigned bin = ar_size_bin(count * r->size);
    struct ar_tuned *t = c->tuner->first;
    *tuned = NULL;
    *error = MPI_SUCCESS;
    while (t && !is_for(t, r, bin))
        t = t->next;
    if (!t || has_rules(c->config)) {
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
    const bool rivals_turn = t->state == DUELLING && t->taken[1] <= t->taken[0];
    return &t->picks[rivals_turn ? t->rival : t->incumbent];
}

bool
ar_tuned_is_settled(const struct ar_tuned *tuned)
{
    return tuned->state != DUELLING;
}

bool
ar_tuned_counts(struct ar_tuned *tuned)
{
    return ++tuned->calls >= tuned->wake;
}

/* --- times --- */

static int
compare_ns(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* What a rank contributes to an agreement; the greatest of all ranks counts. */
struct times {
    int64_t median_ns[2]; /* of the incumbent, and of the rival */
    int64_t noise;        /* thousandths: how far the rival's least is below its median */
    int64_t spent_ns;
    int64_t agree_ns; /* of the agreement before */
};

#define NTIMES (sizeof(struct times) / sizeof(int64_t))

static struct times
summarize(struct ar_tuned *t)
{
    struct times times = {.spent_ns = t->spent_ns, .agree_ns = t->tuner->own_agree_ns};
    for (int side = 0; side < 2; side++) {
        const int n = t->taken[side];
        qsort(t->ns[side], (size_t)n, sizeof t->ns[side][0], compare_ns);
        times.median_ns[side] = n ? t->ns[side][n / 2] : 0;
    }
    if (times.median_ns[1] > 0)
        times.noise = 1000 - 1000 * t->ns[1][0] / times.median_ns[1];
    return times;
}

static int
reduce(struct ar_communicator *c, MPI_Comm comm, struct times *times)
{
    struct ar_tuner *const tuner = c->tuner;
    struct times mine = *times;
    int error;
    struct ar_decision *const d =
        ar_communicator_decide_on(c, comm, &tuner->max, NTIMES, &tuner->call, &error);
    if (!d)
        return error;
    if (d->runner != AR_RUN_NATIVE)
        return ar_communicator_run(c, comm, d, &tuner->max, &mine, times);
    error = PMPI_Reduce(&mine, times, NTIMES, MPI_INT64_T, MPI_MAX, 0, comm);
    return error ? error : PMPI_Bcast(times, NTIMES, MPI_INT64_T, 0, comm);
}

/* The time is set-up's, as far as statistics go. */
static int
agree(struct ar_communicator *c, MPI_Comm comm, struct ar_tuned *t, struct times *times)
{
    const uint64_t start = ar_clock_system_ns();
    c->tuner->max.comm = comm;
    *times = summarize(t);
    const int error = reduce(c, comm, times);
    const uint64_t ns = ar_clock_system_ns() - start;
    if (c->recorder)
        c->recorder->setup_ns += ns;
    c->tuner->spent_ns += times->agree_ns;
    c->tuner->agree_ns = times->agree_ns;
    c->tuner->own_agree_ns = (int64_t)ns;
    return error;
}

/* --- what comes next; all of it from agreed numbers --- */

static void
account(struct ar_tuned *t)
{
    const int64_t calls = (int64_t)(t->calls - t->accounted);
    t->tuner->earned_ns += calls * t->incumbent_ns * t->tuner->overhead / 100;
    t->accounted = t->calls;
}

/* Waits until there is enough for the rival's next calls, should it be half as fast. */
static void
wait_for(struct ar_tuned *t, int calls, int64_t agree_ns)
{
    const struct ar_tuner *const tuner = t->tuner;
    const int64_t wanted = calls * t->incumbent_ns + agree_ns;
    const int64_t missing = wanted - (tuner->earned_ns - tuner->spent_ns);
    const int64_t a_call = t->incumbent_ns * tuner->overhead / 100 + 1;
    t->wake = t->calls + (uint64_t)(missing > 0 ? missing / a_call + 1 : 1);
    t->state = WAITING;
}

static void
begin_duel(struct ar_tuned *t)
{
    t->state = DUELLING;
    t->warm_ups = 1;
    t->taken[0] = t->taken[1] = 0;
    t->spent_ns = 0;
}

static void
begin_look(struct ar_tuned *t)
{
    t->state = LOOKING;
    t->warm_ups = 0;
    t->taken[0] = t->taken[1] = 0;
    t->spent_ns = 0;
}

static const char *
tell(struct ar_tuned *t)
{
    struct reason *const reason = malloc(sizeof *reason);
    if (!reason)
        return trying;
    if (t->incumbent == 0)
        snprintf(reason->text, sizeof reason->text, "tuned online: tried %zu, stayed", t->tried);
    else
        snprintf(reason->text, sizeof reason->text, "tuned online: tried %zu, won by %.1fx",
                 t->tried, t->gain);
    reason->next = t->tuner->reasons;
    t->tuner->reasons = reason;
    return reason->text;
}

/* Looks for drift are far enough apart not to be felt. */
static void
rest(struct ar_tuned *t)
{
    const int64_t calls = 1000 * t->tuner->agree_ns / (t->incumbent_ns + 1);
    t->state = SETTLED;
    t->wake = t->calls + (uint64_t)(calls > CHECK_CALLS ? calls : CHECK_CALLS);
}

static void
settle(struct ar_communicator *c, struct ar_tuned *t)
{
    struct ar_pick *const pick = &t->picks[t->incumbent];
    pick->reason = tell(t);
    pick->number = ++t->tuner->npicks; /* decisions with the new reason */
    struct rule rule = {.bin = t->bin,
                        .nranks = c->nranks,
                        .type = t->type,
                        .commutative = t->commutative,
                        .ns = t->incumbent_ns};
    ar_choice_print(&pick->choice, rule.choice, sizeof rule.choice);
    snprintf(rule.reason, sizeof rule.reason, "%s", pick->reason);
    keep_rule(&rule);
    rest(t);
}

/* The next rival, or the end. */
static void
go_on(struct ar_communicator *c, struct ar_tuned *t)
{
    t->rival++;
    t->rival += t->rival == t->incumbent;
    if (t->rival < t->npicks)
        wait_for(t, QUICK_CALLS + 1, c->tuner->agree_ns);
    else
        settle(c, t);
}

/* From the beginning, with what won as the first. */
static void
start_again(struct ar_tuned *t)
{
    const struct ar_pick first = t->picks[t->incumbent];
    memmove(&t->picks[1], &t->picks[0], t->incumbent * sizeof first);
    t->picks[0] = first;
    t->incumbent = t->rival = t->tried = 0;
    t->drifts = 0;
    t->taken[0] = t->taken[1] = 0;
    t->state = MEASURING;
    t->wake = 0;
}

static int
end_measuring(struct ar_communicator *c, MPI_Comm comm, struct ar_tuned *t)
{
    struct times times;
    const int error = agree(c, comm, t, &times);
    t->incumbent_ns = times.median_ns[0] + 1;
    t->gain = 1;
    t->tried = 1;
    go_on(c, t);
    return error;
}

static int
end_look(struct ar_communicator *c, MPI_Comm comm, struct ar_tuned *t)
{
    struct times times;
    const int error = agree(c, comm, t, &times);
    const int64_t now = times.median_ns[0], then = t->incumbent_ns;
    const bool drifted = 2 * now > DRIFT_FACTOR * then || 2 * then > DRIFT_FACTOR * now;
    t->drifts = drifted ? t->drifts + 1 : 0;
    rest(t);
    if (t->drifts == 2)
        start_again(t);
    else if (drifted)
        t->wake = t->calls + CHECK_CALLS;
    return error;
}

/* After the first judgement, and after the last. */
static int
judge_duel(struct ar_communicator *c, MPI_Comm comm, struct ar_tuned *t)
{
    struct times times;
    const int error = agree(c, comm, t, &times);
    const bool is_last = t->taken[0] == AR_DUEL_CALLS;
    const int64_t own = times.median_ns[0], rivals = times.median_ns[1];
    const int64_t excess = times.spent_ns - (t->taken[1] + 1) * own;
    if (excess > 0 && (is_last || 2 * rivals > QUICK_FACTOR * own))
        c->tuner->spent_ns += excess;
    if (!is_last && 2 * rivals <= QUICK_FACTOR * own)
        return error; /* on with it */
    t->tried++;
    const int64_t margin = times.noise < MARGIN_LEAST  ? MARGIN_LEAST
                           : times.noise > MARGIN_MOST ? MARGIN_MOST
                                                       : times.noise;
    if (is_last && rivals * (1000 + margin) < own * 1000) {
        t->incumbent = t->rival;
        t->incumbent_ns = rivals + 1;
        t->gain *= (double)own / (double)(rivals + 1);
    }
    go_on(c, t);
    return error;
}

static int
note_duel(struct ar_communicator *c, MPI_Comm comm, struct ar_tuned *t, int64_t ns)
{
    const int side = t->taken[1] <= t->taken[0];
    if (side)
        t->spent_ns += ns;
    if (side && t->warm_ups > 0) {
        t->warm_ups--;
        return MPI_SUCCESS;
    }
    t->ns[side][t->taken[side]++] = ns;
    if (t->taken[0] == t->taken[1] && (t->taken[0] == QUICK_CALLS || t->taken[0] == AR_DUEL_CALLS))
        return judge_duel(c, comm, t);
    return MPI_SUCCESS;
}

int
ar_tuner_note(struct ar_communicator *c, MPI_Comm comm, struct ar_tuned *t, int64_t ns)
{
    account(t);
    switch (t->state) {
    case WAITING:
        wait_for(t, QUICK_CALLS + 1, c->tuner->agree_ns);
        if (t->wake == t->calls + 1)
            begin_duel(t);
        break;
    case DUELLING:
        return note_duel(c, comm, t, ns);
    case SETTLED:
        begin_look(t);
        break;
    case MEASURING:
    case LOOKING:
        if (t->warm_ups > 0) {
            t->warm_ups--;
            break;
        }
        t->ns[0][t->taken[0]++] = ns;
        if (t->taken[0] == AR_DUEL_CALLS)
            return t->state == LOOKING ? end_look(c, comm, t) : end_measuring(c, comm, t);
        break;
    }
    return MPI_SUCCESS;
}
