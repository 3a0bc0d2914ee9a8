/* The memory of decisions: what the calls on a communicator have run, and will run.
 *
 * All ranks of a call must run the same schedule, and no rank asks another one.  So there are two
 * parts.  The first is alike on all ranks, and only this one has a say in what a call runs:
 *
 *   pick, tuner   set at the same call on all ranks
 *   seen          the sizes of which there was a call
 *   often         how often calls of a count and size came
 *   files         schedules that were read where a choice first named them
 *
 * It depends on what MPI makes equal on all ranks: the counts and sizes of the calls, in their
 * order.  The second part is each rank's own:
 *
 *   chains        decisions with their plans: a rank has more of them the more layouts a type has
 *   recents       the last calls by their handles: ranks may name a type in different ways
 *
 * There a rank finds in less time what it would decide anew otherwise.  So nothing may follow from
 * whether it is there: a rank may forget any of it at any time.  That needs two rules:
 *
 * 1. A look-up of a recent call would change nothing that is alike on all ranks, and find the same
 *    decision: for some ranks look the call up, and others do not.  Whoever makes this untrue of a
 *    recent call forgets it, on all ranks.
 * 2. To make a decision is collective only as far as something is made that is kept elsewhere, such
 *    as memory or rules: that happens at the first decision of its kind, on all ranks at once. */
#ifndef AR_DECISIONS_H
#define AR_DECISIONS_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reduce/reduce.h"
#include "select/select.h"

struct ar_call_label;
struct ar_channel;
struct ar_communicator;
struct ar_node;
struct ar_node_plan;
struct ar_pick; /* decide.h */
struct ar_plan;
struct ar_record;
struct ar_trial;
struct ar_tuned;
struct ar_tuner;
struct ar_written_file; /* written_files.c */

/* On more ranks auto leaves the first call of each range of sizes to the MPI library. */
#define AR_RANKS_PLANNED_AT_ONCE 16

/* --- a decision --- */

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

/* What a call with this key runs; a call with fewer elements may borrow it.  Whoever borrows gives
 * the run its own count. */
struct ar_decision {
    struct ar_decision *next; /* older, in the same chain */
    struct ar_tuned *tuned;   /* to which the call belongs; NULL: it is not tuned */
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
    const char *reason;                /* lives as long as the communicator */
    const struct ar_call_label *label; /* NULL: nothing is recorded */
    struct ar_record *record;          /* of the last call that had no other reason */
};

/* Frees it with its plan.  NULL is ignored. */
void ar_decision_destroy(struct ar_decision *d);

/* --- recent calls --- */

/* Most programs make the same few calls in turn, with predefined handles, which never change their
 * meaning.  Such a call resolves and looks up nothing. */
#define AR_RECENT_CALLS 4

struct ar_recent {
    size_t count;
    struct ar_reduction reduction;
    struct ar_decision *decision; /* NULL: no call */
};

/* All zero: none. */
struct ar_recents {
    struct ar_recent call[AR_RECENT_CALLS];
    unsigned last;
};

static inline bool
ar_recent_is(const struct ar_recent *call, MPI_Op op, MPI_Datatype type, size_t count)
{
    return call->decision && call->reduction.type == type && call->reduction.op == op &&
           call->count == count;
}

/* A call like this one; NULL: there is none.  Looks first at the last one, so that calls which are
 * all alike cost no more. */
static inline struct ar_recent *
ar_recent_find(struct ar_recents *recents, MPI_Op op, MPI_Datatype type, size_t count)
{
    if (ar_recent_is(&recents->call[recents->last], op, type, count))
        return &recents->call[recents->last];
    for (unsigned i = 0; i < AR_RECENT_CALLS; i++)
        if (ar_recent_is(&recents->call[i], op, type, count)) {
            recents->last = i;
            return &recents->call[i];
        }
    return NULL;
}

/* Adds a call, in place of one like it or of the next after the last that was found. */
void ar_recent_add(struct ar_recents *recents, const struct ar_recent *call);

/* Those of this decision; NULL: all. */
void ar_recent_forget(struct ar_recents *recents, const struct ar_decision *decision);

/* --- what comes often --- */

#define AR_OFTEN_SETS  16
#define AR_OFTEN_WAYS  4
#define AR_OFTEN_CALLS 16

/* All zero: none. */
struct ar_often {
    uint64_t kind[AR_OFTEN_SETS][AR_OFTEN_WAYS]; /* but for the lowest byte, which counts; 0 there:
                                                    the place is free */
};

