/* Auto across nodes: rules that rank 0 makes from a model of the machine, and all follow. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "communicator/measure.h"
#include "communicator/model_file.h"
#include "communicator/state.h"
#include "model/advise.h"
#include "report/report.h"

static bool
spans_nodes(const struct ar_communicator *c)
{
    for (int r = 1; c->node_of && r < c->nranks; r++)
        if (c->node_of[r] != c->node_of[0])
            return true;
    return false;
}

/* --- the machine --- */

static int
read_machine(const struct ar_communicator *c, struct ar_machine *machine)
{
    char reason[AR_CONFIG_PROBLEM];
    struct ar_text why;
    ar_text_init(&why, reason, sizeof reason);
    const int error = ar_model_file_read(machine, c->config->model_file, &why);
    if (error == AR_ERR_SYNTAX) /* it was there, and right, before */
        ar_say("warning: ALLREDUCE_MODEL: %s: auto goes by built-in rules", reason);
    return error;
}

/* A torus of a file may be too small for the nodes: their way is then like any other. */
static void
fit_machine(const struct ar_communicator *c, struct ar_machine *machine)
{
    int nodes = 0, places = 1;
    for (int r = 0; r < c->nranks; r++)
        nodes = c->node_of[r] >= nodes ? c->node_of[r] + 1 : nodes;
    for (int d = 0; d < machine->ndims; d++)
        places *= machine->dims[d];
    if (machine->shape != AR_SHAPE_TORUS || places >= nodes)
        return;
    ar_say("warning: ALLREDUCE_MODEL: the torus has %d places for %d nodes: taken as without "
           "links",
           places, nodes);
    machine->shape = AR_SHAPE_SWITCHES;
    machine->nlevels = 0;
}

/* --- the rules --- */

static void
tell_advice(const struct ar_communicator *c, const struct ar_machine *machine,
            const struct ar_advice *advice, const char *rules)
{
    if (c->config->verbose < 1)
        return;
    ar_say("auto on %d ranks of several nodes, by a model of the machine (%s): %s", c->nranks,
           machine->title, rules);
    for (int i = 0; i < advice->n && c->config->verbose > 1; i++) {
        char name[AR_CHOICE_TEXT];
        const struct ar_advice_entry *const e = &advice->entries[i];
        ar_say("auto: %zu bytes by %s take %.1f us, as predicted", e->at,
               ar_choice_print(&e->choice, name, sizeof name), e->time_ns / 1e3);
    }
}

/* The rules for ops that commute, or for all: a text for the caller to free, "" without advice. */
static char *
advise(const struct ar_communicator *c, const struct ar_machine *machine, bool in_order)
{
    struct ar_advice advice;
    const struct ar_advice_request request = {
        .machine = machine,
        .node_of = c->node_of,
        .nranks = c->nranks,
        .allowed = c->config->allowed,
        .in_order = in_order,
        .scratch_bytes = c->config->scratch_bytes,
        .most_steps = AR_ADVISE_STEPS,
    };
    const int error = ar_advise(&advice, &request);
    if (error) {
        ar_say("warning: the model has no advice on %d ranks (%s): auto goes by built-in rules",
               c->nranks, error == AR_ERR_MEMORY ? "no memory" : "an algorithm failed there");
        return NULL;
    }
    char *const rules = ar_advice_rules(&advice);
    if (rules && !in_order)
        tell_advice(c, machine, &advice, rules);
    return rules;
}

/* "rules\nrules in order", for the caller to free; NULL: no model, or no memory. */
static char *
make_text(const struct ar_communicator *c, struct ar_machine *machine)
{
    char *text = NULL;
    fit_machine(c, machine);
    char *const any = advise(c, machine, false), *const ordered = advise(c, machine, true);
    if (any && ordered && (text = malloc(strlen(any) + strlen(ordered) + 2)))
        stpcpy(stpcpy(stpcpy(text, any), "\n"), ordered);
    free(any);
    free(ordered);
    return text;
}

/* --- what was found before: communicators of one shape have one model --- */

static struct {
    pthread_mutex_t lock;
    int nranks; /* 0: nothing is remembered */
    int *node_of;
    char *settings; /* the configuration's text */
    char *text;
} last = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool
is_last(const struct ar_communicator *c)
{
    return last.nranks == c->nranks && strcmp(last.settings, c->config->text) == 0 &&
           memcmp(last.node_of, c->node_of, (size_t)c->nranks * sizeof *last.node_of) == 0;
}

