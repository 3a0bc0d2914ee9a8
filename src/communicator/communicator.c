#include "communicator/communicator.h"

#include <pthread.h>
#include <stdlib.h>

#include "communicator/deadline.h"
#include "communicator/process.h"
#include "communicator/quiet.h"
#include "communicator/state.h"
#include "communicator/statistics.h"
#include "communicator/tuner.h"
#include "communicator/wish.h"
#include "reduce/packed.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ar_communicator list = {.next = &list, .previous = &list};

static void
enlist(struct ar_communicator *c)
{
    pthread_mutex_lock(&lock);
    c->previous = &list;
    c->next = list.next;
    list.next->previous = c;
    list.next = c;
    pthread_mutex_unlock(&lock);
}

static void
delist(struct ar_communicator *c)
{
    pthread_mutex_lock(&lock);
    c->next->previous = c->previous;
    c->previous->next = c->next;
    pthread_mutex_unlock(&lock);
}

void
ar_communicators_collect(struct ar_table *table)
{
    pthread_mutex_lock(&lock);
    for (struct ar_communicator *c = list.next; c != &list; c = c->next)
        if (c->recorder)
            ar_recorder_collect(c->recorder, table);
    pthread_mutex_unlock(&lock);
}

void
ar_communicators_reset(void)
{
    pthread_mutex_lock(&lock);
    for (struct ar_communicator *c = list.next; c != &list; c = c->next)
        if (c->recorder)
            ar_recorder_reset(c->recorder);
    pthread_mutex_unlock(&lock);
}

void
ar_communicators_close(enum ar_close how)
{
    pthread_mutex_lock(&lock);
    for (struct ar_communicator *c = list.next; c != &list; c = c->next)
        ar_engine_destroy(c, how == AR_CLOSE_TOGETHER);
    pthread_mutex_unlock(&lock);
    ar_agree_close();
    ar_segments_close();
    if (how == AR_CLOSE_TOGETHER)
        ar_carriers_close();
}

/* After close, MPI may be past freeing communicators: theirs is gone already. */
static void
destroy(struct ar_communicator *c)
{
    ar_statistics_detach(c);
    ar_decisions_destroy(c);
    ar_tuner_destroy(c->tuner);
    ar_engine_destroy(c, !ar_process_is_closed());
    ar_memory_destroy(c);
    ar_model_destroy(c);
    ar_exact_sum_destroy(c);
    ar_config_destroy(c->own_config);
    free(c->scratch);
    free(c->name);
    free(c);
}

int
ar_communicator_delete_callback(MPI_Comm comm, int keyval, void *state, void *extra)
{
    (void)comm;
    (void)keyval;
    (void)extra;
    delist(state);
    destroy(state);
    return MPI_SUCCESS;
}

/* Hangs c on comm; on failure c is gone. */
static struct ar_communicator *
attach(struct ar_communicator *c, MPI_Comm comm, int *error)
{
    enlist(c);
    *error = PMPI_Comm_set_attr(comm, ar_process_get()->keyval, c);
    if (*error == MPI_SUCCESS)
        return c;
    delist(c);
    destroy(c);
    return NULL;
}

static struct ar_communicator *
allocate(MPI_Comm comm, int *error)
{
    struct ar_communicator *c = calloc(1, sizeof *c);
    *error = c ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    if (!c)
        return NULL;
    PMPI_Comm_rank(comm, &c->rank);
    PMPI_Comm_size(comm, &c->nranks);
    c->carriage.slot = -1;
    return c;
}

void
ar_communicator_configure(struct ar_communicator *c, struct ar_config *config)
{
    ar_decisions_clear(c);
    ar_config_destroy(c->own_config);
    c->config = c->own_config = config;
    c->always_native = c->verdict ? c->verdict : ar_config_always_native(config);
    ar_statistics_relabel(c);
}

/* What the program wished for the communicator that this one is a copy of.  All
 * ranks of that one agreed on it. */
static int
inherit_wish(struct ar_communicator *c, MPI_Comm comm)
{
    const char *clauses = ar_wish_get(comm);
    struct ar_config *config = clauses ? ar_config_with_program(c->config, clauses) : NULL;
    if (config)
        ar_communicator_configure(c, config);
    return clauses && !config ? MPI_ERR_NO_MEM : MPI_SUCCESS;
}

