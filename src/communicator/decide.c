#include "communicator/decide.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "communicator/forecast.h"
#include "communicator/named_levels.h"
#include "communicator/transport.h"
#include "communicator/tuner.h"
#include "communicator/ways.h"
#include "communicator/written_files.h"
#include "execute/node_plan.h"
#include "reduce/packed.h"
#include "select/number.h"

const char ar_reason_device[] = "device memory";
const char ar_reason_first[] = "first call of its size";
const char ar_reason_waits[] = "first call";

/* Where bits must stay, none is tuned: they would change with what runs. */
static enum ar_determinism
keeps_of(const struct ar_reduction *r, const struct ar_config *config)
{
    return ar_determinism_of_call(config->determinism, r->which, r->type_class, r->size);
}

static struct ar_decision_key
key_of(const struct ar_reduction *r, size_t count, enum ar_place place,
       const struct ar_config *config, const struct ar_pick *pick)
{
    const unsigned asks = config->traits;
    return (struct ar_decision_key){
        .count = count,
        .size = r->size,
        .true_extent = r->true_extent,
        .extent = r->extent,
        .true_lb = r->true_lb,
        .commutative = r->commutative,
        .named = r->named,
        .basic = r->basic,
        .op = asks & AR_TRAIT_OP ? r->which : 0,
        .type = asks & AR_TRAIT_TYPE ? r->type_class : 0,
        .place = place,
        .keeps = keeps_of(r, config),
        .pick = pick ? pick->number : 0,
    };
}

/* The pure layers' error as one of MPI's. */
static int
mpi_error(int error)
{
    return error == AR_OK ? MPI_SUCCESS : error == AR_ERR_MEMORY ? MPI_ERR_NO_MEM : MPI_ERR_INTERN;
}

/* What was named ran otherwise, of which no reason tells yet. */
static void
tell_change(struct ar_decision *d, const char *reason)
{
    if (d->reason == ar_reason_named || d->reason == ar_reason_program ||
        d->reason == ar_reason_rule)
        d->reason = reason;
}

/* --- who has a say --- */

/* What runs this call? */
struct question {
    struct ar_communicator *c;
    MPI_Comm comm;
    const struct ar_reduction *r;
    const struct ar_pick *pick; /* NULL: none */
    bool is_first;              /* the call is the first one of about its size */
    struct ar_decision *d;      /* the answer; its key is known, and at first it is native */
    struct ar_request request;  /* from ask_settings on */
    bool is_open;               /* auto decides, and the ranks share no memory */
    int error;
};

static bool
is_auto(const struct ar_decision *d)
{
    return d->reason == ar_reason_auto;
}

static bool
wants_memory(const struct question *q)
{
    return q->d->choice.algorithm->shares_memory && q->c->nranks > 1;
}

static bool
leave_to_mpi(struct ar_decision *d)
{
    d->choice = (struct ar_choice){.kind = AR_CHOICE_NATIVE};
    return true;
}

static bool
ask_size(struct question *q)
{
    return q->r->size == 0;
}

/* What the user, the program or a rules file says; otherwise auto's rules for one node. */
static bool
ask_settings(struct question *q)
{
    struct ar_decision *const d = q->d;
    const struct ar_config *const config = q->c->config;
    q->error = ar_request_describe(q->c, q->comm, &q->request, q->r, d->key.count, d->key.place);
    if (q->error)
        return false;
    if (d->key.keeps == AR_DETERMINISM_ORDER)
        q->request.keeps = AR_DETERMINISM_NONE; /* the sum is exact, so any algorithm serves */
    d->clause = ar_config_clause(config, &q->request);
    d->whole = q->c->nranks > 1 && !ar_config_may_cut(config, &q->request);
    q->error = mpi_error(ar_config_select(config, &d->choice, &q->request, &d->reason));
    return true;
}

/* What is measured, or compared, or has won. */
static bool
ask_pick(struct question *q)
{
    struct ar_decision *const d = q->d;
    if (!q->pick)
        return false;
    d->choice = q->pick->choice;
    d->reason = q->pick->reason;
    d->is_brief = q->pick->is_brief;
    if (d->choice.kind == AR_CHOICE_ALGORITHM && !q->request.commutative &&
        !ar_algorithm_keeps_order(d->choice.algorithm, &d->choice.params)) {
        leave_to_mpi(d);
        d->reason = ar_reason_no_commute;
    }
    return true;
}

