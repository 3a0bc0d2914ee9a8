/* A naive interpreter of schedules, which runs them on real buffers in the worst orders: each rank
 * is a state of its own that takes one small step at a time (posts a message, takes one, combines
 * one region), and a seed decides whose turn it is, which message is taken first, and whether a
 * message is read when it is sent or only when it is received.  Or ranks are threads, at liberty.
 *
 * It knows schedule/schedule.h and schedule/accesses.h, what they say and no code of theirs: it
 * shares neither with the checker nor with the executors. */
#ifndef DISORDER_H
#define DISORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "schedule/accesses.h"
#include "schedule/schedule.h"

struct disorder {
    const struct ar_schedule *all; /* one for each rank */
    int nranks;
    bool in_place;
    bool in_order; /* the results have to combine the ranks in their order */
    /* For each rank and step an enum ar_folding; NULL: what is received is combined at the round's
     * end. */
    const unsigned char *const *folding;
    uint64_t seed;
};

/* Runs the schedules.  NULL if all ranks end with the sum of all, combined by the same expression,
 * and have kept their input; else what is wrong, in static memory, and of schedules that deadlock
 * that they do. */
const char *disorder_run(const struct disorder *d);

/* The same by a thread for each rank.  The schedules must not deadlock. */
const char *disorder_run_threads(const struct disorder *d);

/* The same of what the ranks do where they share memory: accesses[rank] is of d->all[rank]. */
const char *disorder_run_accesses(const struct disorder *d, const struct ar_accesses *accesses);

#endif
