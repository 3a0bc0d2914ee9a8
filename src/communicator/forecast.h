/* What auto runs across nodes, by a model of the machine or by rules; and the constants of a model,
 * measured by a few messages. */
#ifndef AR_COMMUNICATOR_MODEL_H
#define AR_COMMUNICATOR_MODEL_H

#include "communicator/communicator.h"
#include "model/machine.h"

/* Chooses what auto runs across nodes; c's engine is ready.  If c's ranks are on several nodes, or
 * the user names a machine file, *choice becomes the model's, or that of rules for ranks that share
 * cores, and *reason tells; otherwise both stay.  Collective over comm at its first call for ops
 * that commute, and at its first for others. MPI_SUCCESS; an error of MPI's, or MPI_ERR_NO_MEM. */
int ar_model_choose(struct ar_communicator *c, MPI_Comm comm, struct ar_choice *choice,
                    const struct ar_request *request, const char **reason);

/* *rivals becomes the clauses of what formulas propose next to ar_model_choose's choices, alike on
 * all ranks and the caller's; all that match a call are proposed for it.  NULL: none, also where
 * rank 0 has forgotten them.  Collective over comm.  Errors as of ar_model_choose. */
int ar_model_rivals(struct ar_communicator *c, MPI_Comm comm, struct ar_rules **rivals,
                    bool in_order);

/* Rules that are longer are not offered, but broadcast at the first call that needs them. */
#define AR_RULES_OFFERED 512

/* By rank 0: the rules that this call would make for ops that commute, if they are known and c,
 * whose carriage is known, is on several nodes; otherwise false and an empty text. */
bool ar_model_find(char rules[AR_RULES_OFFERED], const struct ar_communicator *c);

/* Takes rank 0's, if they are not empty.  MPI_SUCCESS, or MPI_ERR_NO_MEM on this rank alone. */
int ar_model_take(struct ar_communicator *c, const char *rules);

/* Who measures, and how. */
struct ar_measuring {
    MPI_Comm comm;
    const struct ar_wire *wire; /* of comm's ranks */
    int rank, nranks;
    const int *node_of;
    struct ar_wait wait;
    int effort; /* as of struct ar_pings */
};

/* Measures messages between rank 0 and another rank of its node, or two ranks of another node if
 * rank 0 is alone.  Also measures messages between rank 0 and a rank of another node, and rank
 * 0's reductions.  Messages are left out where there are no such ranks.  Each rank should have a
 * core of its own.  Collective over comm; rank 0 gets *machine.  MPI_SUCCESS, an error of MPI's, or
 * MPI_ERR_NO_MEM. */
int ar_measure(struct ar_machine *machine, const struct ar_measuring *measuring);

#endif