/* What the file has that the choice names.  Where the proof does not serve, native does. */
static bool
ask_file(struct question *q)
{
    struct ar_decision *const d = q->d;
    if (d->choice.kind != AR_CHOICE_ALGORITHM || !(d->choice.algorithm->takes & AR_TAKES_FILE))
        return false;
    q->error = ar_written_settle(q->c, q->comm, d);
    return true;
}

static bool
ask_devices(struct question *q)
{
    return q->d->key.for_devices && leave_to_mpi(q->d);
}

/* One rank copies, for which a plan takes longer than the call. */
static bool
ask_ranks(struct question *q)
{
    return q->c->nranks == 1 && is_auto(q->d) && q->d->key.keeps == AR_DETERMINISM_NONE &&
           leave_to_mpi(q->d);
}

/* A plan for 128 ranks takes milliseconds to make, and many a communicator is made for one call. If
 * the configuration lists what auto may pick, no call is left to MPI. */
static bool
ask_seen(struct question *q)
{
    return q->is_first && is_auto(q->d) && q->d->key.keeps == AR_DETERMINISM_NONE &&
           !ar_config_has_list(q->c->config) && leave_to_mpi(q->d);
}

/* Integers are exchanged, and nothing is rounded.  On one rank nothing is added. */
static bool
ask_exactness(struct question *q)
{
    const bool is_exact = q->d->key.keeps == AR_DETERMINISM_ORDER && q->c->nranks > 1;
    q->d->runner = is_exact ? AR_RUN_EXACT : AR_RUN_NATIVE;
    return is_exact;
}

/* Maps the memory that the choice wants, which takes one node.  Where there is none, an algorithm
 * that was named stays, and the same schedule goes by messages; auto's choice is open.  Above RUN
 * another choice would break a promise.  Under RUN the nodes may decide, but not whether memory
 * could be had this time: nodes may be containers. */
static bool
ask_memory(struct question *q)
{
    struct ar_communicator *const c = q->c;
    struct ar_decision *const d = q->d;
    const bool was_auto = is_auto(d);
    const bool asks_nodes = was_auto && d->key.keeps == AR_DETERMINISM_RUN;
    if (asks_nodes)
        q->error = ar_request_count_nodes(c, q->comm);
    if (q->error)
        return false;
    if (wants_memory(q) && !(asks_nodes && c->messages.nodes > 1))
        d->node = ar_memory_find_or_map(c, q->comm, q->r, d->key.count, &d->reason);
    q->is_open = was_auto && !d->node && d->key.keeps <= AR_DETERMINISM_RUN &&
                 !(asks_nodes && c->messages.nodes == 1);
    return false;
}

/* A model that is measured at the start may be another one in another run. */
static bool
ask_formulas(struct question *q)
{
    struct ar_communicator *const c = q->c;
    const char *reason = NULL;
    if (!q->is_open)
        return false;
    q->request.shares_memory = false;
    if (c->messages.state == AR_ENGINE_NONE)
        q->error = ar_engine_create(c, q->comm);
    if (!q->error && c->messages.state == AR_ENGINE_READY &&
        (q->d->key.keeps == AR_DETERMINISM_NONE || c->config->model_file))
        q->error = ar_model_choose(c, q->comm, &q->d->choice, &q->request, &reason);
    q->is_open = !reason;
    return reason;
}

/* Auto's rules for ranks that share no memory. */
static bool
ask_rules(struct question *q)
{
    struct ar_decision *const d = q->d;
    if (!q->is_open || !wants_memory(q))
        return false;
    q->error = mpi_error(ar_config_select(q->c->config, &d->choice, &q->request, &d->reason));
    return true;
}

/* An op of the program's own may treat all elements as one record, as it can in MPICH.  In shared
 * memory they must fit into a chunk, whose length depends on the place, and no such call goes there
 * if bits must not.  Only a choice that auto may select stands in for auto's, unless none of them
 * keeps the bits. */
