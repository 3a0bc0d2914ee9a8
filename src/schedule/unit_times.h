/* The timeline: when the messages of an allreduce arrive and its rounds end, where each message
 * takes a time of 1 and all else takes none.  For pictures and for the longest chain; src/model
 * knows what time a machine takes.  Pure. */
#ifndef AR_UNIT_TIMES_H
#define AR_UNIT_TIMES_H

#include <stddef.h>

#include "schedule/schedule.h"

/* Step i of rank r has index first_step[r] + i, round k first_round[r] + k. */
struct ar_unit_times {
    size_t *first_step;
    size_t *first_round;
    size_t *partner;   /* of a message: the step of the peer that it meets */
    size_t *arrival;   /* of a message; it begins when both sides have posted it */
    size_t *round_end; /* all messages of the round have arrived */
    size_t end;        /* of the last round of all ranks */
};

/* Runs nranks schedules, rank r's at schedules[r], all from time 0.
 * AR_ERR_PROOF if sends and receives do not pair or if they wait for ever;
 * AR_ERR_MEMORY.  On success the timeline is the caller's to fini. */
int ar_unit_times_init(struct ar_unit_times *t, const struct ar_schedule *schedules, int nranks);
void ar_unit_times_fini(struct ar_unit_times *t);

#endif
