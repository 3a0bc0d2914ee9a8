/* The constants of the machine under a communicator, by a few messages. */
#ifndef AR_MEASURE_H
#define AR_MEASURE_H

#include <mpi.h>

#include "model/machine.h"

/* Measures on comm, whose nranks ranks lie on nodes as node_of says: messages between rank 0 and
 * another rank of its node, and a rank of another node, as far as there are any; reductions of rank
 * 0.  effort: 1 takes some milliseconds, more repeats as often.  Collective over comm, but only the
 * ranks that are measured do anything; rank 0 gets *machine.  MPI_SUCCESS or an error of MPI's. */
int ar_measure(struct ar_machine *machine, MPI_Comm comm, const int *node_of, int nranks,
               int effort);

#endif
