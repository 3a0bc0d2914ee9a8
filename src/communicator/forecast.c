/* Auto across nodes: rules that rank 0 makes from a model of the machine, or has where ranks share
 * cores, and that all follow. */
#include "communicator/forecast.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/nodes.h"
#include "communicator/agree.h"
#include "config/files.h"
#include "execute/shared.h"
#include "report/say.h"
#include "select/number.h"
#include "tuning/advise.h"

static bool
spans_nodes(const struct ar_communicator *c)
{
    return c->messages.carriage.node_of &&
           ar_nodes_count(c->messages.carriage.node_of, c->nranks) > 1;
}

/* --- the machine --- */

static int
read_machine(const struct ar_communicator *c, struct ar_machine *machine)
{
    char reason[AR_CONFIG_PROBLEM];
    struct ar_text why;
    ar_text_init(&why, reason, sizeof reason);
    const char *const path = c->config->model_path;
    const int error = ar_model_file_read(machine, path ? path : c->config->model_file, &why);
    if (error == AR_ERR_SYNTAX) /* it was there, and right, before */
        ar_say("warning: ALLREDUCE_MODEL: %s: auto follows its built-in rules", reason);
    return error;
}

/* A torus of a file may be too small for the nodes: their way is then like any other. */
static void
fit_machine(const struct ar_communicator *c, struct ar_machine *machine)
{
    const int nodes = ar_nodes_count(c->messages.carriage.node_of, c->nranks);
    int places = 1;
    for (int d = 0; d < machine->ndims; d++)
        places *= machine->dims[d];
    if (machine->shape != AR_SHAPE_TORUS || places >= nodes)
        return;
    ar_say("warning: ALLREDUCE_MODEL: the torus has %d places, too few for %d nodes: its links are "
           "ignored",
           places, nodes);
    machine->shape = AR_SHAPE_SWITCHES;
    machine->nlevels = 0;
}

/* --- the rules --- */

static void
tell_advice(const struct ar_communicator *c, const struct ar_machine *machine,
            const struct ar_advice *advice, const char *rules, bool in_order)
{
    if (c->config->verbose < 1)
        return;
    ar_say("auto on %d ranks%s, by a model of the machine (%s)%s: %s", c->nranks,
           spans_nodes(c) ? " of several nodes" : "", machine->title,
           in_order ? ", for ops that do not commute" : "", rules);
    for (int i = 0; i < advice->n && c->config->verbose > 1; i++) {
        if (!advice->entries[i].is_new_best)
            continue;
        char name[AR_CHOICE_TEXT], time[AR_NUMBER_TEXT];
        const struct ar_advice_entry *const e = &advice->entries[i];
        ar_say("auto: %zu bytes by %s are predicted to take %s", e->at,
               ar_choice_print(&e->best[0].choice, name, sizeof name),
               ar_time_print(e->best[0].time.at, time, sizeof time));
    }
}

/* The rules on rank 0, for all ops or for those that do not commute, and in *rivals those of what
 * is next; the caller's to free.  NULL: none. */
static char *
advise(const struct ar_communicator *c, const struct ar_machine *machine, bool in_order,
       char **rivals)
{
    const struct ar_advice_request request = {
        .machine = machine,
        .node_of = c->messages.carriage.node_of,
        .nranks = c->nranks,
        .allowed = c->config->allowed,
        .in_order = in_order,
        .scratch_bytes = c->config->scratch_bytes,
    };
    struct ar_advice *const advice = malloc(sizeof *advice);
    const int error = advice ? ar_advise(advice, &request) : AR_ERR_MEMORY;
    char *const rules = error ? NULL : ar_advice_rules(advice, 0, 0);
    *rivals = error ? NULL : ar_advice_rules(advice, 1, AR_PROPOSALS - 1);
    if (!rules)
        ar_say("warning: the model gives no rules for %d ranks (%s): auto follows its built-in "
               "rules",
               c->nranks,
               error && error != AR_ERR_MEMORY ? "an algorithm failed in it" : "out of memory");
    else
        tell_advice(c, machine, advice, rules, in_order);
    free(advice);
    return rules;
}

/* Where ranks share cores, as those of containers on one host do, nothing overlaps, and a message
 * waits for turns that no measurement of two ranks sees.  So these rules stand there.  They were
 * found on 4 and 8 hosts that share 2 cores, at 100 Mbit/s to 10 Gbit/s (doc/performance.md).  Each
 * message of a ring is the longest eager one of MPICH over TCP: a longer one waits several turns
 * until the receiver has answered, and shorter ones wait more often.  Ops that do not commute get
 * auto's other built-in rules, and so does everything where one of these algorithms is not allowed.
 */
#define CROWDED_SINGLE "butterfly:0-16K;rhd:0-%zu;ring(segment=%zuK,window=4):0-8M@3-inf;rhd"
#define CROWDED_SEVERAL                                                                            \
    "butterfly:0-2K;two_level(inter=butterfly,lanes=one):0-16K;two_level(inter=rhd):0-%zu;"        \
    "two_level(inter=ring,segment=%zuK,window=4)"
