/* Auto across nodes: rules that rank 0 makes from a model of the machine, and all follow. */
#include "communicator/forecast.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/nodes.h"
#include "communicator/agree.h"
#include "communicator/cache.h"
#include "communicator/together.h"
#include "config/files.h"
#include "execute/shared.h"
#include "report/say.h"
#include "select/number.h"
#include "tuning/advise.h"

static bool
spans_nodes(const struct ar_communicator *c)
{
    return c->carriage.node_of && ar_nodes_count(c->carriage.node_of, c->nranks) > 1;
}

/* --- the machine --- */

static int
read_machine(const struct ar_communicator *c, struct ar_machine *machine, char **file)
{
    char reason[AR_CONFIG_PROBLEM];
    struct ar_text why;
    ar_text_init(&why, reason, sizeof reason);
    const char *const path = c->config->model_path;
    const int error = ar_model_file_read(machine, file, path ? path : c->config->model_file, &why);
    if (error == AR_ERR_SYNTAX) /* it was there, and right, before */
        ar_say("warning: ALLREDUCE_MODEL: %s: auto follows its built-in rules", reason);
    return error;
}

/* A torus of a file may be too small for the nodes: their way is then like any other. */
static void
fit_machine(const struct ar_communicator *c, struct ar_machine *machine)
{
    const int nodes = ar_nodes_count(c->carriage.node_of, c->nranks);
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
        char name[AR_CHOICE_TEXT], time[AR_NUMBER_TEXT];
        const struct ar_advice_entry *const e = &advice->entries[i];
        ar_say("auto: %zu bytes by %s are predicted to take %s", e->at,
               ar_choice_print(&e->choice, name, sizeof name),
               ar_time_print(e->time_ns, time, sizeof time));
    }
}

/* Rank 0's machine counts for all; *text gets on rank 0 the rules for all ops, or for those that do
 * not commute, and is the caller's to free; NULL: no advice.  Collective. */
static int
advise(const struct ar_communicator *c, MPI_Comm comm, struct ar_machine *machine,
       struct ar_advice *advice, bool in_order, char **text)
{
    const struct ar_advice_request request = {
        .machine = machine,
        .node_of = c->carriage.node_of,
        .nranks = c->nranks,
        .allowed = c->config->allowed,
        .in_order = in_order,
        .scratch_bytes = c->config->scratch_bytes,
        .most_steps = AR_ADVISE_STEPS,
    };
    int failure = AR_OK, error = ar_broadcast(c->wait, comm, machine, (int)sizeof *machine);
    if (!error)
        error = ar_advise_together(c, &request, advice, &failure);
    if (error || c->rank > 0)
        return error;
    if (failure)
        ar_say(
            "warning: the model gives no rules for %d ranks (%s): auto follows its built-in rules",
            c->nranks, failure == AR_ERR_MEMORY ? "out of memory" : "an algorithm failed in it");
    else
        *text = ar_advice_rules(advice);
    if (*text)
        tell_advice(c, machine, advice, *text, in_order);
    return MPI_SUCCESS;
}

/* --- what was found before: communicators of one shape have one model --- */

/* Of a program that splits its ranks in many ways.  Rank 0 of each communicator looks here, and the
 * others do what it says. */
#define SHAPES 64

static struct known {
    uint64_t shape;    /* 0: none */
    unsigned long use; /* the greater, the later was the last one */
    bool has_machine;
    struct ar_machine machine;
    char *rules[2]; /* as ar_communicator's; NULL: nobody asked, or no advice */
} known[SHAPES];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long uses; /* up to now */

/* A number for all that advice depends on, except the machine.  Different shapes have different
 * numbers, except by chance. */
static uint64_t
shape_of(const struct ar_communicator *c)
{
    const uint64_t prime = 0x100000001b3U;
    uint64_t shape = ar_hash(c->config->model_file ? c->config->model_file : "");
    shape = (shape ^ c->config->scratch_bytes) * prime;
    for (size_t i = 0; i < ar_algorithm_count(); i++)
        shape = (shape ^ c->config->allowed[i]) * prime;
    for (int r = 0; r < c->nranks; r++)
        shape = (shape ^ (uint64_t)(c->carriage.node_of[r] + 1)) * prime;
    return shape;
}

/* Under the lock. */
static struct known *
find_known(uint64_t shape)
{
    int i = 0;
    while (i < SHAPES && known[i].shape != shape)
        i++;
    if (i == SHAPES)
        return NULL;
    known[i].use = ++uses;
    return &known[i];
}

/* In the place of the shape that was not used for longest.  Under the lock. */
static struct known *
add_known(uint64_t shape)
{
    struct known *oldest = &known[0];
    for (int i = 1; i < SHAPES; i++)
        oldest = known[i].use < oldest->use ? &known[i] : oldest;
    free(oldest->rules[0]);
    free(oldest->rules[1]);
    *oldest = (struct known){.shape = shape, .use = ++uses};
    return oldest;
}

/* *rules is for the caller to free; where the shape is unknown, nothing is set.  Is the machine
 * known? */