static bool
ask_op(struct question *q)
{
    const struct ar_communicator *const c = q->c;
    struct ar_decision *const d = q->d;
    const struct ar_algorithm *const chosen = d->choice.algorithm;
    const bool *const allowed = c->config->allowed;
    const bool is_autos = !d->key.pick && (!d->clause || d->clause->kind == AR_CHOICE_AUTO);
    const struct ar_request request = {
        .nranks = c->nranks, .commutative = d->key.commutative, .keeps = d->key.keeps};
    struct ar_params *const params = &d->choice.params;
    if (!d->whole)
        return false;
    if (d->node && d->key.keeps == AR_DETERMINISM_NONE &&
        ar_node_takes_whole(d->node, q->r, d->key.count)) {
        if (params->whole_bytes > 0 || params->segment_bytes > 0 || params->segments > 0)
            tell_change(d, ar_reason_whole);
        if (d->key.count * d->key.size > d->node->tuning.whole_bytes || params->whole_bytes > 0)
            params->whole_bytes = SIZE_MAX;
        params->segment_bytes = 0;
        params->segments = 0;
        return false;
    }
    d->node = NULL;
    if (is_autos && chosen->stand_in && !ar_auto_allows(ar_algorithm_whole(chosen), allowed)) {
        /* The first row that does not cut and that auto may select. */
        struct ar_choice found = {.kind = AR_CHOICE_NATIVE};
        for (size_t i = 0; i < ar_algorithm_count() && found.kind == AR_CHOICE_NATIVE; i++) {
            const struct ar_algorithm *const row = ar_algorithm_at(i);
            const struct ar_choice whole = {AR_CHOICE_ALGORITHM, row, row->defaults};
            if (!row->stand_in && ar_auto_may_select(&whole, &request, allowed))
                found = whole;
        }
        if (found.kind == AR_CHOICE_ALGORITHM || d->key.keeps == AR_DETERMINISM_NONE)
            d->choice = found;
    }
    return d->choice.kind == AR_CHOICE_NATIVE ||
           ar_choice_make_whole(&d->choice, c->nranks, d->key.count, d->key.size,
                                c->config->scratch_bytes) ||
           d->choice.algorithm != chosen;
}

/* All are asked, in this order, and each may replace what those before it chose.  Whoever leaves
 * the call to the MPI library has the last word.  Each answers alike on all ranks, for the reason
 * beside it (see decisions.h). */
static const struct source {
    bool (*ask)(struct question *q); /* does it choose? */
    const char *reason;              /* of its choice; NULL: it tells its own */
} sources[] = {
    {ask_size, "nothing to reduce"},        /* MPI makes counts and sizes equal */
    {ask_settings, NULL},                   /* compared at the first call */
    {ask_pick, NULL},                       /* by times on which the ranks agreed */
    {ask_file, NULL},                       /* one rank's file and proof */
    {ask_devices, ar_reason_device},        /* agreed for calls of this kind */
    {ask_ranks, NULL},                      /* MPI makes their number equal */
    {ask_seen, ar_reason_first},            /* all ranks count the same calls */
    {ask_exactness, ar_reason_determinism}, /* a setting */
    {ask_memory, NULL},                     /* all ranks map it, or none */
    {ask_formulas, ar_reason_model},        /* rank 0's rules */
    {ask_rules, NULL},                      /* settings */
    {ask_op, ar_reason_whole},              /* counts, sizes and settings */
};

static void
choose(struct question *q)
{
    struct ar_decision *const d = q->d;
    bool is_over = false;
    for (size_t i = 0; i < sizeof sources / sizeof sources[0] && !is_over; i++) {
        if (sources[i].ask(q)) {
            d->reason = sources[i].reason ? sources[i].reason : d->reason;
            is_over = d->choice.kind == AR_CHOICE_NATIVE || d->runner == AR_RUN_EXACT;
        }
        is_over |= q->error != MPI_SUCCESS;
    }
}

/* --- what an algorithm needs --- */

