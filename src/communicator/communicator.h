/* What is kept per communicator: the agreed configuration, the map of nodes, the private
 * communicator, the plans.  MPI orders the calls on a communicator, so its state needs no lock.
 * Errors are those of MPI: MPI_SUCCESS or MPI_ERR_ codes. */
#ifndef AR_COMMUNICATOR_H
#define AR_COMMUNICATOR_H

#include <fenv.h>
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "algorithms/domains.h"
#include "communicator/carrier.h"
#include "communicator/decisions.h"
#include "config/config.h"
#include "execute/channel.h"
#include "execute/in_place.h"
#include "execute/node.h"
#include "execute/p2p.h"
#include "execute/plan.h"
#include "record/record.h"
#include "record/timeline.h"
#include "reduce/reduce.h"
#include "report/say.h"

/* Kinds of calls on which ranks agree (devices.h). */
#define AR_DEVICES_KINDS 256

struct ar_devices_kind; /* devices.c */
struct ar_levels_kept;  /* levels.c */

/* The state of what messages need: a carrier, the map of nodes, a channel. */
enum ar_engine { AR_ENGINE_NONE, AR_ENGINE_READY, AR_ENGINE_FAILED };

/* Memory that the ranks share: little for short messages, since a program may have
 * thousands of communicators, and more from the first long message on. */
enum ar_memory_grade { AR_MEMORY_SHORT, AR_MEMORY_LONG, AR_MEMORY_GRADES };

struct ar_memory {
    enum ar_engine state;
    struct ar_node node; /* if ready */
};

/* What the ranks have agreed on (agree.h). */
struct ar_agreed {
    struct ar_config *own_config; /* if ranks differed: rank 0's; else NULL.  Owned */
    bool has_versions;            /* the ranks have different ones: we exchange nothing */
    bool waits; /* the first exchange is still to come: ar_communicator_meet.  Alike on all ranks */
    bool has_waited;           /* a call went native for that */
    const char *verdict;       /* reason why every call goes native, whatever the program chooses;
                                  NULL: none */
    const char *always_native; /* the same, or because the configuration says so; NULL: none */
    const struct ar_call_label *native_label; /* of such calls */
};

/* Whose memory is device memory (devices.h).  Alike on all ranks. */
struct ar_devices {
    bool any;                      /* whether any rank has a runtime */
    long calls_to_review;          /* until the ranks agree anew; 0: something may be due at each */
    long reviewed_calls;           /* how many calls the next review will have seen */
    struct ar_devices_kind *kinds; /* AR_DEVICES_KINDS; owned; NULL: none yet */
    unsigned next_kind;            /* the next to replace in a full set */
};

/* What messages need, from the first call that sends any (transport.h, forecast.h). */
struct ar_messages {
    enum ar_engine state;
    struct ar_carriage carriage; /* of our own messages, and the map of nodes; borrowed */
    const int *assumed; /* nodes instead of those that MPI reports; NULL: none.  Borrowed */
    bool has_channel;   /* for the ranks of this one's node */
    struct ar_channel channel;
    int *member_of;            /* number of each rank in the channel, or -1; owned */
    size_t nodes, per_node;    /* as in struct ar_request; 0: not counted yet */
    bool has_rules[2];         /* whether they were looked up */
    struct ar_rules *rules[2]; /* of auto across nodes; for ops that do not commute.  Owned */
};

/* What the ranks of a node share (transport.h, ways.h, named_levels.h). */
struct ar_memories {
    struct ar_memory grades[AR_MEMORY_GRADES];
    bool in_place_is_tried;        /* or known to be in vain */
    struct ar_in_place *in_place;  /* NULL: not needed yet, or impossible; owned */
    struct ar_levels_kept *levels; /* groups of ranks; owned */
    int *domain_of;                /* of domains; NULL: they were not needed yet.  Owned */
    struct ar_domains domains;
};

/* What is written down of calls (record/). */
struct ar_records {
    struct ar_recorder *recorder; /* NULL: nothing is recorded */
    struct ar_timeline *timeline; /* NULL: calls are not traced */
    struct ar_events *events;     /* of the current call; NULL: they are not recorded */
    unsigned long verify_calls;   /* before the current one, under ALLREDUCE_VERIFY */
    bool verifies;                /* whether the current call is to be verified */
};

/* Where calls put their operands. */
struct ar_call_buffers {
    char *scratch; /* aligned to 64; owned */
    size_t scratch_bytes;
    struct ar_aligned operands;     /* of ops that get whole vectors */
    struct ar_exact_sum *exact_sum; /* NULL: not needed yet.  Owned */
};