static bool
recall(uint64_t shape, bool in_order, struct ar_machine *machine, char **rules)
{
    pthread_mutex_lock(&lock);
    const struct known *const entry = find_known(shape);
    const bool has_machine = entry && entry->has_machine;
    if (has_machine)
        *machine = entry->machine;
    if (entry && entry->rules[in_order])
        *rules = strdup(entry->rules[in_order]);
    pthread_mutex_unlock(&lock);
    return has_machine;
}

/* machine NULL: the rules are known without it. */
static void
remember(uint64_t shape, bool in_order, const struct ar_machine *machine, const char *rules)
{
    pthread_mutex_lock(&lock);
    struct known *entry = find_known(shape);
    if (!entry)
        entry = add_known(shape);
    if (machine)
        entry->machine = *machine;
    entry->has_machine |= machine != NULL;
    if (!entry->rules[in_order])
        entry->rules[in_order] = strdup(rules);
    pthread_mutex_unlock(&lock);
}

/* --- the rules of all ranks --- */

/* What rank 0 knows before anything is measured. */
enum { NOTHING, MACHINE, RULES };

/* Asks what this process remembers, then the machine file, then, with or without that, the folder
 * of ALLREDUCE_CACHE.  *key is set unless RULES is returned. */
static int
look_up(const struct ar_communicator *c, uint64_t shape, bool in_order, struct ar_machine *machine,
        char **text, struct ar_cache_key *key)
{
    char *file = NULL;
    bool knows_machine = recall(shape, in_order, machine, text);
    if (*text)
        return RULES;
    if (c->config->model_file) {
        if (read_machine(c, machine, &file))
            return RULES; /* none: those that are built in */
        knows_machine = true;
    }
    *key = (struct ar_cache_key){.number = shape ^ (file ? ar_hash(file) : 0),
                                 .nranks = c->nranks,
                                 .nodes = ar_nodes_count(c->carriage.node_of, c->nranks),
                                 .in_order = in_order};
    free(file);
    if (c->config->cache)
        *text = ar_cache_read(c->config->cache, key, c->config->allowed);
    if (!*text)
        return knows_machine ? MACHINE : NOTHING;
    if (c->config->verbose > 0)
        ar_say("auto on %d ranks, by rules from ALLREDUCE_CACHE: %s", c->nranks, *text);
    remember(shape, in_order, NULL, *text);
    return RULES;
}

/* Too large for a small stack. */
struct work {
    struct ar_machine machine;
    struct ar_advice advice;
};

/* The rules on rank 0, from the machine: what is remembered, a file's, or measured.  Collective. */
static int
find_text(struct work *work, const struct ar_communicator *c, MPI_Comm comm, bool in_order,
          char **text)
{
    struct ar_machine *const machine = &work->machine;
    struct ar_cache_key key = {.nranks = 0};
    const uint64_t shape = c->rank == 0 ? shape_of(c) : 0;
    int known_before = NOTHING;
    *machine = (struct ar_machine){.ranks_per_node = 1};
    if (c->rank == 0)
        known_before = look_up(c, shape, in_order, machine, text, &key);
    int error = ar_broadcast(c->wait, comm, &known_before, (int)sizeof known_before);
    const struct ar_measuring measuring = {.comm = comm,
                                           .wire = &c->carriage.wire,
                                           .rank = c->rank,
                                           .nranks = c->nranks,
                                           .node_of = c->carriage.node_of,
                                           .wait = c->wait,
                                           .effort = 1};
    if (!error && known_before == NOTHING)
        error = ar_measure(machine, &measuring);
    if (error || known_before == RULES)
        return error;
    if (c->rank == 0)
        fit_machine(c, machine);
    error = advise(c, comm, machine, &work->advice, in_order, text);
    if (error || !*text)
        return error;
    remember(shape, in_order, machine, *text);
    if (c->config->cache && **text)
        ar_cache_write(c->config->cache, &key, machine->title, *text);
    return MPI_SUCCESS;
}

/* Collective: all ranks get rank 0's rules.  The text is our own, so that it parses. */
static int
make_rules(struct ar_communicator *c, MPI_Comm comm, bool in_order)
{
    struct ar_problem problem;
    char *text = NULL;
    struct work *const work = malloc(sizeof *work);
    int error = work ? find_text(work, c, comm, in_order, &text) : MPI_ERR_NO_MEM;
    free(work);
    if (!error)
        error = ar_broadcast_text(c, comm, &text);
    if (!error && text && ar_rules_parse(&c->model_rules[in_order], text, &problem))
        error = MPI_ERR_NO_MEM;
    free(text);
    return error;
}

/* Rules for ops that do not commute cost as much as the others, and most programs have no such op.
 */
int
ar_model_choose(struct ar_communicator *c, MPI_Comm comm, struct ar_choice *choice,
                const struct ar_request *request, const char **reason)
{
    const bool in_order = !request->commutative;
    const struct ar_clause *match = NULL;
    if (!c->has_model[in_order] && c->nranks > 1 && (spans_nodes(c) || c->config->model_file)) {
        const int error = make_rules(c, comm, in_order);
        if (error)
            return error;
    }
    c->has_model[in_order] = true;
    if (c->model_rules[in_order])
        match = ar_rules_match(c->model_rules[in_order], request);
    if (match) {
        *choice = match->choice;
        *reason = ar_reason_model;
    }
    return MPI_SUCCESS;
}
