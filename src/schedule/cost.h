/* The cost of an allreduce, counted from the schedules of all ranks.  Pure. */
#ifndef AR_COST_H
#define AR_COST_H

#include <stddef.h>

#include "schedule/unit_times.h"

/* The most of one rank, and the sum over the ranks. */
struct ar_tally {
    size_t most;
    size_t total;
};

struct ar_cost {
    size_t rounds;        /* messages in the longest chain in which each waits for the one before */
    size_t ports;         /* messages that one rank receives in one round, at most */
    size_t least_reduced; /* the fewest elements that an op gets at once; SIZE_MAX: it gets none */
    struct ar_tally messages; /* sent */
    struct ar_tally sent;     /* elements, as all below */
    struct ar_tally received;
    struct ar_tally reduced;
    struct ar_tally copied;
    struct ar_tally scratch; /* TMP, and the most that the recv_reduces of one round receive */
};

/* Counts; AR_ERR_PROOF and AR_ERR_MEMORY as ar_unit_times_init. */
int ar_cost_count(struct ar_cost *cost, const struct ar_schedule *schedules, int nranks);

/* The same where their times are known. */
void ar_cost_count_timed(struct ar_cost *cost, const struct ar_schedule *schedules, int nranks,
                         const struct ar_unit_times *times);

/* Lower bounds of allreduce of count elements on nranks ranks (Chan, Heimlich,
 * Purkayastha & van de Geijn, Concurrency Comput. 19(13), 2007): the ceiling of
 * log nranks to the base ports + 1 in rounds, since a rank knows at most
 * ports + 1 times as much after a round; 2n(p-1)/p elements sent and n(p-1)/p
 * reduced by some rank.  ports >= 1. */
size_t ar_bound_rounds(int nranks, size_t ports);
double ar_bound_sent(int nranks, size_t count);
double ar_bound_reduced(int nranks, size_t count);

#endif
