/* The engine of a communicator: what its schedules need to run. */
#ifndef AR_ENGINE_H
#define AR_ENGINE_H

#include "communicator/communicator.h"

extern const char ar_reason_large[]; /* an element, for shared memory */

/* Makes the engine: what carries messages, the map of nodes, the manner of waiting.
 * Collective over comm; c->messages.state becomes READY or FAILED, alike on all ranks.
 * MPI_SUCCESS, an error of MPI's, or MPI_ERR_NO_MEM on this rank alone. */
int ar_engine_create(struct ar_communicator *c, MPI_Comm comm);

/* Gives back what it took, and the memory below. */
void ar_engine_destroy(struct ar_communicator *c);

/* The memory that serves count elements of r, mapped at the first call: collective over comm.
 * NULL, alike on all ranks, where they share none or an element does not fit; *why tells. */
struct ar_node *ar_memory_find_or_map(struct ar_communicator *c, MPI_Comm comm,
                                      const struct ar_reduction *r, size_t count, const char **why);

#endif
