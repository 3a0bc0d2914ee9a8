/* How a rank stores in shared memory what others will read: through its cache, or past it by
 * streaming stores.  A line that others have read must first be taken back from them, which a
 * streaming store spares; but then the line comes from memory.  Which takes longer depends on where
 * the cores are, so a few calls of each plan try it.
 *
 * Each rank does so by itself.  As a rule all try in the same calls, and a call takes all of them
 * as long; so they find the same.  If they do not, nothing else depends on it. */
#ifndef AR_STORES_H
#define AR_STORES_H

#include <stdbool.h>

#include "execute/trial.h"
#include "reduce/copy.h"
#include "report/clock.h"

struct ar_stores {
    enum ar_streaming streaming;
    bool is_streamed;      /* the last call was */
    struct ar_trial trial; /* of the calls of AR_STREAMING_AUTO */
};

/* A call begins; does this rank stream in it? */
static inline bool
ar_stores_begin(struct ar_stores *stores)
{
    struct ar_trial *const trial = &stores->trial;
    const unsigned ways = 1U | 1U << AR_TRIAL_STREAMED;
    stores->is_streamed =
        stores->streaming == AR_STREAMING_AUTO
            ? ar_trial_begin(trial, ways, trial->best, ar_clock_ticks()) == AR_TRIAL_STREAMED
            : stores->streaming == AR_STREAMING_ALWAYS;
    return stores->is_streamed;
}

static inline void
ar_stores_end(struct ar_stores *stores)
{
    if (stores->streaming == AR_STREAMING_AUTO)
        ar_trial_end(&stores->trial, ar_clock_ticks());
}

#endif
