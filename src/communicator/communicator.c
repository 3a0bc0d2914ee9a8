#include "communicator/communicator.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "communicator/agree.h"
#include "communicator/decide.h"
#include "communicator/devices.h"
#include "communicator/named_levels.h"
#include "communicator/process.h"
#include "communicator/program_clauses.h"
#include "communicator/transport.h"
#include "communicator/tuner.h"
#include "communicator/ways.h"
#include "communicator/written_files.h"
#include "execute/group.h"
#include "execute/key.h"
#include "execute/node_plan.h"
#include "record/deadline.h"
#include "record/statistics.h"
#include "reduce/packed.h"

static struct ar_config *process_config; /* NULL: no memory */
static atomic_bool stopped;

/* --- what is being freed --- */

#define FREED_MOST 8 /* inside one another: a delete callback may free further ones */

static atomic_int frees; /* under way, of all threads: mostly none, and nothing else to look at */
static __thread MPI_Comm freed[FREED_MOST];
static __thread int nfreed;

void
ar_communicator_free_begin(MPI_Comm comm)
{
    atomic_fetch_add_explicit(&frees, 1, memory_order_relaxed);
    if (nfreed < FREED_MOST)
        freed[nfreed] = comm;
    nfreed++;
}

void
ar_communicator_free_end(void)
{
    nfreed--;
    atomic_fetch_sub_explicit(&frees, 1, memory_order_relaxed);
}

static bool
is_being_freed(MPI_Comm comm)
{
    int i = 0;
    if (atomic_load_explicit(&frees, memory_order_relaxed) == 0)
        return false;
    while (i < nfreed && i < FREED_MOST && freed[i] != comm)
        i++;
    return i < nfreed && i < FREED_MOST;
}

bool
ar_communicators_are_stopped(void)
{
    return atomic_load_explicit(&stopped, memory_order_relaxed);
}

bool
ar_communicator_is_ending(MPI_Comm comm)
{
    return ar_communicators_are_stopped() || is_being_freed(comm);
}

/* --- all of them --- */

static void
destroy(struct ar_communicator *c)
{
    ar_statistics_detach(c->records.recorder);
    c->records.recorder = NULL;
    ar_timeline_detach(c->records.timeline);
    ar_decisions_clear(&c->choice);
    ar_tuner_destroy(c->choice.tuner);
    ar_engine_destroy(c);
    ar_levels_forget(c);
    ar_written_forget(c);
    ar_rules_destroy(c->messages.rules[0]);
    ar_rules_destroy(c->messages.rules[1]);
    ar_config_destroy(c->agreement.own_config);
    free(c->buffers.exact_sum);
    free(c->choice.trials[0]);
    free(c->choice.trials[1]);
    free(c->devices.kinds);
    free(c->buffers.scratch);
    ar_aligned_end(&c->buffers.operands);
    free(c->name);
    free(c);
}

static MPI_Comm_delete_attr_function leave;
static struct ar_key states = {MPI_COMM_NULL_COPY_FN, leave, 0};

/* Attribute delete callback of a communicator's state. */
static int
leave(MPI_Comm comm, int key, void *state, void *extra)
{
    (void)comm;
    (void)key;
    (void)extra;
    destroy(state);
    ar_key_leave(&states);
    return MPI_SUCCESS;
}

void
ar_communicators_open(struct ar_config *config)
{
    process_config = config;
}

void
ar_communicators_stop(void)
{
    atomic_store(&stopped, true);
}

void
ar_communicators_close(bool is_together)
{
    ar_comm_self_close();
    ar_arenas_close();
    if (is_together)
        ar_carriers_close();
}

/* --- one --- */

/* Makes c an attribute of comm; NULL, with c destroyed, where MPI refuses. */
static struct ar_communicator *
attach(struct ar_communicator *c, MPI_Comm comm, int *error)
{
    *error = ar_key_set(&states, comm, c);
    if (*error == MPI_SUCCESS)
        return c;
    destroy(c);
    return NULL;
}

