/* How a rank stores in shared memory what others will read: through its cache, or past it by
 * streaming stores.  A store through the cache must first take the line back from those who have
 * read it.  A streaming store spares that, but then the readers get the line from memory.  Which
 * takes longer depends on where the cores are, so a few calls of about each size try both.  There
 * is no trial for each plan, since a program may never make the same call twice.  Only what is
 * measured beside others has a trial of its own.
 *
 * Each rank tries by itself.  As a rule all ranks try in the same calls, and a call takes equally
 * long on all of them, so they find the same.  Nothing else depends on that. */
#ifndef AR_STORES_H
#define AR_STORES_H

#include <stdbool.h>

#include "execute/trial.h"
#include "reduce/copy.h"
#include "report/clock.h"

struct ar_stores {
    enum ar_streaming streaming; /* alike on all ranks with a predefined type */
    bool can;                    /* this rank stores pieces that can go past the caches, */
    bool is_streamed;            /* and in the last call they did */
    struct ar_trial *trial; /* of AR_STREAMING_AUTO: of all calls of about this size, borrowed, or
                               own; NULL: none */
    struct ar_trial own;    /* of what is measured beside others, whose calls would disturb it */
};

/* A way of the trial that is not AR_TRIAL_STREAMED. */
#define AR_STORES_CACHED 0
#define AR_STORES_WAYS   (1U << AR_STORES_CACHED | 1U << AR_TRIAL_STREAMED)

/* Is there anything to try? */
static inline bool
ar_stores_tries(const struct ar_stores *stores)
{
    return stores->streaming == AR_STREAMING_AUTO && stores->can && stores->trial;
}

/* A call of so many bytes begins; finds is_streamed. */
static inline void
ar_stores_begin(struct ar_stores *stores, size_t bytes)
{
    struct ar_trial *const trial = stores->trial;
    bool streams = stores->streaming == AR_STREAMING_ALWAYS;
    if (ar_stores_tries(stores)) {
        const uint64_t now = ar_trial_needs_time(trial) ? ar_clock_ticks() : 0;
        streams =
            ar_trial_begin(trial, AR_STORES_WAYS, trial->best, bytes, now) == AR_TRIAL_STREAMED;
    }
    stores->is_streamed = streams && stores->can;
}

static inline void
ar_stores_end(struct ar_stores *stores)
{
    if (ar_stores_tries(stores) && ar_trial_needs_time(stores->trial))
        ar_trial_end(stores->trial, ar_clock_ticks());
}

#endif
