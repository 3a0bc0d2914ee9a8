/* Between the files of this folder alone. */
#ifndef AR_STATE_H
#define AR_STATE_H

#include "communicator/communicator.h"
#include "communicator/process.h"

/* Attribute delete callback of a communicator's state. */
int ar_communicator_delete_callback(MPI_Comm comm, int keyval, void *state, void *extra);

/* Adds what all communicators recorded to the table. */
void ar_communicators_collect(struct ar_table *table);

/* Sets back what they recorded. */
void ar_communicators_reset(void);

/* Lets go of what MPI keeps for us, for the last time that it lets us: communicators only where
 * all ranks do so together. */
void ar_communicators_close(enum ar_close how);

/* Another number whenever ranks exchange something else than before, in set-up or in calls. */
#define AR_PROTOCOL "2"

/* Agrees on the configuration among the ranks of comm: c->config and, where they
 * differ, c->own_config (rank 0's).  Collective over comm.  A configuration that
 * does not parse ends the job here. MPI_SUCCESS or an error of MPI's. */
int ar_agree(struct ar_communicator *c, MPI_Comm comm, struct ar_config *mine);

/* Forgets who agreed, for the last time that MPI can be called. */
void ar_agree_close(void);

/* Agrees on a configuration that the program changed: where ranks differ, *config
 * becomes rank 0's and what was there is destroyed.  Collective over comm.
 * MPI_SUCCESS or an error of MPI's. */
int ar_agree_on(struct ar_communicator *c, MPI_Comm comm, struct ar_config **config);

/* From now on config, which becomes c's, decides; alike on all ranks. */
void ar_communicator_configure(struct ar_communicator *c, struct ar_config *config);

/* Makes the engine: what carries messages, node map, manner of waiting.
 * Collective over comm; c->engine becomes READY or FAILED, alike on all ranks.
 * MPI_ERR_NO_MEM, on this rank alone, before anything collective. */
int ar_engine_create(struct ar_communicator *c, MPI_Comm comm);
void ar_engine_destroy(struct ar_communicator *c, bool mpi_lives);

/* The memory that serves count elements of r, mapped at the first call: collective over
 * comm.  NULL, alike on all ranks, where they share none or an element does not
 * fit; *why tells. */
struct ar_node *ar_memory_get(struct ar_communicator *c, MPI_Comm comm,
                              const struct ar_reduction *r, size_t count, const char **why);
void ar_memory_destroy(struct ar_communicator *c);

/* What auto runs across nodes: where c's ranks, whose engine is ready, lie on several, or the
 * user names a machine file, choice becomes the model's and *reason tells; else they stay.
 * Collective over comm at its first call for ops that commute, and at that for the others.
 * MPI_SUCCESS; an error of MPI's, or MPI_ERR_NO_MEM. */
int ar_model_choose(struct ar_communicator *c, MPI_Comm comm, struct ar_choice *choice,
                    const struct ar_request *request, const char **reason);
void ar_model_destroy(struct ar_communicator *c);
/* The decision for a call, as ar_communicator_decide, but not the last call's: for calls within
 * one of the user's. */
struct ar_decision *ar_decision_get(struct ar_communicator *c, MPI_Comm comm,
                                    const struct ar_reduction *r, size_t count, enum ar_place place,
                                    int *error);

/* The sum of count numbers of r, of AR_ROUNDS_SUM, exactly: by integers, in calls whose decisions
 * are their own.  in may be out.  MPI_SUCCESS or an error of MPI's. */
int ar_exact_sum_run(struct ar_communicator *c, MPI_Comm comm, const struct ar_reduction *r,
                     const void *in, void *out, size_t count);
void ar_exact_sum_destroy(struct ar_communicator *c);

/* Drops all decisions with their plans. */
void ar_decisions_clear(struct ar_communicator *c);

/* As clear; the cache goes, too. */
void ar_decisions_destroy(struct ar_communicator *c);

#endif
