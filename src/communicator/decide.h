/* Decisions: what a call runs, and why.  A communicator keeps those that it has made, with their
 * plans.  To make one is collective over comm, the user's communicator. */
#ifndef AR_DECIDE_H
#define AR_DECIDE_H

#include <stdint.h>

#include "communicator/communicator.h"

/* What a measurement runs. */
struct ar_pick {
    unsigned number;         /* tells the communicator's picks apart, from 1; alike on all ranks */
    struct ar_choice choice; /* not auto */
    const char *reason;      /* lives as long as the communicator */
    bool is_brief;           /* it gets too few calls to try how to store */
};

/* All that the choice for a call depends on, apart from the communicator. */
struct ar_decision_key {
    size_t count;
    size_t size;
    size_t true_extent;
    ptrdiff_t extent;
    ptrdiff_t true_lb;
    bool commutative;
    bool named;       /* op and type are predefined */
    bool basic;       /* the type is */
    unsigned pick;    /* its number; 0: the configuration decides */
    bool for_devices; /* native, for some rank's device memory (devices.h) */
    /* These are 0 where the rules do not ask for them. */
    enum ar_op op;
    enum ar_type_class type;
    enum ar_place place;
    enum ar_determinism keeps;
};

/* Who executes a call. */
enum ar_runner {
    AR_RUN_NATIVE,   /* the MPI library's own allreduce */
    AR_RUN_MESSAGES, /* a plan, by point-to-point messages */
    AR_RUN_MEMORY,   /* the ranks of a node, through shared memory */
    AR_RUN_EXACT     /* an exact sum: integers, each by a decision of its own */
};

/* What a call with this key runs. */
struct ar_decision {
    bool used;
    struct ar_tuned *tuned; /* to which the call belongs; NULL: it is not tuned */
    struct ar_decision_key key;
    enum ar_runner runner;
    struct ar_plan *plan;           /* of AR_RUN_MESSAGES; owned */
    struct ar_node *node;           /* of AR_RUN_MEMORY; the communicator's */
    struct ar_node_plan *node_plan; /* of AR_RUN_MEMORY; owned */
    struct ar_channel
        *channel;    /* of AR_RUN_MESSAGES; the communicator's, or NULL: MPI's messages */
    bool whole;      /* the op gets all elements in each call */
    bool tries_ways; /* nobody asked for copy=in_place, so slots are tried, too */
    bool is_brief;   /* as in the pick */
    struct ar_choice choice;
    const struct ar_choice *clause;    /* that asked for it; NULL: none.  The configuration's */
    const char *reason;                /* static string, or a pick's */
    const struct ar_call_label *label; /* NULL: nothing is recorded */
    struct ar_record *record;          /* of the last call with this decision */
};

/* "device memory": native. */
extern const char ar_reason_device[];

/* "first call of its size": native, since a plan for many ranks takes longer than a call. */
extern const char ar_reason_first[];

/* Tells kinds of calls apart, and by its upper half spreads them over a table; more: any number
 * that belongs to the kind. */
static inline uint64_t
ar_call_hash(size_t count, size_t size, unsigned more)
{
    return (count * 31 + size + more) * UINT64_C(0x9e3779b97f4a7c15);
}

/* Decides what a call of count (>= 1) elements runs.  NULL with *error, an MPI_ERR_ code, where
 * memory ran out or an algorithm is broken.  place is this rank's; for_devices is what the ranks
 * agreed on (devices.h). */
struct ar_decision *ar_communicator_decide(struct ar_communicator *c, MPI_Comm comm,
                                           const struct ar_reduction *r, size_t count,
                                           enum ar_place place, bool for_devices, int *error);

/* A copy of d for one call; until the next copy.  d may be the copy before.  NULL without memory.
 */
struct ar_decision *ar_decision_copy(struct ar_communicator *c, const struct ar_decision *d);

/* The same, with another reason and another way to get at vectors. */
struct ar_decision *ar_decision_tell(struct ar_communicator *c, const struct ar_decision *d,
                                     const char *reason, enum ar_copy way);

/* The least count from this one on that has a plan to be lent to shorter calls. */
size_t ar_lending_count(size_t count, size_t size);

/* That count if the call is to run by such a plan, otherwise the call's own count.  Alike on all
 * ranks, whatever their layouts and caches: all must run the same schedule.  Calls that come often
 * get a plan of their own.  *error: MPI_SUCCESS, or as of ar_request_describe. */
size_t ar_lending_find(struct ar_communicator *c, MPI_Comm comm, const struct ar_reduction *r,
                       const struct ar_decision_key *key, int *error);

/* Can calls with fewer elements run by d's plan, or natively as d does?  Alike on all ranks. */
bool ar_decision_lends(const struct ar_decision *d);

/* A copy of d, which lends, for a call with fewer elements; until the next copy.  NULL (*error)
 * without memory. */
struct ar_decision *ar_decision_lend(struct ar_communicator *c, const struct ar_decision *d,
                                     size_t count, int *error);

/* From now on calls of about this size run by plans of their own, since longer ones do not lend. */
void ar_decision_keep_own(struct ar_communicator *c, const struct ar_decision_key *key);

/* A copy of d for a call on c that this rank stages, whose reason tells so; until the next one.
 * NULL without memory. */
struct ar_decision *ar_decision_staged(struct ar_communicator *c, const struct ar_decision *d);

/* After a call by d, on a communicator that has c->memory.in_place: d, or where it was to run in
 * place and went through slots a copy of d whose reason tells so; until the next one. */
struct ar_decision *ar_decision_missed(struct ar_communicator *c, struct ar_decision *d);

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

/* The record of a decision's calls with this type and op, at this place on this rank, on a
 * communicator that has a recorder; NULL without memory. */
struct ar_record *ar_decision_record(struct ar_communicator *c, struct ar_decision *d,
                                     const struct ar_reduction *r, enum ar_place place);

/* Finds d's label, on a communicator that has a recorder. */
void ar_decision_label(struct ar_communicator *c, struct ar_decision *d);

/* What runs, as the grammar writes it. */
void ar_decision_print(const struct ar_decision *d, char ran[AR_CHOICE_TEXT]);

/* A set of the cache, AR_DECISION_WAYS decisions, for the caller to free; NULL without memory. */
struct ar_decision *ar_decision_set_create(void);

/* Drops all decisions with their plans. */
void ar_decisions_clear(struct ar_communicator *c);

/* As clear, and frees the cache itself. */
void ar_decisions_destroy(struct ar_communicator *c);

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
