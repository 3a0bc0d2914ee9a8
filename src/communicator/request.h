/* The request that the rules are given for a call: facts that are the same on all ranks. */
#ifndef AR_COMMUNICATOR_REQUEST_H
#define AR_COMMUNICATOR_REQUEST_H

#include "communicator/communicator.h"

/* Describes a call of count elements of r.  Nodes and name are found at the first call
 * of a communicator whose configuration asks for them: collective over comm then.
 * MPI_SUCCESS, MPI_ERR_NO_MEM or an error of MPI's. */
int ar_request_describe(struct ar_communicator *c, MPI_Comm comm, struct ar_request *request,
                        const struct ar_reduction *r, size_t count, enum ar_place place);

/* Sets c->nodes and c->per_node, which stay 0 where the engine cannot be had.  Collective over comm
 * at its first call.  MPI_SUCCESS, MPI_ERR_NO_MEM or an error of MPI's. */
int ar_request_count_nodes(struct ar_communicator *c, MPI_Comm comm);

/* In place where all ranks are; collective over comm where the configuration would choose
 * differently.  *error: MPI_SUCCESS, or an error of MPI's or memory. */
enum ar_place ar_request_agree_on_place(struct ar_communicator *c, MPI_Comm comm,
                                        const struct ar_reduction *r, size_t count,
                                        enum ar_place place, int *error);

#endif
