/* Decisions and their plans are kept in a small set-associative cache, so that a call like an
 * earlier one decides nothing and allocates nothing. */
#include "communicator/decide.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "communicator/forecast.h"
#include "communicator/named_levels.h"
#include "communicator/seen.h"
#include "communicator/transport.h"
#include "communicator/tuner.h"
#include "communicator/ways.h"
#include "execute/node_plan.h"
#include "reduce/packed.h"
#include "select/number.h"

/* Bound of all plans of one communicator; a single plan may be larger. */
#define PLAN_BYTES_MAX ((size_t)16 << 20)

const char ar_reason_device[] = "device memory";
const char ar_reason_first[] = "first call of its size";

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

static bool
same_key(const struct ar_decision_key *a, const struct ar_decision_key *b)
{
    return a->count == b->count && a->size == b->size && a->true_extent == b->true_extent &&
           a->extent == b->extent && a->true_lb == b->true_lb && a->commutative == b->commutative &&
           a->named == b->named && a->basic == b->basic && a->op == b->op && a->type == b->type &&
           a->place == b->place && a->pick == b->pick && a->keeps == b->keeps &&
           a->for_devices == b->for_devices;
}

struct ar_decision *
ar_decision_set_create(void)
{
    return calloc(AR_DECISION_WAYS, sizeof(struct ar_decision));
}

/* NULL without memory. */
static struct ar_decision *
set_of(struct ar_communicator *c, const struct ar_decision_key *key)
{
    const uint64_t hash = ar_call_hash(key->count, key->size, key->pick);
    struct ar_decision **set = &c->choice.sets[(hash >> 32) % AR_DECISION_SETS];
    if (!*set) {
        *set = c->choice.spare_set ? c->choice.spare_set : ar_decision_set_create();
        c->choice.spare_set = NULL;
    }
    return *set;
}

static size_t
plan_bytes(const struct ar_decision *d)
{
    return d->plan        ? ar_plan_memory_bytes(d->plan)
           : d->node_plan ? ar_node_plan_memory_bytes(d->node_plan)
                          : 0;
}

static void
drop(struct ar_communicator *c, struct ar_decision *d)
{
    if (!d->used)
        return;
    c->choice.plan_bytes -= plan_bytes(d);
    ar_plan_destroy(d->plan);
    ar_node_plan_destroy(d->node_plan);
    memset(d, 0, sizeof *d);
    ar_recent_forget(&c->choice.recents, d);
    if (c->choice.ran == d || c->choice.ran == c->choice.told) /* told may be a copy of d */
        c->choice.ran = NULL;
}

void
ar_decisions_clear(struct ar_communicator *c)
{
    for (int i = 0; i < AR_DECISION_SETS; i++)
        for (int j = 0; c->choice.sets[i] && j < AR_DECISION_WAYS; j++)
            drop(c, &c->choice.sets[i][j]);
}

void
ar_decisions_destroy(struct ar_communicator *c)
{
    ar_decisions_clear(c);
    for (int i = 0; i < AR_DECISION_SETS; i++)
        free(c->choice.sets[i]);
}

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

/* The pure layers' error as one of MPI's. */
static int
mpi_error(int error)
{
    return error == AR_OK ? MPI_SUCCESS : error == AR_ERR_MEMORY ? MPI_ERR_NO_MEM : MPI_ERR_INTERN;
}

/* Counts the memory of d's plan, for which all others may be dropped, and provides its scratch. */
static int
keep_plan(struct ar_communicator *c, struct ar_decision *d, size_t scratch_bytes)
{
    const size_t bytes = plan_bytes(d);
    if (c->choice.plan_bytes + bytes > PLAN_BYTES_MAX) {
        struct ar_decision keep = *d;
        d->used = false; /* so that it is not dropped with the rest */
        ar_decisions_clear(c);
        *d = keep;
    }
    const int error = grow_scratch(c, scratch_bytes);
    if (!error)
        c->choice.plan_bytes += bytes;
    return error;
}