/* Where memory runs out the old scratch stays, since plans in the cache count on it. */
static int
grow_scratch(struct ar_communicator *c, size_t bytes)
{
    if (bytes <= c->buffers.scratch_bytes)
        return MPI_SUCCESS;
    char *scratch = aligned_alloc(AR_SCRATCH_ALIGNMENT, bytes); /* a multiple: see plan.c */
    if (!scratch)
        return MPI_ERR_NO_MEM;
    free(c->buffers.scratch);
    c->buffers.scratch = scratch;
    c->buffers.scratch_bytes = bytes;
    return MPI_SUCCESS;
}

/* Messages go through the channel if it carries all segments in flight.  Where it has all ranks, an
 * open window is made as wide as it can carry, since nodes must not differ in it.  The length of
 * segments does not follow, or other places would give other bits. */
static int
make_plan(struct ar_communicator *c, struct ar_decision *d, const struct ar_reduction *r)
{
    const struct ar_reduction packed = ar_reduction_packed(r);
    const struct ar_reduction *const run = ar_reduction_interleaves(r) ? &packed : r;
    struct ar_params params = d->choice.params;
    params.node_of = c->messages.carriage.node_of;
    const bool has_channel = c->messages.has_channel && ar_channel_takes(&c->messages.channel, r);
    const bool is_open = params.window == AR_WINDOW_AUTO && c->messages.channel.nranks == c->nranks;
    const int most = has_channel && is_open ? AR_CHANNEL_QUEUES : AR_WINDOW_MAX;
    const int error =
        mpi_error(ar_plan_create(&d->plan, d->choice.algorithm, &params, c->rank, c->nranks,
                                 d->key.count, run, c->config->scratch_bytes, most));
    if (error)
        return error;
    if (d->plan->segment < ar_params_segment(&params, d->key.count, r->size) &&
        (params.segment_bytes > 0 || params.segments > 0)) {
        d->choice.params.segments = 0;
        d->choice.params.segment_bytes = d->plan->segment * r->size;
        tell_change(d, "scratch memory is too little: shorter segments");
    }
    d->channel = has_channel && d->plan->window <= AR_CHANNEL_QUEUES ? &c->messages.channel : NULL;
    if (d->channel)
        ar_copy_settle_stores(&d->plan->stores, c, d, d->channel->piece.crowd,
                              ar_plan_can_stream(d->plan, run));
    d->runner = AR_RUN_MESSAGES;
    return grow_scratch(c, ar_plan_scratch_bytes(d->plan));
}

/* What is not to be cut, and large elements, may have no room on each level; flat they have.  Where
 * bits must stay so must the levels, and d->node becomes NULL: messages have room. */
static int
make_node_plan(struct ar_communicator *c, struct ar_decision *d, const struct ar_reduction *r)
{
    const struct ar_reduction packed = ar_reduction_packed(r);
    const struct ar_reduction *const run = ar_reduction_interleaves(r) ? &packed : r;
    struct ar_params *const params = &d->choice.params;
    int error = ar_node_plan_create(&d->node_plan, d->node, d->choice.algorithm, params,
                                    d->key.count, run, d->whole);
    if (error == AR_ERR_PARAM && params->grouping && d->key.keeps != AR_DETERMINISM_NONE) {
        d->node = NULL;
        params->copy = AR_COPY_AUTO;
        d->reason = ar_reason_large;
        return MPI_SUCCESS;
    }
    if (error == AR_ERR_PARAM && params->grouping) {
        params->levels = (struct ar_levels){.kind = AR_LEVELS_FLAT};
        params->grouping = NULL;
        d->reason = ar_reason_no_room;
        error = ar_node_plan_create(&d->node_plan, d->node, d->choice.algorithm, params,
                                    d->key.count, run, d->whole);
    }
    if (error)
        return mpi_error(error);
    ar_copy_settle_stores(&d->node_plan->stores, c, d, d->node->piece.crowd,
                          ar_node_plan_can_stream(d->node_plan, run));
    d->runner = AR_RUN_MEMORY;
    return grow_scratch(c, ar_node_plan_scratch_bytes(d->node_plan));
}

/* Makes the engine that messages need; where that fails, the call goes native.  Collective over
 * comm. */
static int
prepare_messages(struct ar_communicator *c, MPI_Comm comm, struct ar_decision *d)
{
    const int error = c->messages.state == AR_ENGINE_NONE ? ar_engine_create(c, comm) : MPI_SUCCESS;
    if (!error && c->messages.state == AR_ENGINE_FAILED) {
        leave_to_mpi(d);
        d->reason = "no private communicator";
    }
    return error;
}

