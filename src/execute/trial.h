/* Which of a few ways to do the same call is the fastest for the program.  In a trial each way is
 * taken for some calls in a row.  Trials are repeated, and between them calls go the fastest way.
 * A way's time is that of a call plus that of what the program does until the next one, since a way
 * may leave work to it.  The least of each is taken separately, so that what disturbs one of them
 * in each call does not hide the other.  A long time until the next call counts only in part: it is
 * the program's, and varies by more than any way can cost.  A call begins when all ranks have met,
 * if they do.
 *
 * If a trial's calls are of several sizes, other calls come between them.  Then only the calls
 * themselves count, by their time per byte. */
#ifndef AR_TRIAL_H
#define AR_TRIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AR_TRIAL_WAYS    3    /* numbers of ways are less */
#define AR_TRIAL_PERIOD  1024 /* such calls from the first of a trial to that of the next */
#define AR_TRIAL_OUTSIDE 16   /* times a call: more outside it does not count */

/* The way that leaves what it stores in no cache.  It must be faster by a sixteenth, so that where
 * it gains nothing it is not taken by chance. */
#define AR_TRIAL_STREAMED 2

/* A vector of so many bytes or more goes through several slots, or cells, in each call.  Fewer such
 * calls tell enough, and programs make fewer of them. */
#define AR_TRIAL_LONG ((size_t)512 << 10)

/* All zero at first, but is_long.  Times are in ticks. */
struct ar_trial {
    bool is_long; /* the vector is */
    uint64_t ncalls;
    uint64_t begin, end;    /* of the last call */
    uint64_t call, outside; /* the least of the way that is on trial, or was last */
    uint64_t least;         /* of the best way, in this trial or the last one */
    unsigned way;           /* that the last call went */
    unsigned best;          /* the fastest so far; 0 as long as none is known */
    size_t bytes;           /* of the last call; 0: all calls are alike */
};

/* Begins a call, after all ranks that meet have met.  Returns the way that it goes: one of ways,
 * which has a bit for each and is not 0; between the trials best, if it is one of them.  Ranks that
 * have counted the same calls, and pass the same ways and best, go the same way. */
unsigned ar_trial_begin(struct ar_trial *trial, unsigned ways, unsigned best, size_t bytes,
                        uint64_t now);

/* The call ends.  May be left out for calls between the trials. */
static inline void
ar_trial_end(struct ar_trial *trial, uint64_t now)
{
    trial->end = now;
}

/* Calls before the first trial, to which all memory is new. */
static inline unsigned
ar_trial_fresh(const struct ar_trial *trial)
{
    return trial->is_long ? 1 : 4;
}

/* Calls in a row for each way. */
static inline unsigned
ar_trial_calls(const struct ar_trial *trial)
{
    return trial->is_long ? 3 : 4;
}

/* Can the next call be on trial, or the first one after a trial?  Times of other calls are not
 * compared, so ar_trial_begin may be given any: a call of 2 KiB is not to look at the clock
 * twice. */
static inline bool
ar_trial_needs_time(const struct ar_trial *trial)
{
    const uint64_t after = trial->ncalls - ar_trial_fresh(trial); /* large where it is before */
    return after % AR_TRIAL_PERIOD <= (uint64_t)AR_TRIAL_WAYS * ar_trial_calls(trial);
}

/* As if the first trial were over and had found the best way so far. */
static inline void
ar_trial_skip_first(struct ar_trial *trial)
{
    const uint64_t first = ar_trial_fresh(trial) + AR_TRIAL_WAYS * ar_trial_calls(trial);
    trial->ncalls = trial->ncalls < first ? first : trial->ncalls;
}

/* Is the call that has begun between the trials, and not the first one there?  That one was told
 * the best way before the last call of the trial was compared. */
bool ar_trial_is_over(const struct ar_trial *trial, unsigned ways);

#endif
