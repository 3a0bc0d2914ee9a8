/* The engine of a communicator: what its schedules need to run. */
#ifndef AR_ENGINE_H
#define AR_ENGINE_H

#include "communicator/communicator.h"
#include "communicator/forecast.h"

extern const char ar_reason_large[]; /* an element, for shared memory */

/* Makes the engine: what carries messages, the map of nodes, the manner of waiting.
 * Collective over comm; c->messages.state becomes READY or FAILED, alike on all ranks.
 * MPI_SUCCESS, an error of MPI's, or MPI_ERR_NO_MEM on this rank alone. */
int ar_engine_create(struct ar_communicator *c, MPI_Comm comm);

/* What rank 0 finds for a communicator among what is kept: tags of a carrier, memory, and rules of
 * auto across nodes.  What it does not find, the ranks make together when they need it.  Plain
 * data. */
struct ar_engine_offer {
    struct ar_carriage_offer carriage;
    struct ar_piece_offer memory[AR_MEMORY_GRADES];
    bool has_rules;
    char rules[AR_RULES_OFFERED]; /* empty: none */
};

/* By rank 0, for all the members; r and count: of the call before which it is done, or NULL.
 * Without memory it offers nothing. */
void ar_engine_offer(struct ar_engine_offer *offer, struct ar_communicator *c, MPI_Comm comm,
                     const struct ar_members *members, const struct ar_reduction *r, size_t count);

/* This rank takes what rank 0 has found.  Not collective.  MPI_SUCCESS, or MPI_ERR_NO_MEM on this
 * rank alone. */
int ar_engine_take(struct ar_communicator *c, MPI_Comm comm, const struct ar_engine_offer *offer);

/* Gives back what it took, and the memory below. */
void ar_engine_destroy(struct ar_communicator *c);

/* The memory that serves count elements of r, mapped at the first call: collective over comm.
 * NULL, alike on all ranks, where they share none or an element does not fit; *why tells. */
struct ar_node *ar_memory_find_or_map(struct ar_communicator *c, MPI_Comm comm,
                                      const struct ar_reduction *r, size_t count, const char **why);

#endif
