/* The constants of the machine under a communicator, by a few messages. */
#ifndef AR_MEASURE_H
#define AR_MEASURE_H

#include <mpi.h>

#include "execute/wire.h"
#include "model/machine.h"

/* Measures on the wire of nranks ranks, of which this is rank, and which lie on nodes as node_of
 * says: messages between rank 0 and another rank of its node, and a rank of another node, as far as
 * there are any; reductions of rank 0.  effort: 1 takes some milliseconds, more repeats as often.
 * Collective over them, but only the ranks that are measured do anything; rank 0 gets *machine.
 * MPI_SUCCESS or an error of MPI's. */
int ar_measure(struct ar_machine *machine, const struct ar_wire *wire, int rank, const int *node_of,
               int nranks, int effort);

#endif
