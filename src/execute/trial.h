/* Which of a few ways to do the same call is the fastest for the program.  Each is taken for some
 * calls in a row, again and again, and between these trials the one with which calls followed each
 * other fastest.  What counts is the time from the start of a call, when all ranks have met, to
 * that of the next, with all that the program does in between: a way may leave work to it, and may
 * let one rank go earlier than the others. */
#ifndef AR_TRIAL_H
#define AR_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

#define AR_TRIAL_WAYS   4    /* numbers of ways are less */
#define AR_TRIAL_CALLS  4    /* in a row, for each way */
#define AR_TRIAL_PERIOD 1024 /* such calls from the first of a trial to that of the next */

/* The way that leaves what it stores in no cache.  It must be faster by a sixteenth, so that where
 * it gains nothing it is not taken by chance. */
#define AR_TRIAL_STREAMED 3

/* All zero at first. */
struct ar_trial {
    uint64_t ncalls;
    uint64_t begin; /* ticks: of the last call */
    uint64_t least; /* ticks from start to start, in this trial or the last one */
    unsigned way;   /* that the last call went */
    unsigned best;  /* the way that took them: the fastest so far; 0 as long as none is known */
};

/* A call begins at so many ticks, and all ranks have met for it.  Its way: one of ways, which has a
 * bit for each and is not 0; best between the trials, if it is among them.  Where ranks have
 * counted the same calls, and are given the same ways and best, they go the same way. */
unsigned ar_trial_begin(struct ar_trial *trial, unsigned ways, unsigned best, uint64_t now);

/* Is the call that has begun between the trials? */
bool ar_trial_is_over(const struct ar_trial *trial, unsigned ways);

#endif