/* Collective over comm at the first calls. */
static int
prepare(struct ar_communicator *c, MPI_Comm comm, struct ar_decision *d,
        const struct ar_reduction *r)
{
    int error = d->node ? MPI_SUCCESS : prepare_messages(c, comm, d);
    if (error || d->choice.kind == AR_CHOICE_NATIVE)
        return error;
    const char *const change = ar_algorithm_fit(d->choice.algorithm, &d->choice.params, c->nranks);
    if (change)
        tell_change(d, change);
    error = ar_levels_settle(c, comm, d);
    if (!error)
        error = ar_copy_settle(c, comm, d);
    if (!error && d->node)
        error = make_node_plan(c, d, r);
    if (!error && !d->node)
        error = prepare_messages(c, comm, d);
    if (!error && !d->node && d->choice.kind == AR_CHOICE_ALGORITHM)
        error = make_plan(c, d, r);
    return error;
}

/* --- decisions --- */

/* Was it left to the MPI library because it is the first one of something? */
static bool
is_for_one_call(const struct ar_decision *d)
{
    return d->reason == ar_reason_first || d->reason == ar_reason_waits;
}

/* The decision with this key.  A new one is collective over comm.  NULL with an error. */
static struct ar_decision *
decide(struct question *q, const struct ar_decision_key *key)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    struct ar_communicator *const c = q->c;
    struct ar_decision *d = ar_decisions_find(&c->choice, key);
    if (d && !q->is_first && !is_for_one_call(d))
        return d;
    d = q->d = calloc(1, sizeof *d);
    q->error = d ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    if (!d)
        return NULL;
    d->key = *key;
    struct ar_setup setup;
    struct ar_events *const events = c->records.events; /* not of what is measured to decide */
    c->records.events = NULL;
    ar_setup_begin(&setup);
    choose(q);
    if (!q->error && d->choice.kind == AR_CHOICE_ALGORITHM && d->runner != AR_RUN_EXACT)
        q->error = prepare(c, q->comm, d, q->r);
    if (c->records.recorder && !q->error)
        d->label = ar_decision_label(c, d, NULL);
    ar_setup_end(&setup, c);
    c->records.events = events;
    if (events)
        ar_events_note(events, (struct ar_event){.kind = AR_EVENT_SETUP,
                                                 .begin_ns = setup.start_ns,
                                                 .end_ns = ar_clock_system_ns(),
                                                 .peer = -1});
    if (q->error) {
        ar_decision_destroy(d);
        return NULL;
    }
    if (d->runner == AR_RUN_NATIVE && key->size > 0 && key->keeps != AR_DETERMINISM_NONE &&
        c->rank == 0 && !atomic_flag_test_and_set(&said))
        ar_say("ALLREDUCE_DETERMINISM=%s: a call of %zu byte%s runs native (%s), whose bits are "
               "not guaranteed",
               ar_determinism_names[c->config->determinism], key->count * key->size,
               ar_plural(key->count * key->size), d->reason);
    ar_decisions_keep(&c->choice, d);
    return d;
}

struct ar_decision *
ar_communicator_decide_on(struct ar_communicator *c, MPI_Comm comm, const struct ar_reduction *r,
                          size_t count, enum ar_place place, const struct ar_pick *pick, int *error)
{
    const struct ar_decision_key key = key_of(r, count, place, c->config, pick);
    struct question q = {.c = c, .comm = comm, .r = r, .pick = pick};
    struct ar_decision *const d = decide(&q, &key);
    *error = q.error;
    return d;
}