static struct ar_communicator *
allocate(MPI_Comm comm)
{
    struct ar_communicator *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    PMPI_Comm_rank(comm, &c->rank);
    PMPI_Comm_size(comm, &c->nranks);
    c->messages.carriage.range = -1;
    c->devices.calls_to_review = LONG_MAX;
    return c;
}

/* Finds out whether every call goes native, and how such calls are recorded. */
static void
find_native(struct ar_communicator *c)
{
    c->agreement.always_native =
        c->agreement.verdict ? c->agreement.verdict : ar_config_always_native(c->config);
    if (c->records.recorder && c->agreement.always_native)
        c->agreement.native_label = ar_recorder_label(
            c->records.recorder, AR_ENTRY_ALLREDUCE, NULL,
            c->config && !c->config->broken ? "native" : "", "native", c->agreement.always_native);
}

void
ar_communicator_configure(struct ar_communicator *c, struct ar_config *config)
{
    ar_decisions_clear(&c->choice);
    ar_config_destroy(c->agreement.own_config);
    c->config = c->agreement.own_config = config;
    find_native(c);
}

void
ar_communicator_end_choice(struct ar_communicator *c, const char *reason)
{
    c->agreement.verdict = reason;
    find_native(c);
}

/* Settles what concerns all ranks, after they have begun.  Collective over comm, but not where they
 * are known to be alike. */
static int
settle(struct ar_communicator *c, MPI_Comm comm, const struct ar_beginning *beginning)
{
    c->devices.calls_to_review = c->devices.reviewed_calls = AR_REVIEW_CALLS;
    c->memory.in_place_is_tried = beginning->known & AR_LACKS_XPMEM;
    int error = ar_agree_at_start(c, comm, process_config, beginning->known);
    if (error || c->agreement.has_versions)
        return error;
    /* Where comm is a copy: what the program chose for its original, alike on all ranks. */
    const char *const clauses = ar_program_clauses_get(comm);
    struct ar_config *const config = clauses ? ar_config_with_program(c->config, clauses) : NULL;
    if (clauses && !config)
        return MPI_ERR_NO_MEM;
    if (config)
        ar_communicator_configure(c, config);
    if (c->config->tune == AR_TUNE_ONLINE && !c->config->broken && c->nranks > 1) {
        c->choice.tuner = ar_tuner_create(c);
        return c->choice.tuner ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    }
    return MPI_SUCCESS;
}

/* Does the first exchange wait for the second call?  Then no rank asks another one now, and so this
 * one must know by itself what all do. */
static bool
may_wait(MPI_Comm comm, int *error)
{
    int rank, nranks;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &nranks);
    const struct ar_circle all = ar_circle_of(comm, rank, nranks);
    return nranks > 1 && ar_group_is_known_apart(&all, error);
}

/* Collective over comm, unless the ranks may wait. */
static struct ar_communicator *
create(MPI_Comm comm, const struct ar_reduction *r, size_t count, int *error)
{
    const uint64_t start = ar_clock_system_ns();
    int inter = 0;
    struct ar_beginning beginning = {.known = AR_ALIKE};
    *error = PMPI_Comm_test_inter(comm, &inter);
    if (*error)
        return NULL;
    struct ar_communicator *const c = process_config ? allocate(comm) : NULL;
    /* Why no message may be ours. */
    const char *const alone = inter                        ? "intercommunicator"
                              : ar_job_is_fault_tolerant() ? "fault tolerance"
                              : ar_comm_leaves_world(comm) ? "ranks of another world"
                                                           : NULL;
    if (c && !alone) /* a communicator without one is always native */
        c->config = process_config;
    *error = c || alone ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    if (!c)
        return NULL;
    const bool waits = !alone && may_wait(comm, error);
    if (!*error && !alone && !waits)
        *error = ar_agree_to_begin(&beginning, c, comm, r, count);
    if (*error) {
        destroy(c);
        return NULL;
    }
    c->agreement.waits = waits;
    if (alone)
        c->agreement.verdict = alone;
    else
        *error = settle(c, comm, &beginning);
    if (!*error && !c->agreement.verdict)
        *error = ar_timeline_attach(&c->records.timeline, c->config, comm, start);
    if (*error) {
        destroy(c);
        return NULL;
    }
    c->records.recorder = ar_statistics_attach(c->agreement.has_versions ? NULL : c->config, comm,
                                               ar_clock_system_ns() - start);
    find_native(c);
    if (!c->agreement.verdict)
        *error = ar_engine_take(c, comm, &beginning.offer);
    if (*error) {
        destroy(c);
        return NULL;
    }
    return attach(c, comm, error);
}

