/* A naive interpreter of schedules, which runs them on real buffers in the worst orders.  Each rank
 * is a state of its own that takes one small step at a time: it posts a message, receives one, or
 * combines one region.  A seed decides whose turn it is, which message is taken first, and whether
 * a message is read when it is sent or only when it is received.  Alternatively the ranks are
 * threads, which run freely.
 *
 * It uses the definitions of schedule/schedule.h and schedule/accesses.h, but none of their code.
 * It shares no code with the checker or the executors. */
#ifndef DISORDER_H
#define DISORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schedule/accesses.h"
#include "schedule/schedule.h"

/* Elements of three sums that run together: an exact one; one of maps t -> a t + b, whose
 * composition tells the order of the operands; and a rounded one, which tells how the operands were
 * parenthesised. */
struct element {
    uint64_t sum;
    uint32_t a, b;
    float rounded;
};

struct element element_of(int rank, size_t i);
struct element element_combined(struct element x, struct element y);
bool element_is_same(const struct element *x, const struct element *y, bool with_order);

struct disorder {
    const struct ar_schedule *all; /* one for each rank */
    int nranks;
    bool in_place;
    bool in_order; /* the results must combine the ranks in their order */
    /* For each rank and step an enum ar_folding; NULL: what is received is combined at the end of
     * the round. */
    const unsigned char *const *folding;
    uint64_t seed;
};

/* Runs the schedules.  NULL if every rank ends with the sum of all, combined by the same
 * expression, and has kept its input.  Otherwise a description of the error in static memory, which
 * may be that the schedules deadlock. */
const char *disorder_run(const struct disorder *d);

/* The same, with one thread for each rank.  The schedules must not deadlock. */
const char *disorder_run_threads(const struct disorder *d);

/* The same for the accesses that the ranks make in shared memory: accesses[rank] belongs to
 * d->all[rank]. */
const char *disorder_run_accesses(const struct disorder *d, const struct ar_accesses *accesses);

#endif
