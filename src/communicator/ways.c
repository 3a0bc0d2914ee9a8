#include "communicator/ways.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "algorithms/grouping.h"
#include "communicator/decide.h"
#include "execute/node_plan.h"
#include "execute/plan.h"
#include "reduce/copy.h"

const char ar_reason_unmapped[] = "buffers cannot be mapped: through slots";
const char ar_reason_yielded[] = "slots are faster than in place, or tried";
const char ar_reason_derived[] = "derived type: through slots";

/* Is it worth a trial where nobody asked? */
static bool
pays(const struct ar_communicator *c, const struct ar_decision *d)
{
    const struct ar_shm_tuning tuning = ar_node_tune(c->nranks, d->node->is_crowded);
    return d->key.count * d->key.size >= tuning.in_place_bytes;
}

/* Why the choice cannot run in place whatever the ranks can; NULL: nothing is against it.  In
 * unequal groups a rank would overwrite what others still read of its buffer. */
static const char *
find_obstacle(const struct ar_decision *d)
{
    const struct ar_grouping *const grouping = d->choice.params.grouping;
    return d->whole                                     ? "op takes whole vectors: through slots"
           : grouping && !ar_grouping_is_even(grouping) ? "groups of unequal size: through slots"
                                                        : NULL;
}

int
ar_copy_settle(struct ar_communicator *c, MPI_Comm comm, struct ar_decision *d)
{
    enum ar_copy *const copy = &d->choice.params.copy;
    const bool is_asked = *copy == AR_COPY_IN_PLACE;
    if (!d->node) {
        *copy = AR_COPY_AUTO;
        return MPI_SUCCESS;
    }
    if (*copy == AR_COPY_SLOTS || (!is_asked && !pays(c, d)))
        return MPI_SUCCESS;
    const char *obstacle = find_obstacle(d);
    /* Only the first decision like this one is made at the same call on all ranks.  Later ones are
     * not: ranks with other layouts, or other decisions in the cache, may still have theirs. */
    if (!obstacle && !c->memory.in_place_is_tried) {
        const int error = ar_in_place_create(&c->memory.in_place, comm, c->rank, c->nranks);
        c->memory.in_place_is_tried = true;
        if (error)
            return error;
    }
    if (!obstacle && !c->memory.in_place)
        obstacle = ar_in_place_lacking;
    if (!obstacle) {
        *copy = AR_COPY_IN_PLACE;
        d->tries_ways = !is_asked;
        /* Another rank may have a predefined type there, so each call finds out. */
        d->reason = d->key.basic ? d->reason : ar_reason_derived;
    } else if (is_asked) {
        *copy = AR_COPY_SLOTS;
        d->reason = obstacle;
    }
    return MPI_SUCCESS;
}

/* --- stores --- */

/* Shorter vectors are faster through the caches even if the ranks are far from each other. */
#define STREAMED_LEAST ((size_t)2 << 10)

/* About the same size: two such ranges for each power of two.  The last one has all that is longer.
 */
#define SIZES 40

/* A bit for each size at which the last trial of this process found that streaming is faster: by
 * messages, and through slots. */
static _Atomic uint64_t streamed[2];

static size_t
bytes_of(const struct ar_decision *d)
{
    return d->key.count * d->key.size;
}

static _Atomic uint64_t *
streamed_by(const struct ar_decision *d)
{
    return &streamed[d->node != NULL];
}

/* At least STREAMED_LEAST bytes. */
static unsigned
size_of(const struct ar_decision *d)
{
    const unsigned bin = ar_size_bin(bytes_of(d));
    const unsigned is_upper_half = bytes_of(d) >> (bin - 2) & 1;
    const unsigned size = 2 * (bin - ar_size_bin(STREAMED_LEAST)) + is_upper_half;
    return size < SIZES ? size : SIZES - 1;
}

/* What the process has found to be faster for such calls. */
static unsigned
found_for(const struct ar_decision *d)
{
    return atomic_load(streamed_by(d)) >> size_of(d) & 1 ? AR_TRIAL_STREAMED : AR_STORES_CACHED;
}

/* The trial of all calls of about d's size; a pick has its own.  NULL without memory. */
static struct ar_trial *
trial_of(struct ar_stores *stores, struct ar_communicator *c, const struct ar_decision *d)
{
    struct ar_trial **const trials = &c->choice.trials[d->node != NULL];
    const unsigned size = size_of(d);
    if (!*trials && d->key.pick == 0)
        *trials = calloc(SIZES, sizeof **trials);
    struct ar_trial *const trial = d->key.pick > 0 ? &stores->own
                                   : *trials       ? &(*trials)[size]
                                                   : NULL;
    if (trial && trial->ncalls == 0) {
        trial->is_long = bytes_of(d) >= AR_TRIAL_LONG;
        trial->best = found_for(d);
    }
    return trial;
}

/* Ranks that share cores share caches, too. */
void
ar_copy_settle_stores(struct ar_stores *stores, struct ar_communicator *c,
                      const struct ar_decision *d, struct ar_crowd crowd, bool can)
{
    const enum ar_streaming asked = c->config->streaming;
    const bool may_pay = !ar_crowd_shares(crowd) && bytes_of(d) >= STREAMED_LEAST;
    const bool never = !ar_copy_can_stream() || (asked == AR_STREAMING_AUTO && !may_pay);
    stores->streaming = never ? AR_STREAMING_NEVER : asked;
    stores->can = can;
    stores->trial = stores->streaming == AR_STREAMING_AUTO ? trial_of(stores, c, d) : NULL;
    if (d->is_brief && stores->trial)
        ar_trial_skip_first(stores->trial);
}

void
ar_copy_learn(const struct ar_communicator *c, const struct ar_decision *d,
              const struct ar_stores *stores)
{
    const struct ar_trial *const trial = stores->trial;
    if (!ar_stores_tries(stores) || trial->ncalls % 32 > 0 ||
        !ar_trial_is_over(trial, AR_STORES_WAYS))
        return;
    /* The size is the trial's: d may be of a shorter call, unless the trial is its own. */
    const size_t size =
        trial == &stores->own ? size_of(d) : (size_t)(trial - c->choice.trials[d->node != NULL]);
    const uint64_t bit = UINT64_C(1) << size;
    if (trial->best == AR_TRIAL_STREAMED)
        atomic_fetch_or(streamed_by(d), bit);
    else
        atomic_fetch_and(streamed_by(d), ~bit);
}

/* The trial that calls of d have begun and not ended, on this rank; NULL: there is none. */
static struct ar_trial *
trial_under_way(const struct ar_decision *d)
{
    const struct ar_stores *const stores = d->plan        ? &d->plan->stores
                                           : d->node_plan ? &d->node_plan->stores
                                                          : NULL;
    const bool is_under_way = stores && ar_stores_tries(stores) && stores->trial->ncalls > 0 &&
                              !ar_trial_is_over(stores->trial, AR_STORES_WAYS);
    return is_under_way ? stores->trial : NULL;
}

bool
ar_copy_is_trying(const struct ar_decision *d)
{
    return trial_under_way(d);
}

void
ar_copy_stop_trying(const struct ar_decision *d)
{
    struct ar_trial *const trial = trial_under_way(d);
    if (!trial)
        return;
    trial->best = found_for(d);
    ar_trial_skip_first(trial);
}
