/* What auto runs across nodes, by a model of the machine; and the constants of such a model,
 * measured by a few messages. */
#ifndef AR_COMMUNICATOR_MODEL_H
#define AR_COMMUNICATOR_MODEL_H

#include "communicator/communicator.h"
#include "model/machine.h"

/* What auto runs across nodes: where c's ranks, whose engine is ready, lie on several, or the
 * user names a machine file, choice becomes the model's and *reason tells; else they stay.
 * Collective over comm at its first call for ops that commute, and at that for the others.
 * MPI_SUCCESS; an error of MPI's, or MPI_ERR_NO_MEM. */
int ar_model_choose(struct ar_communicator *c, MPI_Comm comm, struct ar_choice *choice,
                    const struct ar_request *request, const char **reason);

/* Measures on the wire of nranks ranks, of which this is rank, and which lie on nodes as node_of
 * says: messages between rank 0 and another rank of its node, and a rank of another node, as far as
 * there are any; reductions of rank 0.  effort: 1 takes some milliseconds, more repeats as often.
 * Collective over them, but only the ranks that are measured do anything; rank 0 gets *machine.
 * MPI_SUCCESS or an error of MPI's. */
int ar_measure(struct ar_machine *machine, const struct ar_wire *wire, int rank, const int *node_of,
               int nranks, int effort);

#endif