/* Notes a call of this kind.  Is it one that has come AR_OFTEN_CALLS times before, and more often
 * than all but a few?  Then this call changes nothing. */
bool ar_often_note(struct ar_often *often, uint64_t kind);

/* Tells kinds of calls apart, and by its upper half spreads them over a table; more: any number
 * that belongs to the kind. */
static inline uint64_t
ar_call_hash(size_t count, size_t size, unsigned more)
{
    return (count * 31 + size + more) * UINT64_C(0x9e3779b97f4a7c15);
}

/* --- the memory --- */

#define AR_DECISION_CHAINS 32
#define AR_DECISION_WAYS   4 /* decisions of a chain; the one that ran last may be one more */

/* All zero: nothing is known. */
struct ar_decisions {
    /* Alike on all ranks. */
    const struct ar_pick *pick;    /* runs regardless of the configuration; NULL: nothing */
    struct ar_tuner *tuner;        /* NULL: nothing is tuned.  Owned */
    uint8_t seen[64];              /* for each power of two the eighths of which there was a size */
    struct ar_often often;         /* the calls that get a plan of their own */
    struct ar_written_file *files; /* with schedules, that choices have named.  Owned */
    /* This rank's own. */
    struct ar_decision *chains[AR_DECISION_CHAINS]; /* owned */
    size_t plan_bytes;                              /* of all plans */
    struct ar_recents recents;
    const struct ar_decision *ran; /* by the last call; NULL: none, or no longer known */
    const char *told;              /* why it ran, if that is not its decision's reason; else NULL */
    struct ar_trial *trials[2];    /* of stores; NULL: none yet.  Owned; see ways.c */
};

/* Notes a call of so many bytes (>= 1).  Is it the first one of about its size?  Sizes are alike if
 * they are in the same eighth between two powers of two. */
bool ar_decisions_see(struct ar_decisions *ds, size_t bytes);

/* NULL: there is none. */
struct ar_decision *ar_decisions_find(const struct ar_decisions *ds,
                                      const struct ar_decision_key *key);

/* Keeps d, in place of another one with its key.  Older ones go where there are too many, or where
 * plans take too much memory, but never the one that ran last: an exact sum goes on after its
 * integers. */
void ar_decisions_keep(struct ar_decisions *ds, struct ar_decision *d);

/* Drops all decisions with their plans. */
void ar_decisions_clear(struct ar_decisions *ds);

/* --- plans that are lent --- */

/* The least count from this one on that has a plan to be lent to shorter calls. */
size_t ar_lending_count(size_t count, size_t size);

/* That count if the call is to borrow such a plan where it lends, otherwise the call's own count.
 * Alike on all ranks, whatever their layouts and decisions.  Calls that come often get a plan of
 * their own.  *error: MPI_SUCCESS, or as of ar_request_describe. */
size_t ar_lending_find(struct ar_communicator *c, MPI_Comm comm, const struct ar_reduction *r,
                       const struct ar_decision_key *key, int *error);

/* Can calls with fewer elements borrow d?  Alike on all ranks. */
bool ar_decision_lends(const struct ar_decision *d);

/* --- what is told of a call by d; told: the call's own reason, or NULL: d's --- */

/* The choice that ran: d's, but through slots if told says that it could not run in place. */
struct ar_choice ar_decision_choice(const struct ar_decision *d, const char *told);

/* What ran, as the grammar writes it. */
void ar_decision_print(const struct ar_decision *d, const char *told, char ran[AR_CHOICE_TEXT]);

/* On a communicator that has a recorder; NULL without memory. */
const struct ar_call_label *ar_decision_label(struct ar_communicator *c,
                                              const struct ar_decision *d, const char *told);

/* The record of such calls of count elements of this type and op, at this place on this rank, on a
 * communicator that has a recorder; NULL without memory. */
struct ar_record *ar_decision_record(struct ar_communicator *c, struct ar_decision *d,
                                     const char *told, const struct ar_reduction *r, size_t count,
                                     enum ar_place place);

/* After the call, on a communicator that has c->memory.in_place: told, or why it went through slots
 * where it was to run in place. */
const char *ar_decision_missed(const struct ar_communicator *c, const struct ar_decision *d,
                               const char *told);

/* Why the last call ran what it did (ds->ran is not NULL). */
static inline const char *
ar_decisions_reason(const struct ar_decisions *ds)
{
    return ds->told ? ds->told : ds->ran->reason;
}

#endif
