/* What auto runs across nodes, by a model of the machine. */
#ifndef AR_COMMUNICATOR_MODEL_H
#define AR_COMMUNICATOR_MODEL_H

#include "communicator/communicator.h"

/* What auto runs across nodes: where c's ranks, whose engine is ready, lie on several, or the
 * user names a machine file, choice becomes the model's and *reason tells; else they stay.
 * Collective over comm at its first call for ops that commute, and at that for the others.
 * MPI_SUCCESS; an error of MPI's, or MPI_ERR_NO_MEM. */
int ar_model_choose(struct ar_communicator *c, MPI_Comm comm, struct ar_choice *choice,
                    const struct ar_request *request, const char **reason);
void ar_model_destroy(struct ar_communicator *c);

#endif
