/* What an allreduce by messages takes at least, whatever the algorithm.  Pure. */
#ifndef AR_BOUND_H
#define AR_BOUND_H

#include "model/machine.h"

/* The time that no algorithm can beat that receives at most ports messages in a round: the longest
 * of what rounds, bytes and reductions take alone.  They follow from the bounds in
 * schedule/cost.h between ranks, between nodes, and between what hangs on switches, each taken as
 * one. */
double ar_machine_bound(const struct ar_machine *machine, const int *node_of, int nranks,
                        size_t bytes, size_t ports);

#endif