#define CROWDED_EAGER   ((size_t)16 << 10) /* of a message */
#define CROWDED_LONGEST ((size_t)4 << 20)  /* of a segment */

/* The longest vector whose halves are still faster than a ring: Open MPI's eager messages are four
 * times as long. */
static size_t
halved_bytes(size_t segment)
{
#ifdef OPEN_MPI
    return 2 * segment;
#else
    return segment - 1;
#endif
}

/* May auto select all that the rules name? */
static bool
allows(const struct ar_config *config, const char *text)
{
    struct ar_rules *rules;
    struct ar_problem problem;
    if (ar_rules_parse(&rules, text, &problem))
        return false;
    bool all = true;
    for (size_t i = 0; i < rules->nclauses; i++)
        all &= ar_auto_allows(rules->clauses[i].choice.algorithm, config->allowed);
    ar_rules_destroy(rules);
    return all;
}

/* NULL without memory, or where they are not allowed. */
static char *
crowded_rules(const struct ar_communicator *c)
{
    const struct ar_params map = {.node_of = c->messages.carriage.node_of};
    const struct ar_nodes nodes = ar_nodes_make(0, c->nranks, &map);
    const size_t wanted = CROWDED_EAGER * (size_t)(nodes.count * ar_nodes_least(&nodes));
    const size_t segment = wanted < CROWDED_LONGEST ? wanted : CROWDED_LONGEST;
    char *const rules = malloc(AR_RULES_OFFERED);
    if (rules && nodes.count == c->nranks)
        (void)snprintf(rules, AR_RULES_OFFERED, CROWDED_SINGLE, halved_bytes(segment),
                       segment >> 10);
    else if (rules)
        (void)snprintf(rules, AR_RULES_OFFERED, CROWDED_SEVERAL, halved_bytes(segment),
                       segment >> 10);
    if (rules && !allows(c->config, rules)) {
        free(rules);
        return NULL;
    }
    if (rules && c->config->verbose > 0)
        ar_say("auto on %d ranks of several nodes that share cores, by built-in rules: %s",
               c->nranks, rules);
    return rules;
}

/* --- what was found before: communicators of one shape have one machine, and the same rules --- */

/* Of a program that splits its ranks in many ways.  Rank 0 of each communicator looks here, and the
 * others do what it says. */
#define SHAPES 64

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct shape {
    uint64_t number;
    char *rules[2];  /* as ar_communicator's; NULL: none yet */
    char *rivals[2]; /* what is next */
    struct ar_machine machine;
} shapes[SHAPES];

static int next_shape; /* to be replaced */

/* A number for all that rules depend on, except a machine that is measured.  Different shapes have
 * different numbers, except by chance. */
static uint64_t
shape_of(const struct ar_communicator *c)
{
    const uint64_t prime = 0x100000001b3U;
    uint64_t shape = ar_hash(c->config->model_file ? c->config->model_file : "");
    shape = (shape ^ c->config->scratch_bytes) * prime;
    for (size_t i = 0; i < ar_algorithm_count(); i++)
        shape = (shape ^ c->config->allowed[i]) * prime;
    for (int r = 0; r < c->nranks; r++)
        shape = (shape ^ (uint64_t)(c->messages.carriage.node_of[r] + 1)) * prime;
    return shape;
}

/* Under the lock. */
static struct shape *
find_shape(uint64_t number)
{
    int i = 0;
    while (i < SHAPES && (!shapes[i].machine.ranks_per_node || shapes[i].number != number))
        i++;
    return i < SHAPES ? &shapes[i] : NULL;
}

/* Is the machine known, which *machine then gets?  *rules is for the caller to free; NULL where
 * they are unknown, or without memory. */
static bool
recall(uint64_t number, bool in_order, struct ar_machine *machine, char **rules)
{
    pthread_mutex_lock(&lock);
    const struct shape *const shape = find_shape(number);
    if (shape)
        *machine = shape->machine;
    *rules = shape && shape->rules[in_order] ? strdup(shape->rules[in_order]) : NULL;
    pthread_mutex_unlock(&lock);
    return shape != NULL;
}

/* rivals is the shape's from here on. */
static void
remember(uint64_t number, bool in_order, const struct ar_machine *machine, const char *rules,
         char *rivals)
{
    pthread_mutex_lock(&lock);
    struct shape *shape = find_shape(number);
    if (!shape) {
        shape = &shapes[next_shape];
        next_shape = (next_shape + 1) % SHAPES;
        for (int i = 0; i < 2; i++) {
            free(shape->rules[i]);
            free(shape->rivals[i]);
        }
        *shape = (struct shape){.number = number, .machine = *machine};
    }
    if (!shape->rules[in_order])
        shape->rules[in_order] = strdup(rules);
    free(shape->rivals[in_order]);
    shape->rivals[in_order] = rivals;
    pthread_mutex_unlock(&lock);
}

static char *
recall_rivals(uint64_t number, bool in_order)
{
    pthread_mutex_lock(&lock);
    const struct shape *const shape = find_shape(number);
    char *const rivals = shape && shape->rivals[in_order] ? strdup(shape->rivals[in_order]) : NULL;
    pthread_mutex_unlock(&lock);
    return rivals;
}

