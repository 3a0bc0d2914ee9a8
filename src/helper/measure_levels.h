/* What allreduce model measures beyond what a job measures of itself. */
#ifndef AR_HELPER_MEASURE_LEVELS_H
#define AR_HELPER_MEASURE_LEVELS_H

#include "communicator/forecast.h"
#include "execute/wait.h"
#include "model/machine.h"

/* Measures the levels inside rank 0's node, by pairs of its ranks and by all of them at once
 * (model/pairs.h), and what an access to their memory takes, after ar_measure.  Rank 0's *machine
 * stays as it is where its node has one rank, ranks share cores, or the ranks cannot share memory.
 * Collective over comm. MPI_SUCCESS or an error of MPI's. */
int ar_measure_levels(struct ar_machine *machine, const struct ar_measuring *measuring);

/* How fast the `readers` ranks of a group, with this one if it reads, read memory at once: ns
 * per byte of all of them together; 0 without memory for that.  Each reads more than `share`,
 * its share of a cache in bytes.  Collective over comm: all ranks get it.  MPI_SUCCESS or an
 * error of MPI's. */
int ar_measure_memory(double *per_byte, int readers, bool reads, size_t share, MPI_Comm comm);

/* How many ns each access itself takes a rank that waits in this way, whatever other ranks do; 0:
 * it cannot be measured. */
double ar_measure_access(struct ar_wait wait);

#endif