/* What was named ran otherwise, of which no reason tells yet. */
static void
tell_change(struct ar_decision *d, const char *reason)
{
    if (d->reason == ar_reason_named || d->reason == ar_reason_program ||
        d->reason == ar_reason_rule)
        d->reason = reason;
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
    return keep_plan(c, d, ar_plan_scratch_bytes(d->plan));
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
    return keep_plan(c, d, ar_node_plan_scratch_bytes(d->node_plan));
}

/* Are integers exchanged, and nothing rounded?  On one rank nothing is added. */
static bool
is_exact(const struct ar_communicator *c, const struct ar_decision *d)
{
    return d->key.keeps == AR_DETERMINISM_ORDER && c->nranks > 1;
}

/* Selects by the configuration; a pick stays, but for an op that does not commute. */
static int
select_choice(struct ar_communicator *c, MPI_Comm comm, struct ar_decision *d,
              struct ar_request *request, const struct ar_reduction *r)
{
    const int error = ar_request_describe(c, comm, request, r, d->key.count, d->key.place);
    if (error)
        return error;
    if (d->key.keeps == AR_DETERMINISM_ORDER)
        request->keeps = AR_DETERMINISM_NONE; /* the sum is exact, so any algorithm serves */
    d->clause = ar_config_clause(c->config, request);
    d->whole = c->nranks > 1 && !ar_config_may_cut(c->config, request);
    if (!d->key.pick)
        return mpi_error(ar_config_select(c->config, &d->choice, request, &d->reason));
    if (d->choice.kind == AR_CHOICE_ALGORITHM && !request->commutative &&
        !ar_algorithm_keeps_order(d->choice.algorithm, &d->choice.params)) {
        d->choice = (struct ar_choice){.kind = AR_CHOICE_NATIVE};
        d->reason = ar_reason_no_commute;
    }
    return MPI_SUCCESS;
}

/* Asks all sources of a choice in their order: first the configuration, then the memory if the
 * algorithm wants any, which takes one node.  Where the ranks turn out to share none, auto selects
 * once more, and the model decides if they are on several nodes.  An algorithm that was named
 * stays, and the same schedule goes by messages.  Collective over comm. */
static int
decide_choice(struct ar_communicator *c, MPI_Comm comm, struct ar_decision *d,
              const struct ar_reduction *r)
{
    struct ar_request request;
    const enum ar_determinism keeps = d->key.keeps;
    int error = select_choice(c, comm, d, &request, r);
    if (error || is_exact(c, d))
        return error;
    const bool is_auto = d->reason == ar_reason_auto;
    const bool wants_memory = d->choice.kind == AR_CHOICE_ALGORITHM &&
                              d->choice.algorithm->shares_memory && c->nranks > 1;
    /* Under RUN the nodes may decide, but not whether memory could be had this time: nodes may be
     * containers. */
    const bool asks_nodes = is_auto && keeps == AR_DETERMINISM_RUN;
    if (asks_nodes)
        error = ar_request_count_nodes(c, comm);
    if (error)
        return error;
    if (wants_memory && !(asks_nodes && c->messages.nodes > 1))
        d->node = ar_memory_find_or_map(c, comm, r, d->key.count, &d->reason);
    /* Another choice would break a promise above RUN. */
    if (d->node || !is_auto || keeps > AR_DETERMINISM_RUN || (asks_nodes && c->messages.nodes == 1))
        return MPI_SUCCESS;
    request.shares_memory = false;
    if (wants_memory)
        error = mpi_error(ar_config_select(c->config, &d->choice, &request, &d->reason));
    if (!error && c->messages.state == AR_ENGINE_NONE)
        error = ar_engine_create(c, comm);
    /* A model that is measured at the start may be another one in another run. */
    const bool may_model = keeps == AR_DETERMINISM_NONE || c->config->model_file;
    if (!error && c->messages.state == AR_ENGINE_READY && may_model)
        error = ar_model_choose(c, comm, &d->choice, &request, &d->reason);
    return error;
}

