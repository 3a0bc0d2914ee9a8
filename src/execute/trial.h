/* Which of a few ways to do the same call is the fastest for the program.  Each is taken for some
 * calls in a row, again and again, and between these trials the one with which calls followed each
 * other fastest.  What counts is the time from the end of a call to the end of the next, with all
 * that the program does in between: a way may leave work to it. */
#ifndef AR_TRIAL_H
#define AR_TRIAL_H

#include <stdint.h>

#define AR_TRIAL_WAYS   4    /* numbers of ways are less */
#define AR_TRIAL_CALLS  4    /* in a row, for each way */
#define AR_TRIAL_PERIOD 1024 /* calls from the first of a trial to that of the next */

/* All zero at first. */
struct ar_trial {
    uint64_t ncalls;
    uint64_t end;   /* ticks: of the last call */
    uint64_t least; /* ticks from end to end, in this trial or the last one */
    unsigned best;  /* the way that took them: the fastest so far; 0 as long as none is known */
};

/* The way of the next call: one of ways, which has a bit for each and is not 0; best between the
 * trials, if it is among them.  Where ranks have counted the same calls, and are given the same
 * ways and best, they go the same way. */
unsigned ar_trial_next(const struct ar_trial *trial, unsigned ways, unsigned best);

/* That call has ended at so many ticks. */
void ar_trial_end(struct ar_trial *trial, unsigned ways, unsigned way, uint64_t now);

#endif
