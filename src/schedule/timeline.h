/* The timeline: when each message of an allreduce arrives and each round ends,
 * if all ranks run their schedules on a simple machine.  Pure. */
#ifndef AR_TIMELINE_H
#define AR_TIMELINE_H

#include <stddef.h>

#include "schedule/schedule.h"

/* Times in one unit of the caller's choice.  A rank has one port out and one
 * port in: the messages of a round share them in the order of the steps.
 * A copy costs nothing. */
struct ar_machine {
    double alpha; /* a message of any length */
    double beta;  /* an element through a port */
    double gamma; /* an element reduced */
};

/* Step i of rank r has index first_step[r] + i, round k first_round[r] + k. */
struct ar_timeline {
    size_t *first_step;
    size_t *first_round;
    size_t *partner;   /* of a message: the step of the peer that it meets */
    double *arrival;   /* of a message; it begins when both sides have posted it */
    double *round_end; /* all messages of the round have arrived and been folded */
    double end;        /* of the last round of all ranks */
};

/* Runs nranks schedules, rank r's at schedules[r], all from time 0.
 * AR_ERR_PROOF if sends and receives do not pair or wait for ever;
 * AR_ERR_MEMORY.  On success the timeline is the caller's to fini. */
int ar_timeline_init(struct ar_timeline *t, const struct ar_schedule *schedules, int nranks,
                     const struct ar_machine *machine);
void ar_timeline_fini(struct ar_timeline *t);

#endif