int
ar_communicator_meet(struct ar_communicator *c, MPI_Comm comm, const struct ar_reduction *r,
                     size_t count)
{
    struct ar_beginning beginning;
    struct ar_setup setup;
    if (ar_deadline_own)
        ar_deadline_meet(comm, AR_DEADLINE_JOINS);
    ar_setup_begin(&setup);
    int error = ar_agree_to_begin(&beginning, c, comm, r, count);
    if (!error) {
        c->agreement.waits = false;
        c->memory.in_place_is_tried = beginning.known & AR_LACKS_XPMEM;
        if (beginning.known & AR_ALIKE_WITH_DEVICES)
            ar_devices_expect(c);
        error = ar_engine_take(c, comm, &beginning.offer);
    }
    ar_setup_end(&setup, c);
    return error;
}

struct ar_communicator *
ar_communicator_look_up(MPI_Comm comm, int *error, bool *is_raised, bool *is_new)
{
    struct ar_communicator *c = NULL;
    int found = 0;
    *error = MPI_SUCCESS;
    *is_raised = *is_new = false;
    if (ar_communicator_is_ending(comm))
        return NULL;
    *error = ar_key_get(&states, comm, &c, &found);
    *is_raised = *error != MPI_SUCCESS;
    if (*error)
        return NULL;
    *is_new = !found;
    if (found && ar_deadline_own)
        ar_deadline_meet(comm, AR_DEADLINE_CHOOSES);
    return found ? c : NULL;
}

struct ar_communicator *
ar_communicator_create(MPI_Comm comm, const struct ar_reduction *r, size_t count, int *error)
{
    if (ar_deadline_own)
        ar_deadline_meet(comm, AR_DEADLINE_JOINS);
    return create(comm, r, count, error);
}

struct ar_communicator *
ar_communicator_find(MPI_Comm comm)
{
    struct ar_communicator *c = NULL;
    int found = 0;
    if (ar_communicator_is_ending(comm) || ar_key_get(&states, comm, &c, &found) != MPI_SUCCESS)
        return NULL;
    return found ? c : NULL;
}

void
ar_setup_begin(struct ar_setup *setup)
{
    setup->start_ns = ar_clock_system_ns();
    feholdexcept(&setup->environment);
}

void
ar_setup_end(struct ar_setup *setup, const struct ar_communicator *c)
{
    fesetenv(&setup->environment);
    if (c->records.recorder)
        c->records.recorder->setup_ns += ar_clock_system_ns() - setup->start_ns;
}

struct ar_communicator *
ar_communicator_create_with(MPI_Comm comm, struct ar_config *config)
{
    int error;
    struct ar_communicator *const c = allocate(comm);
    if (!c)
        return NULL;
    ar_communicator_configure(c, config);
    return attach(c, comm, &error);
}

void
ar_communicator_assume(struct ar_communicator *c, const int *node_of)
{
    c->messages.assumed = node_of;
}

/* --- runs --- */

static void
note_streaming(struct ar_communicator *c, const struct ar_decision *d,
               const struct ar_stores *stores)
{
    ar_copy_learn(c, d, stores);
    if (c->records.recorder)
        c->records.recorder->streamed |= stores->is_streamed;
}