/* --- the rules of all ranks --- */

/* Rank 0's machine; what no file says is measured unless it is known, or not needed.  Collective
 * over comm. */
static int
find_machine(struct ar_machine *machine, const struct ar_communicator *c, MPI_Comm comm,
             bool is_known)
{
    const struct ar_measuring measuring = {.comm = comm,
                                           .wire = &c->messages.carriage.wire,
                                           .rank = c->rank,
                                           .nranks = c->nranks,
                                           .node_of = c->messages.carriage.node_of,
                                           .wait = c->wait,
                                           .effort = 1};
    const int error = ar_broadcast(c->wait, comm, &is_known, (int)sizeof is_known);
    return error || is_known ? error : ar_measure(machine, &measuring);
}

/* Rank 0's rules count for all; NULL there: none.  Collective over comm. */
static int
find_text(struct ar_machine *machine, const struct ar_communicator *c, MPI_Comm comm, bool in_order,
          char **text)
{
    const uint64_t shape = c->rank == 0 ? shape_of(c) : 0;
    const bool is_crowded = c->shares_cores && !c->config->model_file;
    const bool is_known =
        c->rank == 0 && recall(shape, in_order, machine, text) && (*text || *machine->title);
    const int error = c->config->model_file
                          ? MPI_SUCCESS
                          : find_machine(machine, c, comm, is_known || is_crowded);
    if (error || c->rank > 0 || *text)
        return error;
    if (is_crowded) {
        machine->ranks_per_node = 1; /* all that is said of it: it has no title */
        *text = in_order ? NULL : crowded_rules(c);
        if (*text)
            remember(shape, in_order, machine, *text, NULL);
        return MPI_SUCCESS;
    }
    if (c->config->model_file && read_machine(c, machine))
        return MPI_SUCCESS;
    fit_machine(c, machine);
    char *rivals;
    *text = advise(c, machine, in_order, &rivals);
    if (*text)
        remember(shape, in_order, machine, *text, rivals);
    else
        free(rivals);
    return MPI_SUCCESS;
}

/* The text is our own, so that it parses. */
static int
parse(struct ar_communicator *c, bool in_order, const char *text)
{
    struct ar_problem problem;
    return ar_rules_parse(&c->messages.rules[in_order], text, &problem) ? MPI_ERR_NO_MEM
                                                                        : MPI_SUCCESS;
}

/* Collective: all ranks get rank 0's rules. */
static int
make_rules(struct ar_communicator *c, MPI_Comm comm, bool in_order)
{
    char *text = NULL;
    struct ar_machine *const machine = calloc(1, sizeof *machine); /* large for a small stack */
    int error = machine ? find_text(machine, c, comm, in_order, &text) : MPI_ERR_NO_MEM;
    free(machine);
    if (!error)
        error = ar_broadcast_text(c, comm, &text);
    if (!error && text)
        error = parse(c, in_order, text);
    free(text);
    return error;
}

bool
ar_model_find(char rules[AR_RULES_OFFERED], const struct ar_communicator *c)
{
    rules[0] = '\0';
    if (!spans_nodes(c))
        return false;
    pthread_mutex_lock(&lock);
    const struct shape *const shape = find_shape(shape_of(c));
    const char *const known = shape ? shape->rules[0] : NULL;
    if (known && strlen(known) < AR_RULES_OFFERED)
        memcpy(rules, known, strlen(known) + 1);
    pthread_mutex_unlock(&lock);
    return rules[0] != '\0';
}

int
ar_model_take(struct ar_communicator *c, const char *rules)
{
    c->messages.has_rules[0] = *rules;
    return *rules ? parse(c, false, rules) : MPI_SUCCESS;
}

/* Rules for ops that do not commute cost as much as the others, and most programs have no such op.
 */
int
ar_model_choose(struct ar_communicator *c, MPI_Comm comm, struct ar_choice *choice,
                const struct ar_request *request, const char **reason)
{
    const bool in_order = !request->commutative;
    const struct ar_clause *match = NULL;
    if (!c->messages.has_rules[in_order] && c->nranks > 1 &&
        (spans_nodes(c) || c->config->model_file)) {
        const int error = make_rules(c, comm, in_order);
        if (error)
            return error;
    }
    c->messages.has_rules[in_order] = true;
    if (c->messages.rules[in_order])
        match = ar_rules_match(c->messages.rules[in_order], request);
    if (match) {
        *choice = match->choice;
        *reason = ar_reason_model;
    }
    return MPI_SUCCESS;
}

int
ar_model_rivals(struct ar_communicator *c, MPI_Comm comm, struct ar_rules **rivals, bool in_order)
{
    struct ar_problem problem;
    char *text = NULL;
    *rivals = NULL;
    if (!c->messages.rules[in_order])
        return MPI_SUCCESS;
    if (c->rank == 0)
        text = recall_rivals(shape_of(c), in_order);
    int error = ar_broadcast_text(c, comm, &text);
    if (!error && text && ar_rules_parse(rivals, text, &problem))
        error = MPI_ERR_NO_MEM;
    free(text);
    return error;
}
