/* What a call runs, and why: decided once, and kept with its plan (decisions.h).  To decide is
 * collective over comm, the user's communicator. */
#ifndef AR_DECIDE_H
#define AR_DECIDE_H

#include "communicator/communicator.h"

/* What a measurement runs. */
struct ar_pick {
    unsigned number;         /* tells the communicator's picks apart, from 1; alike on all ranks */
    struct ar_choice choice; /* not auto */
    const char *reason;      /* lives as long as the communicator */
    bool is_brief;           /* it gets too few calls to try how to store */
};

/* "device memory": native. */
extern const char ar_reason_device[];

/* "first call of its size": native, since a plan for many ranks takes longer than a call. */
extern const char ar_reason_first[];

/* "first call": native, since the communicator may be made for it alone. */
extern const char ar_reason_waits[];

/* A first call of so many bytes takes longer than the set-up before it. */
#define AR_WAITS_BYTES ((size_t)256 << 10)

/* Decides what a call of count (>= 1) elements runs; the decision may be that of a call with more
 * elements.  NULL with *error, an MPI_ERR_ code, where memory ran out or an algorithm is broken.
 * place is this rank's; for_devices is what the ranks agreed on (devices.h). */
struct ar_decision *ar_communicator_decide(struct ar_communicator *c, MPI_Comm comm,
                                           const struct ar_reduction *r, size_t count,
                                           enum ar_place place, bool for_devices, int *error);

/* On a communicator whose ranks may wait (c->agreement.waits): the native decision for its first
 * call; NULL if the ranks are to meet before it, or with *error changed.  Alike on all ranks. */
struct ar_decision *ar_decision_wait(struct ar_communicator *c, MPI_Comm comm,
                                     const struct ar_reduction *r, size_t count, int *error);

/* As ar_communicator_decide, for a call that is not the user's.  place is alike on all ranks.
 * The call becomes no recent call and borrows no plan.  It runs pick, or what the configuration
 * says (NULL).  If pick cannot run, native does or the same schedule by messages, as the reason
 * tells. */
struct ar_decision *ar_communicator_decide_on(struct ar_communicator *c, MPI_Comm comm,
                                              const struct ar_reduction *r, size_t count,
                                              enum ar_place place, const struct ar_pick *pick,
                                              int *error);

/* From now on calls on c run pick, alike on all ranks, or what the configuration says (NULL).  pick
 * lives as long as it is in force. */
void ar_communicator_pick(struct ar_communicator *c, const struct ar_pick *pick);

/* Runs AR_RUN_EXACT: sums count numbers of r, of AR_ROUNDS_SUM, exactly: as integers, in allreduces
 * with decisions of their own.  in may be out.  Collective over comm.  MPI_SUCCESS or an error of
 * MPI's. */
int ar_exact_sum_run(struct ar_communicator *c, MPI_Comm comm, const struct ar_reduction *r,
                     const void *in, void *out, size_t count);

/* --- requests: the facts of a call that the rules are given, the same on all ranks --- */

/* Describes a call of count elements of r.  Nodes and name are found at the first call
 * of a communicator whose configuration asks for them: collective over comm then.
 * MPI_SUCCESS, MPI_ERR_NO_MEM or an error of MPI's. */
int ar_request_describe(struct ar_communicator *c, MPI_Comm comm, struct ar_request *request,
                        const struct ar_reduction *r, size_t count, enum ar_place place);

/* Sets c->messages.nodes and c->messages.per_node, which stay 0 where the engine cannot be had.
 * Collective over comm at its first call.  MPI_SUCCESS, MPI_ERR_NO_MEM or an error of MPI's. */
int ar_request_count_nodes(struct ar_communicator *c, MPI_Comm comm);

/* AR_IN_PLACE if the configuration chooses differently for the two places and all ranks are in
 * place; otherwise AR_OUT_OF_PLACE.  Collective over comm where it chooses differently.  *error:
 * MPI_SUCCESS, or an error of MPI's or memory. */
enum ar_place ar_request_agree_on_place(struct ar_communicator *c, MPI_Comm comm,
                                        const struct ar_reduction *r, size_t count,
                                        enum ar_place place, int *error);

#endif