/* For the caller to free; NULL: it was another shape. */
static char *
recall(const struct ar_communicator *c)
{
    pthread_mutex_lock(&last.lock);
    char *const text = is_last(c) ? strdup(last.text) : NULL;
    pthread_mutex_unlock(&last.lock);
    return text;
}

static void
remember(const struct ar_communicator *c, const char *text)
{
    const size_t bytes = (size_t)c->nranks * sizeof *last.node_of;
    pthread_mutex_lock(&last.lock);
    free(last.node_of);
    free(last.settings);
    free(last.text);
    last.node_of = malloc(bytes);
    last.settings = strdup(c->config->text);
    last.text = strdup(text);
    last.nranks = last.node_of && last.settings && last.text ? c->nranks : 0;
    if (last.nranks)
        memcpy(last.node_of, c->node_of, bytes);
    pthread_mutex_unlock(&last.lock);
}

/* --- agreeing --- */

/* The others may wait long, and rank 0 may need their core. */
static int
broadcast(const struct ar_communicator *c, void *data, int bytes)
{
    MPI_Request request;
    if (c->wait.blocks)
        return PMPI_Bcast(data, bytes, MPI_BYTE, 0, c->private_comm);
    int done = 0, error = PMPI_Ibcast(data, bytes, MPI_BYTE, 0, c->private_comm, &request);
    while (!error && !done) {
        error = PMPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (!done)
            sched_yield();
    }
    return error;
}

/* Rank 0's text on all ranks, for the caller to free; NULL: there is none. */
static int
share_text(const struct ar_communicator *c, char **text)
{
    int length = c->rank == 0 && *text ? (int)strlen(*text) + 1 : 0;
    int error = broadcast(c, &length, (int)sizeof length);
    if (error || length == 0)
        return error;
    char *const room = realloc(*text, (size_t)length); /* that it has on rank 0 */
    if (!room)
        return MPI_ERR_NO_MEM;
    *text = room;
    return broadcast(c, *text, length);
}

/* The machine, measured where no file says it; its text on rank 0. */
static int
model_machine(const struct ar_communicator *c, char **text)
{
    struct ar_machine machine = {.ranks_per_node = 1};
    int knows = 0;
    if (c->rank == 0) {
        *text = recall(c);
        knows = *text || (c->config->model_file && !read_machine(c, &machine));
    }
    int error = broadcast(c, &knows, (int)sizeof knows);
    if (!error && !knows)
        error = ar_measure(&machine, c->private_comm, c->node_of, c->nranks, 1);
    if (error || c->rank > 0 || *text)
        return error;
    *text = make_text(c, &machine);
    if (*text)
        remember(c, *text);
    return MPI_SUCCESS;
}

/* Our own text, so that it parses. */
static int
take_text(struct ar_communicator *c, char *text)
{
    struct ar_problem problem;
    char *const ordered = strchr(text, '\n') + 1;
    ordered[-1] = '\0';
    return ar_rules_parse(&c->model_rules[0], text, &problem) ||
                   ar_rules_parse(&c->model_rules[1], ordered, &problem)
               ? MPI_ERR_NO_MEM
               : MPI_SUCCESS;
}

static int
make_rules(struct ar_communicator *c)
{
    char *text = NULL;
    int error = model_machine(c, &text);
    if (!error)
        error = share_text(c, &text);
    if (!error && text)
        error = take_text(c, text);
    free(text);
    return error;
}

int
ar_model_choose(struct ar_communicator *c, struct ar_choice *choice,
                const struct ar_request *request, const char **reason)
{
    const struct ar_choice *match = NULL;
    if (!c->has_model && spans_nodes(c)) {
        const int error = make_rules(c);
        if (error)
            return error;
    }
    c->has_model = true;
    if (c->model_rules[0])
        match = ar_rules_match(c->model_rules[request->commutative ? 0 : 1], request, NULL);
    if (match) {
        *choice = *match;
        *reason = ar_reason_model;
    }
    return MPI_SUCCESS;
}

void
ar_model_destroy(struct ar_communicator *c)
{
    ar_rules_destroy(c->model_rules[0]);
    ar_rules_destroy(c->model_rules[1]);
    c->model_rules[0] = c->model_rules[1] = NULL;
    c->has_model = false;
}