static int
by_messages(struct ar_communicator *c, const struct ar_decision *decision,
            const struct ar_reduction *r, const void *in, void *out)
{
    const struct ar_p2p run = {
        .plan = decision->plan,
        .reduction = r,
        .in = in,
        .out = out,
        .scratch = c->buffers.scratch,
        .channel = decision->channel,
        .member_of = c->messages.member_of,
        .wire = &c->messages.carriage.wire,
        .whole = decision->whole,
        .wait = c->wait,
        .waited_ticks = c->records.recorder ? &c->records.recorder->waited_ticks : NULL,
        .events = c->records.events,
    };
    const struct ar_deadline_run watched = {&decision->choice, r, &run, NULL};
    ar_deadline_enter(AR_DEADLINE_RUNS, &watched);
    const int error = ar_p2p_run(&run);
    note_streaming(c, decision, &decision->plan->stores);
    ar_deadline_enter(AR_DEADLINE_CHECKS, NULL);
    return error;
}

static int
by_memory(struct ar_communicator *c, MPI_Comm comm, const struct ar_decision *decision,
          const struct ar_reduction *r, const void *in, void *out, size_t count)
{
    const struct ar_node_run run = {
        .node = decision->node,
        .plan = decision->node_plan,
        .count = count,
        .in_place = decision->choice.params.copy == AR_COPY_IN_PLACE ? c->memory.in_place : NULL,
        .tries_ways = decision->tries_ways,
        .reduction = r,
        .in = in,
        .out = out,
        .scratch = c->buffers.scratch,
        .comm = comm,
        .wait = c->wait,
        .waited_ticks = c->records.recorder ? &c->records.recorder->waited_ticks : NULL,
        .events = c->records.events,
    };
    const struct ar_deadline_run watched = {&decision->choice, r, NULL, &run};
    ar_deadline_enter(AR_DEADLINE_RUNS, &watched);
    const int error = ar_node_allreduce(&run);
    note_streaming(c, decision, &decision->node_plan->stores);
    ar_deadline_enter(AR_DEADLINE_CHECKS, NULL);
    return error;
}

static int
carry(struct ar_communicator *c, MPI_Comm comm, const struct ar_decision *decision,
      const struct ar_reduction *r, const void *in, void *out, size_t count)
{
    return decision->runner == AR_RUN_MESSAGES ? by_messages(c, decision, r, in, out)
                                               : by_memory(c, comm, decision, r, in, out, count);
}

/* The plan was made for packed elements: see make_plan in decide.c. */
static int
pack(struct ar_communicator *c, MPI_Comm comm, const struct ar_decision *decision,
     const struct ar_reduction *r, const void *in, void *out, size_t count)
{
    struct ar_packing p;
    int error = ar_packing_init(&p, r, in, out, count);
    if (!error)
        error = carry(c, comm, decision, &p.packed, p.packed_in, p.packed_out, count);
    return ar_packing_fini(&p, error);
}

static int
align(struct ar_communicator *c, MPI_Comm comm, const struct ar_decision *decision,
      const struct ar_reduction *r, const void *in, void *out, size_t count)
{
    struct ar_reduction aligned = *r;
    aligned.operands = &c->buffers.operands;
    ar_aligned_begin(&c->buffers.operands, in, out);
    return carry(c, comm, decision, &aligned, in, out, count);
}

int
ar_communicator_run(struct ar_communicator *c, MPI_Comm comm, const struct ar_decision *decision,
                    const struct ar_reduction *r, const void *in, void *out, size_t count)
{
    if (c->failure)
        return c->failure;
    if (decision->runner == AR_RUN_EXACT)
        c->failure = ar_exact_sum_run(c, comm, r, in, out, count);
    else if (ar_reduction_interleaves(r))
        c->failure = pack(c, comm, decision, r, in, out, count);
    else if (decision->whole)
        c->failure = align(c, comm, decision, r, in, out, count);
    else
        c->failure = carry(c, comm, decision, r, in, out, count);
    return c->failure;
}