/* An op of the program's own may treat all elements as one record, as it can in MPICH.  In shared
 * memory they must fit into a chunk, whose length depends on the place, and no such call goes there
 * if bits must not.  Only a choice that auto may select stands in for auto's, unless none of them
 * keeps the bits. */
static void
make_whole(const struct ar_communicator *c, struct ar_decision *d, const struct ar_reduction *r)
{
    const struct ar_algorithm *const chosen = d->choice.algorithm;
    const bool *const allowed = c->config->allowed;
    const bool is_auto = !d->key.pick && (!d->clause || d->clause->kind == AR_CHOICE_AUTO);
    const struct ar_request request = {
        .nranks = c->nranks, .commutative = d->key.commutative, .keeps = d->key.keeps};
    struct ar_params *const params = &d->choice.params;
    if (d->node && d->key.keeps == AR_DETERMINISM_NONE &&
        ar_node_takes_whole(d->node, r, d->key.count)) {
        if (params->whole_bytes > 0 || params->segment_bytes > 0 || params->segments > 0)
            tell_change(d, ar_reason_whole);
        if (d->key.count * d->key.size > d->node->tuning.whole_bytes || params->whole_bytes > 0)
            params->whole_bytes = SIZE_MAX;
        params->segment_bytes = 0;
        params->segments = 0;
        return;
    }
    d->node = NULL;
    if (is_auto && chosen->stand_in && !ar_auto_allows(ar_algorithm_whole(chosen), allowed)) {
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
    if (d->choice.kind == AR_CHOICE_NATIVE ||
        ar_choice_make_whole(&d->choice, c->nranks, d->key.count, d->key.size,
                             c->config->scratch_bytes) ||
        d->choice.algorithm != chosen)
        d->reason = ar_reason_whole;
}

/* Native; device memory is the reason only if the call would not have been native anyway. */
static int
decide_for_devices(struct ar_communicator *c, MPI_Comm comm, struct ar_decision *d,
                   const struct ar_reduction *r)
{
    struct ar_request request;
    const int error = select_choice(c, comm, d, &request, r);
    if (!error && d->choice.kind != AR_CHOICE_NATIVE) {
        d->choice = (struct ar_choice){.kind = AR_CHOICE_NATIVE};
        d->reason = ar_reason_device;
    }
    return error;
}

/* Makes the engine that messages need; where that fails, the call goes native.  Collective over
 * comm. */
static int
prepare_messages(struct ar_communicator *c, MPI_Comm comm, struct ar_decision *d)
{
    const int error = c->messages.state == AR_ENGINE_NONE ? ar_engine_create(c, comm) : MPI_SUCCESS;
    if (!error && c->messages.state == AR_ENGINE_FAILED) {
        d->choice.kind = AR_CHOICE_NATIVE;
        d->reason = "no private communicator";
    }
    return error;
}

/* Fills d, of which the key is known.  Where the choice is an algorithm and an engine cannot be
 * made, the call goes native.  Collective over comm. */
static int
fill(struct ar_communicator *c, MPI_Comm comm, struct ar_decision *d, const struct ar_reduction *r)
{
    if (r->size == 0) {
        d->choice.kind = AR_CHOICE_NATIVE;
        d->reason = "nothing to reduce";
        return MPI_SUCCESS;
    }
    if (d->key.for_devices)
        return decide_for_devices(c, comm, d, r);
    int error = decide_choice(c, comm, d, r);
    if (error)
        return error;
    /* One rank copies, for which a plan takes longer than the call. */
    if (c->nranks == 1 && d->reason == ar_reason_auto && d->key.keeps == AR_DETERMINISM_NONE)
        d->choice = (struct ar_choice){.kind = AR_CHOICE_NATIVE};
    if (d->whole && d->choice.kind == AR_CHOICE_ALGORITHM)
        make_whole(c, d, r);
    if (d->choice.kind == AR_CHOICE_NATIVE)
        return MPI_SUCCESS;
    if (is_exact(c, d)) {
        d->runner = AR_RUN_EXACT;
        d->reason = ar_reason_determinism;
        return MPI_SUCCESS;
    }
    if (!d->node)
        error = prepare_messages(c, comm, d);
    if (error || d->choice.kind == AR_CHOICE_NATIVE)
        return error;
    const char *const change = ar_algorithm_fit(d->choice.algorithm, &d->choice.params, c->nranks);
    if (change)
        tell_change(d, change);
    error = ar_levels_settle(c, comm, d);
    if (!error)
        error = ar_copy_settle(c, comm, d);
    if (!error && d->node) {
        error = make_node_plan(c, d, r);
        if (error || d->node) {
            d->runner = AR_RUN_MEMORY;
            return error;
        }
        error = prepare_messages(c, comm, d);
    }
    if (error || d->choice.kind == AR_CHOICE_NATIVE)
        return error;
    d->runner = AR_RUN_MESSAGES;
    return make_plan(c, d, r);
}

/* The decision with this key; a new one is collective over comm. */
static struct ar_decision *
decide(struct ar_communicator *c, MPI_Comm comm, const struct ar_reduction *r,
       const struct ar_decision_key *key, const struct ar_pick *pick, int *error)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    struct ar_decision *set = set_of(c, key);
    *error = set ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    if (!set)
        return NULL;
    for (int i = 0; i < AR_DECISION_WAYS; i++)
        if (set[i].used && same_key(&set[i].key, key))
            return &set[i];

    /* A free place, or that of an older decision. */
    struct ar_decision *d = set;
    while (d < set + AR_DECISION_WAYS && d->used)
        d++;
    if (d == set + AR_DECISION_WAYS) {
        do
            d = &set[c->choice.next_way++ % AR_DECISION_WAYS];
        while (d == c->choice.ran); /* an exact sum, which goes on after its integers */
        drop(c, d);
    }
    d->used = true;
    d->key = *key;
    if (pick) {
        d->choice = pick->choice;
        d->reason = pick->reason;
        d->is_brief = pick->is_brief;
    }
    struct ar_setup setup;
    struct ar_events *const events = c->records.events; /* not of what is measured to decide */
    c->records.events = NULL;
    ar_setup_begin(&setup);
    *error = fill(c, comm, d, r);
    if (c->records.recorder && !*error)
        ar_decision_label(c, d);
    ar_setup_end(&setup, c);
    c->records.events = events;
    if (events)
        ar_events_note(events, (struct ar_event){.kind = AR_EVENT_SETUP,
                                                 .begin_ns = setup.start_ns,
                                                 .end_ns = ar_clock_system_ns(),
                                                 .peer = -1});
    if (*error) {
        ar_plan_destroy(d->plan);
        ar_node_plan_destroy(d->node_plan);
        memset(d, 0, sizeof *d);
        return NULL;
    }
    if (d->runner == AR_RUN_NATIVE && d->key.size > 0 && key->keeps != AR_DETERMINISM_NONE &&
        c->rank == 0 && !atomic_flag_test_and_set(&said))
        ar_say("ALLREDUCE_DETERMINISM=%s: a call of %zu byte%s runs native (%s), whose bits are "
               "not guaranteed",
               ar_determinism_names[c->config->determinism], key->count * key->size,
               ar_plural(key->count * key->size), d->reason);
    return d;
}