struct ar_communicator {
    int rank;
    int nranks;
    const struct ar_config *config;
    int failure;       /* the error that interrupted a call: since then its ranks are out of step */
    char *name;        /* as in struct ar_request; NULL: it was not needed yet.  Owned */
    bool shares_cores; /* ranks of this one's node do, with each other or with those beside them */
    struct ar_wait wait;
    struct ar_agreed agreement;
    struct ar_devices devices;
    struct ar_memories memory;
    struct ar_messages messages;
    struct ar_decisions choice;
    struct ar_records records;
    struct ar_call_buffers buffers;
};

/* To be called once, before anything else here; config is the process's, or NULL without memory. */
void ar_communicators_open(struct ar_config *config);

/* From now on every call goes native: MPI is about to end. */
void ar_communicators_stop(void);
bool ar_communicators_are_stopped(void);

/* Frees our MPI objects, while MPI can still be called.  is_together: collective over the ranks of
 * the world; only then are communicators freed. */
void ar_communicators_close(bool is_together);

/* The state of comm.  NULL if there is none; then *error has the cause.  MPI_SUCCESS there means
 * "go native", since comm is being freed or MPI is ending, unless *is_new: then the state is to be
 * created.  *is_raised: MPI has already called the error handler (comm is not a communicator). */
struct ar_communicator *ar_communicator_look_up(MPI_Comm comm, int *error, bool *is_raised,
                                                bool *is_new);

/* Makes the state, which comm does not have yet.  r and count: of the call before which it is made,
 * or NULL.  Collective over comm.  NULL if it could not be made: with MPI_ERR_NO_MEM this rank
 * alone has no memory for it; with MPI_SUCCESS neither, but all calls on comm go native anyway. */
struct ar_communicator *ar_communicator_create(MPI_Comm comm, const struct ar_reduction *r,
                                               size_t count, int *error);

/* The first exchange of ranks that have waited (c->agreement.waits), before a call.  Collective
 * over comm.  MPI_SUCCESS, an error of MPI's, or MPI_ERR_NO_MEM on this rank alone. */
int ar_communicator_meet(struct ar_communicator *c, MPI_Comm comm, const struct ar_reduction *r,
                         size_t count);

/* The state of comm; NULL if it has none. */
struct ar_communicator *ar_communicator_find(MPI_Comm comm);

/* This thread frees comm, which may be any handle, between begin and end.  Meanwhile comm has no
 * state and gets none, so calls on it from the program's delete callbacks go native: MPICH's list
 * of its attributes is not valid then. */
void ar_communicator_free_begin(MPI_Comm comm);
void ar_communicator_free_end(void);

/* Must calls on comm go native, since it is being freed by this thread, or MPI is about to end? */
bool ar_communicator_is_ending(MPI_Comm comm);

/* What ranks settle among themselves between begin and end counts as set-up and not as the call's.
 * An error there is one of MPI's on the program's communicator, which MPI has raised.  What could
 * not be made for lack of context ids is no error.  What is computed there neither traps nor leaves
 * a mark in the program's floating-point environment. */
struct ar_setup {
    fenv_t environment;
    uint64_t start_ns;
};
void ar_setup_begin(struct ar_setup *setup);
void ar_setup_end(struct ar_setup *setup, const struct ar_communicator *c);

/* Makes the state of comm, which has none yet, with a configuration of the
 * caller instead of the environment's; alike on all ranks.  config becomes
 * comm's.  NULL if memory ran out or MPI refused. */
struct ar_communicator *ar_communicator_create_with(MPI_Comm comm, struct ar_config *config);

/* Treats the ranks of c, which are on one node and have made no call yet, as ranks of several
 * nodes. Each rank's node, numbered as in struct ar_params, is borrowed; alike on all ranks.  The
 * ranks share only within an assumed node what they would share on a real one; all other messages
 * are MPI's.  This is for measurements only. */
void ar_communicator_assume(struct ar_communicator *c, const int *node_of);

/* From now on config, which becomes c's, applies; alike on all ranks. */
void ar_communicator_configure(struct ar_communicator *c, struct ar_config *config);

/* From now on every call goes native for this reason, whatever the program may choose; alike on all
 * ranks. */
void ar_communicator_end_choice(struct ar_communicator *c, const char *reason);

/* Runs a decision that is not native.  in may be out; comm is the user's.  Collective over comm.
 * MPI_SUCCESS, or an MPI error with which all later runs on this communicator end, too, because the
 * ranks' messages after it could be mistaken for others. */
int ar_communicator_run(struct ar_communicator *c, MPI_Comm comm,
                        const struct ar_decision *decision, const struct ar_reduction *r,
                        const void *in, void *out, size_t count);

#endif
