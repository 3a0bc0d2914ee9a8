/* What allreduce model measures beyond what a job measures of itself. */
#ifndef AR_HELPER_MEASURE_LEVELS_H
#define AR_HELPER_MEASURE_LEVELS_H

#include "communicator/forecast.h"
#include "model/machine.h"

/* Measures the levels inside rank 0's node, by pairs of its ranks and by all of them at once
 * (model/pairs.h), and what an access to their memory takes, after ar_measure.  Rank 0's *machine
 * stays as it is where its node has one rank, ranks share cores, or the ranks cannot share memory.
 * Collective over comm. MPI_SUCCESS or an error of MPI's. */
int ar_measure_levels(struct ar_machine *machine, const struct ar_measuring *measuring);

#endif
