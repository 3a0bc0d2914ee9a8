/* What we keep per communicator: the agreed configuration, the node map, the
 * private communicator, the plans.  A communicator's calls are ordered by MPI,
 * so its state needs no lock; the list of all states has one. */
#ifndef AR_COMMUNICATOR_H
#define AR_COMMUNICATOR_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "communicator/carrier.h"
#include "communicator/record.h"
#include "config/config.h"
#include "execute/channel.h"
#include "execute/node.h"
#include "execute/p2p.h"
#include "execute/plan.h"
#include "reduce/reduce.h"
#include "report/report.h"

#define AR_DECISION_SETS 32
#define AR_DECISION_WAYS 4

/* What somebody who measures wants to run. */
struct ar_pick {
    unsigned number; /* its own among those of the communicator, from 1; alike on all ranks */
    struct ar_choice choice; /* not auto */
    const char *reason;      /* lives as long as the communicator */
};

/* All that the choice for a call depends on, beside the communicator. */
struct ar_decision_key {
    size_t count;
    size_t size;
    size_t true_extent;
    ptrdiff_t extent;
    ptrdiff_t true_lb;
    bool commutative;
    bool named;    /* op and type are predefined */
    bool basic;    /* the type is */
    unsigned pick; /* its number; 0: the configuration decides */
    /* 0 where the rules do not ask: */
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
    struct ar_tuned *tuned; /* whose pick it is; NULL: nobody tunes */
    struct ar_decision_key key;
    enum ar_runner runner;
    struct ar_plan *plan; /* of AR_RUN_MESSAGES; owned */
    struct ar_node *node; /* of AR_RUN_MEMORY; the communicator's */
    struct ar_channel
        *channel; /* of AR_RUN_MESSAGES; the communicator's, or NULL: MPI's messages */
    bool whole;   /* the op gets all elements in each call */
    struct ar_choice choice;
    const struct ar_choice *clause; /* that asked for it; NULL: none.  The configuration's */
    const char *reason;             /* static string, or a pick's */
    const struct ar_label *label;   /* NULL: nothing is recorded */
    struct ar_record *record;       /* of the last call with this decision */
};

/* Where what messages take stands: a carrier, the nodes, a channel. */
enum ar_engine { AR_ENGINE_NONE, AR_ENGINE_READY, AR_ENGINE_FAILED };

/* Memory that the ranks share: little for short messages, since a program may have
 * thousands of communicators, and more at the first long one. */
enum ar_memory_grade { AR_MEMORY_SHORT, AR_MEMORY_LONG, AR_MEMORY_GRADES };

struct ar_memory {
    enum ar_engine state;
    struct ar_node node; /* if ready */
};

struct ar_communicator {
    struct ar_communicator *next, *previous; /* list of all */
    int rank;
    int nranks;
    const struct ar_config *config;
    struct ar_config *own_config; /* where ranks differed: rank 0's; else NULL */
    const char *always_native;    /* reason why every call goes native, or NULL */
    const char *verdict; /* the same, for good: whatever the program may choose; NULL: none */
    int failure; /* the error that a call ended with in the midst; its ranks are out of step since
                  */
    enum ar_engine engine;
    struct ar_carriage carriage; /* of our own messages; had at the first call that needs it */
    struct ar_memory memory[AR_MEMORY_GRADES];
    bool has_channel; /* made with the engine, for the ranks of this one's node */
    struct ar_channel channel;
    int *member_of;         /* number of each rank in the channel, or -1; as node_of */
    size_t nodes, per_node; /* as in struct ar_request */
    char *name;             /* likewise; NULL: nobody asked */
    const int *node_of;     /* node of each rank, from 0; NULL before the engine is ready */
    bool has_model[2];      /* were the rules looked for? */
    struct ar_rules *model_rules[2]; /* of auto across nodes; for ops that do not commute */
    struct ar_wait wait;
    struct ar_exact_sum *exact_sum; /* NULL: none was asked for yet */
    char *scratch;                  /* aligned to 64 */
    size_t scratch_bytes;
    size_t plan_bytes;                               /* of all plans */
    unsigned next_way;                               /* whom to replace next in a full set */
    struct ar_decision *decisions[AR_DECISION_SETS]; /* AR_DECISION_WAYS each; NULL: none yet */
    /* The call before: predefined handles never change their meaning. */
    MPI_Datatype last_type;
    MPI_Op last_op;
    size_t last_count;
    struct ar_reduction last_reduction;
    struct ar_decision *last_decision; /* NULL: none */
    const struct ar_decision *ran;     /* by the last call; NULL: none, or no more known */
    const struct ar_pick *pick;   /* what runs whatever the configuration says; NULL: nothing */
    struct ar_recorder *recorder; /* NULL: nothing is recorded */
    struct ar_tuner *tuner;       /* NULL: nothing is tuned */
    unsigned long verify_calls;   /* before the one at hand, under ALLREDUCE_VERIFY */
    bool verifies;                /* is the call at hand to be verified? */
    const struct ar_label *native_label; /* of calls under always_native */
};

/* The state of comm, made (collectively) at its first call; NULL where it could
 * not be made: *error then tells why, MPI_SUCCESS meaning "go native" (MPI is
 * being finalized).  *is_raised: MPI has called the error handler already (comm is no
 * communicator). */
struct ar_communicator *ar_communicator_get(MPI_Comm comm, int *error, bool *is_raised);

/* The same without making one: NULL where comm has none yet. */
struct ar_communicator *ar_communicator_find(MPI_Comm comm);

/* What a call of count (>= 1) elements runs; NULL with *error where memory ran out or
 * an algorithm is broken.  comm is the user's, for the set-up at first need; place is this
 * rank's. */
struct ar_decision *ar_communicator_decide(struct ar_communicator *c, MPI_Comm comm,
                                           const struct ar_reduction *r, size_t count,
                                           enum ar_place place, int *error);

/* The same for a call that runs what pick says (NULL: what the configuration says); where it
 * cannot, native or the same schedule by messages, as the reason tells. */
struct ar_decision *ar_communicator_decide_on(struct ar_communicator *c, MPI_Comm comm,
                                              const struct ar_reduction *r, size_t count,
                                              const struct ar_pick *pick, int *error);

/* From now on calls on c run pick, alike on all ranks, or what the configuration says (NULL).
 * pick lives as long as it is in force. */
void ar_communicator_pick(struct ar_communicator *c, const struct ar_pick *pick);

/* Runs a decision that is not native.  in may be out; comm is the user's.  MPI_SUCCESS or an error
 * of MPI's, which all later runs on this communicator end with, too: what the ranks send each other
 * after it would be taken for something else. */
int ar_communicator_run(struct ar_communicator *c, MPI_Comm comm,
                        const struct ar_decision *decision, const struct ar_reduction *r,
                        const void *in, void *out);

/* Makes the state of comm, which has none yet, with a configuration of the
 * caller's in place of the environment's; alike on all ranks.  config becomes
 * comm's.  NULL where memory ran out or MPI refused. */
struct ar_communicator *ar_communicator_create_with(MPI_Comm comm, struct ar_config *config);

#endif