/* What a request must be told of nodes, a name or all ranks' places takes messages. */
struct ar_decision *
ar_decision_wait(struct ar_communicator *c, MPI_Comm comm, const struct ar_reduction *r,
                 size_t count, int *error)
{
    const unsigned asks = AR_TRAIT_NODES | AR_TRAIT_PER_NODE | AR_TRAIT_COMM | AR_TRAIT_PLACE;
    if (c->agreement.has_waited || count * r->size >= AR_WAITS_BYTES || c->choice.pick ||
        c->choice.tuner || c->config->is_watched || c->config->traits & asks)
        return NULL;
    c->agreement.has_waited = true;
    struct ar_decision *const d = calloc(1, sizeof *d);
    *error = d ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    if (!d)
        return NULL;
    struct question q = {.c = c, .comm = comm, .r = r, .d = d, .is_first = true};
    d->key = key_of(r, count, 0, c->config, NULL);
    if (!ask_settings(&q) || d->choice.kind == AR_CHOICE_NATIVE || !ask_seen(&q)) {
        *error = q.error;
        ar_decision_destroy(d);
        return NULL;
    }
    d->reason = ar_reason_waits;
    if (c->records.recorder)
        d->label = ar_decision_label(c, d, NULL);
    ar_decisions_keep(&c->choice, d);
    return d;
}

/* The decision for the call, or for a longer one if the call is to borrow its plan.  *is_counted:
 * the next call like it is to be counted, too, for what comes often. */
static struct ar_decision *
decide_or_borrow(struct question *q, struct ar_decision_key *key, bool *is_counted)
{
    struct ar_communicator *const c = q->c;
    const size_t count = key->count;
    const bool may_be_first = c->nranks > AR_RANKS_PLANNED_AT_ONCE && !q->pick &&
                              c->config->tune != AR_TUNE_ONLINE && !key->for_devices &&
                              key->size > 0;
    key->count = ar_lending_find(c, q->comm, q->r, key, &q->error);
    *is_counted = key->count > count;
    if (q->error)
        return NULL;
    q->is_first = may_be_first &&
                  ar_decisions_see(&c->choice, ar_lending_count(count, key->size) * key->size);
    struct ar_decision *const d = decide(q, key);
    if (!d || key->count == count)
        return d;
    if (!ar_decision_lends(d)) {
        key->count = count;
        return decide(q, key);
    }
    if (d->node_plan && !d->node_plan->can_end_early) /* it is proved that it can */
        q->error = MPI_ERR_INTERN;
    return d;
}

struct ar_decision *
ar_communicator_decide(struct ar_communicator *c, MPI_Comm comm, const struct ar_reduction *r,
                       size_t count, enum ar_place place, bool for_devices, int *error)
{
    const bool asks_place = c->config->traits & AR_TRAIT_PLACE;
    struct question q = {.c = c, .comm = comm, .r = r, .pick = c->choice.pick};
    struct ar_tuned *tuned = NULL;
    *error = MPI_SUCCESS;
    place = asks_place ? ar_request_agree_on_place(c, comm, r, count, place, error) : 0;
    if (*error)
        return NULL;
    const bool is_tunable =
        !q.pick && !for_devices && keeps_of(r, c->config) == AR_DETERMINISM_NONE;
    if (is_tunable && c->choice.tuner)
        q.pick = ar_tuner_pick(c, comm, &tuned, r, count, place, error);
    if (*error)
        return NULL;
    struct ar_decision_key key = key_of(r, count, place, c->config, q.pick);
    key.for_devices = for_devices;
    bool is_counted;
    struct ar_decision *const d = decide_or_borrow(&q, &key, &is_counted);
    if (d && !q.error && is_tunable && !q.pick && !tuned)
        q.error = ar_tuner_doubt(c, &tuned, d, r, count);
    *error = q.error;
    if (q.error)
        return NULL;
    tuned = d->reason == ar_reason_first ? NULL : tuned; /* not a call of what is compared */
    if (d->tuned != tuned) /* calls of another type, which belong to no search */
        ar_recent_forget(&c->choice.recents, d);
    d->tuned = tuned;
    /* Otherwise the next call may differ in its place, or be one that the tuner decides. */
    if (!is_counted && d->reason != ar_reason_first && r->named && !asks_place &&
        (!tuned || ar_tuned_is_settled(tuned)))
        ar_recent_add(&c->choice.recents, &(struct ar_recent){count, *r, d});
    else if (key.count == count)
        ar_recent_forget(&c->choice.recents, d);
    return d;
}

void
ar_communicator_pick(struct ar_communicator *c, const struct ar_pick *pick)
{
    c->choice.pick = pick;
    ar_recent_forget(&c->choice.recents, NULL);
}