struct ar_decision *
ar_communicator_decide_on(struct ar_communicator *c, MPI_Comm comm, const struct ar_reduction *r,
                          size_t count, enum ar_place place, const struct ar_pick *pick, int *error)
{
    const struct ar_decision_key key = key_of(r, count, place, c->config, pick);
    return decide(c, comm, r, &key, pick, error);
}

/* The native decision for the first call of this range of sizes where auto decides; otherwise NULL,
 * also without memory (*error).  A plan for 128 ranks takes milliseconds to make, and many a
 * communicator is made for one call.  What has been seen is alike on all ranks, unlike what the
 * cache holds, since ranks may have different layouts.  Therefore both are forgotten together.  If
 * the configuration lists what auto may pick, no call is left to MPI. */
static struct ar_decision *
leave_first(struct ar_communicator *c, MPI_Comm comm, const struct ar_decision_key *key,
            const struct ar_reduction *r, int *error)
{
    const size_t planned = ar_lending_count(key->count, key->size);
    const uint64_t kind = ar_call_hash(planned, key->size, 0) | 1;
    struct ar_decision first = {.used = true, .key = *key};
    struct ar_request request;
    bool forgets;
    if (ar_seen_note(c->choice.seen, kind, &forgets))
        return NULL;
    if (forgets)
        ar_decisions_clear(c);
    *error = select_choice(c, comm, &first, &request, r);
    if (*error || first.reason != ar_reason_auto || first.choice.kind == AR_CHOICE_NATIVE ||
        key->keeps != AR_DETERMINISM_NONE || ar_config_has_list(c->config))
        return NULL;
    first.choice = (struct ar_choice){.kind = AR_CHOICE_NATIVE};
    struct ar_decision *const told = ar_decision_tell(c, &first, ar_reason_first, AR_COPY_AUTO);
    *error = told ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    return told;
}