static int
begin_tuning(struct ar_communicator *c)
{
    if (c->config->tune != AR_TUNE_ONLINE || c->config->broken || c->nranks == 1)
        return MPI_SUCCESS;
    c->tuner = ar_tuner_create(c);
    return c->tuner ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

static struct ar_communicator *
create(MPI_Comm comm, int *error)
{
    const uint64_t start = ar_clock_system_ns();
    struct ar_config *config = ar_process_get()->config;
    int inter = 0;
    struct ar_communicator *c = config ? allocate(comm, error) : NULL;
    if (!config)
        *error = MPI_ERR_NO_MEM;
    if (!c)
        return NULL;
    *error = PMPI_Comm_test_inter(comm, &inter);
    if (inter)
        c->always_native = "intercommunicator";
    else if (!*error)
        *error = ar_agree(c, comm, config);
    if (!*error && !inter)
        c->always_native = c->verdict ? c->verdict : ar_config_always_native(c->config);
    if (!*error && !inter)
        *error = inherit_wish(c, comm);
    if (!*error && !inter)
        *error = begin_tuning(c);
    if (!*error) {
        ar_statistics_attach(c, comm, ar_clock_system_ns() - start);
        return attach(c, comm, error);
    }
    destroy(c);
    return NULL;
}

static struct ar_communicator *
create_quietly(MPI_Comm comm, int *error)
{
    struct ar_quiet quiet;
    ar_quiet_begin(&quiet, comm);
    struct ar_communicator *c = create(comm, error);
    ar_quiet_end(&quiet);
    return c;
}

struct ar_communicator *
ar_communicator_get(MPI_Comm comm, int *error, bool *is_raised)
{
    const struct ar_process *process = ar_process_get();
    struct ar_communicator *c = NULL;
    int found = 0;
    *error = process->error;
    *is_raised = false;
    if (*error || ar_process_is_closed())
        return NULL;
    *error = PMPI_Comm_get_attr(comm, process->keyval, &c, &found);
    *is_raised = *error != MPI_SUCCESS;
    if (*error)
        return NULL;
    if (ar_deadline_is_on())
        ar_deadline_meet(comm, found ? AR_DEADLINE_CHOOSES : AR_DEADLINE_JOINS);
    return found ? c : create_quietly(comm, error);
}

struct ar_communicator *
ar_communicator_find(MPI_Comm comm)
{
    const struct ar_process *process = ar_process_get();
    struct ar_communicator *c = NULL;
    int found = 0;
    if (process->error || ar_process_is_closed() ||
        PMPI_Comm_get_attr(comm, process->keyval, &c, &found) != MPI_SUCCESS)
        return NULL;
    return found ? c : NULL;
}

struct ar_communicator *
ar_communicator_create_with(MPI_Comm comm, struct ar_config *config)
{
    int error;
    struct ar_communicator *c = allocate(comm, &error);
    if (!c)
        return NULL;
    c->config = c->own_config = config;
    c->always_native = ar_config_always_native(config);
    return attach(c, comm, &error);
}

static int
run_messages(struct ar_communicator *c, const struct ar_decision *decision,
             const struct ar_reduction *r, const void *in, void *out)
{
    const struct ar_p2p run = {
        .plan = decision->plan,
        .reduction = r,
        .in = in,
        .out = out,
        .scratch = c->scratch,
        .channel = decision->channel,
        .member_of = c->member_of,
        .wire = &c->carriage.wire,
        .whole = decision->whole,
        .wait = c->wait,
        .waited_ticks = c->recorder ? &c->recorder->waited_ticks : NULL,
    };
    if (!ar_deadline_is_on())
        return ar_p2p_run(&run);
    ar_deadline_run(
        &(struct ar_deadline_run){.choice = &decision->choice, .reduction = r, .p2p = &run});
    const int error = ar_p2p_run(&run);
    ar_deadline_leave();
    return error;
}

/* The plan was made for packed elements: see make_plan in decide.c. */
static int
run_packed(struct ar_communicator *c, const struct ar_decision *decision,
           const struct ar_reduction *r, const void *in, void *out)
{
    struct ar_packing p;
    int error = ar_packing_init(&p, r, in, out, decision->key.count);
    if (!error)
        error = run_messages(c, decision, &p.packed, p.packed_in, p.packed_out);
    return ar_packing_fini(&p, error);
}

static int
run_memory(struct ar_communicator *c, MPI_Comm comm, const struct ar_decision *decision,
           const struct ar_reduction *r, const void *in, void *out)
{
    const struct ar_node_run run = {
        .node = decision->node,
        .reduction = r,
        .in = in,
        .out = out,
        .scratch = c->scratch,
        .count = decision->key.count,
        .whole = decision->whole,
        .segment_bytes = decision->choice.params.segment_bytes,
        .whole_bytes = decision->choice.params.whole_bytes,
        .comm = comm,
        .wait = c->wait,
        .waited_ticks = c->recorder ? &c->recorder->waited_ticks : NULL,
    };
    if (!ar_deadline_is_on())
        return ar_node_allreduce(&run);
    ar_deadline_run(
        &(struct ar_deadline_run){.choice = &decision->choice, .reduction = r, .node = &run});
    const int error = ar_node_allreduce(&run);
    ar_deadline_leave();
    return error;
}

int
ar_communicator_run(struct ar_communicator *c, MPI_Comm comm, const struct ar_decision *decision,
                    const struct ar_reduction *r, const void *in, void *out)
{
    if (c->failure)
        return c->failure;
    if (decision->runner == AR_RUN_MESSAGES && ar_reduction_interleaves(r))
        c->failure = run_packed(c, decision, r, in, out);
    else if (decision->runner == AR_RUN_MESSAGES)
        c->failure = run_messages(c, decision, r, in, out);
    else if (decision->runner == AR_RUN_EXACT)
        c->failure = ar_exact_sum_run(c, comm, r, in, out, decision->key.count);
    else
        c->failure = run_memory(c, comm, decision, r, in, out);
    return c->failure;
}
