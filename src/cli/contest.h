/* A contest: allreduce algorithms timed against each other in one run.  Collective over
 * MPI_COMM_WORLD, all of it. */
#ifndef AR_CONTEST_H
#define AR_CONTEST_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "cli/judge.h"
#include "communicator/communicator.h"
#include "reduce/named.h"

enum ar_entrant_kind {
    AR_ENTRANT_NATIVE,
    AR_ENTRANT_REDUCE_BCAST,
    AR_ENTRANT_OURS,
    /* No allreduce: every rank sends 2n(p-1)/p to its neighbour and receives as much from the
     * other, which is the least that an allreduce of n by messages can do. */
    AR_ENTRANT_EXCHANGE
};

/* Times are seconds a call, of the slowest rank. */
struct ar_entrant {
    enum ar_entrant_kind kind;
    char *label;
    MPI_Comm comm;                 /* of its own, or shared by those with a pick */
    struct ar_communicator *state; /* ours only */
    struct ar_pick *pick;          /* of those that share a communicator, else NULL.  Owned */
    bool is_judged;                /* its results are known to be right, and not judged again */
    size_t batch;                  /* calls that are timed together */
    double *times;                 /* of the batches, sorted in the end; the contest's */
    double median, average, least, most;
    bool wrong;               /* a result was not right */
    double error;             /* its ar_judge_distance from the reference, at the worst rank */
    double from_native;       /* the same from native's result */
    char ran[AR_CHOICE_TEXT]; /* what was executed when it was judged, in the grammar */
    const char *reason;       /* why; "" and NULL where it is not ours */
};

/* One round of a contest. */
struct ar_contest_round {
    size_t count; /* elements, 1..INT_MAX */
    enum ar_place place;
    int repetitions;     /* batches of each entrant, of which it has the times */
    double seconds;      /* about, in all; slow entrants run at least one call a batch */
    size_t rotate_bytes; /* calls walk through buffers of so many bytes at least; 0: the same
                            buffers all the time */
};

struct ar_buffers {
    size_t slots, slot_bytes, next;
    char *in, *out; /* slots of each */
    char *native;   /* its result, one slot */
};

struct ar_contest {
    int rank;
    int nranks;
    struct ar_reduction reduction;
    struct ar_judge *judge;
    MPI_Comm comm;               /* for what is not timed */
    struct ar_entrant *entrants; /* to begin with native and reduce + bcast */
    size_t nentrants;
    double *times;                  /* of all entrants in the round under way */
    MPI_Comm shared_comm;           /* of all picks, made at the first */
    struct ar_communicator *shared; /* its state; NULL: no picks yet */
    unsigned npicks;                /* so far */
    bool silent;                    /* no progress of single rounds is shown */
    struct ar_buffers buffers;      /* of the round under way */
};

/* A contest of op on type, which takes it.  An enum ar_exit, having said why; there is
 * something to fini in any case. */
int ar_contest_init(struct ar_contest *contest, struct ar_named *type, enum ar_op op);
void ar_contest_fini(struct ar_contest *contest);

/* Enters what text in the grammar of ALLREDUCE_ALGO says, under a label.  An enum ar_exit,
 * having said why. */
int ar_contest_add(struct ar_contest *contest, const char *label, const char *text);

/* Enters a choice, under its text.  All of these run on one communicator, and so share its memory
 * as calls of a program do.  An enum ar_exit, having said why. */
int ar_contest_add_choice(struct ar_contest *contest, const struct ar_choice *choice);

/* Entrant i leaves; those behind it move up. */
void ar_contest_drop(struct ar_contest *contest, size_t i);

/* Enters the exchange. */
int ar_contest_add_exchange(struct ar_contest *contest);

/* All but the first two leave. */
void ar_contest_clear(struct ar_contest *contest);

/* Times all entrants, batches in turn, and judges their results.  0, or 1 if a result was wrong. */
int ar_contest_run(struct ar_contest *contest, const struct ar_contest_round *round);

/* CPUs that this process may use. */
int ar_contest_cpus(void);

#endif