/* The decision for the call, or a copy of the decision for a longer call whose plan it borrows. */
static struct ar_decision *
decide_or_borrow(struct ar_communicator *c, MPI_Comm comm, const struct ar_reduction *r,
                 struct ar_decision_key *key, const struct ar_pick *pick, int *error)
{
    const size_t count = key->count;
    struct ar_decision *d = NULL;
    key->count = ar_lending_find(c, comm, r, key, error);
    if (!*error && c->choice.seen && !pick && c->config->tune != AR_TUNE_ONLINE &&
        !key->for_devices && r->size > 0)
        d = leave_first(c, comm, key, r, error);
    if (!d && !*error)
        d = decide(c, comm, r, key, pick, error);
    if (!d || *error || key->count == count)
        return d;
    if (ar_decision_lends(d))
        return ar_decision_lend(c, d, count, error);
    key->count = count;
    ar_decision_keep_own(c, key);
    return decide(c, comm, r, key, pick, error);
}

struct ar_decision *
ar_communicator_decide(struct ar_communicator *c, MPI_Comm comm, const struct ar_reduction *r,
                       size_t count, enum ar_place place, bool for_devices, int *error)
{
    const bool asks_place = c->config->traits & AR_TRAIT_PLACE;
    const struct ar_pick *pick = c->choice.pick;
    struct ar_tuned *tuned = NULL;
    *error = MPI_SUCCESS;
    place = asks_place ? ar_request_agree_on_place(c, comm, r, count, place, error) : 0;
    if (*error)
        return NULL;
    const bool is_tunable = !pick && !for_devices && keeps_of(r, c->config) == AR_DETERMINISM_NONE;
    if (is_tunable && c->choice.tuner)
        pick = ar_tuner_pick(c, comm, &tuned, r, count, place, error);
    if (*error)
        return NULL;
    struct ar_decision_key key = key_of(r, count, place, c->config, pick);
    key.for_devices = for_devices;
    struct ar_decision *const d = decide_or_borrow(c, comm, r, &key, pick, error);
    if (d && !*error && is_tunable && !pick && !tuned)
        *error = ar_tuner_doubt(c, &tuned, d, r);
    if (!d || *error)
        return NULL;
    tuned = d->reason == ar_reason_first ? NULL : tuned; /* not a call of what is compared */
    if (d->tuned != tuned)
        ar_recent_forget(&c->choice.recents,
                         d); /* calls of another type, which belong to no search */
    d->tuned = tuned;
    /* Otherwise the next call may differ in its place, or be one that the tuner decides. */
    if (d != c->choice.told && r->named && !asks_place && (!tuned || ar_tuned_is_settled(tuned)))
        ar_recent_add(&c->choice.recents, &(struct ar_recent){count, *r, d});
    else
        ar_recent_forget(&c->choice.recents, d);
    return d;
}

void
ar_communicator_pick(struct ar_communicator *c, const struct ar_pick *pick)
{
    c->choice.pick = pick;
    ar_recent_forget(&c->choice.recents, NULL);
}
