/* Measurements: several ways to do an allreduce, timed in turn in one run.  Every function is
 * collective over the measurement's ranks. */
#ifndef AR_MEASUREMENT_H
#define AR_MEASUREMENT_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "communicator/communicator.h"
#include "helper/job.h"
#include "helper/operand.h"
#include "model/placement.h"
#include "reduce/named.h"
#include "report/table.h"
#include "tuning/estimate.h"

/* Where the ranks of a measurement are, by --nodes of bench. */
struct ar_node_places {
    const char *text;              /* as it was given; NULL: the ranks are where they are */
    struct ar_placement placement; /* of no node_of where text is NULL; owned */
    bool is_assumed; /* the ranks share one node, and are taken for ranks of several */
};

enum ar_measured_kind {
    AR_MEASURED_NATIVE,
    AR_MEASURED_REDUCE_BCAST,
    AR_MEASURED_OURS,
    /* No allreduce: every rank sends 2n(p-1)/p to its neighbour and receives as much from the
     * other, which is the least that an allreduce of n by messages can do. */
    AR_MEASURED_EXCHANGE
};

/* What a run found of one of them.  Times are per call, of the slowest rank. */
struct ar_outcome {
    struct ar_estimate us; /* the median, its interval, and the spread of the batches */
    double average_us, least_us, most_us;
    double turn_us;           /* median, of a call with the writing and reading around it; NAN where
                                 the data is not fresh */
    bool wrong;               /* a result was not right */
    double error;             /* its ar_judge_distance from the reference, at the worst rank */
    double from_native;       /* the same from native's result */
    char ran[AR_CHOICE_TEXT]; /* what was executed when it was judged, in the grammar */
    char reason[AR_REASON_TEXT]; /* why; "" and "" where it is not ours */
    double extra_bytes; /* scratch that the call takes beside its buffers, by its plan, at the rank
                           that takes most; NAN where it is not ours */
};

struct ar_measured {
    enum ar_measured_kind kind;
    char *label;
    MPI_Comm comm;                 /* of its own, or shared by those with a pick */
    struct ar_communicator *state; /* ours only */
    struct ar_pick *pick;          /* of those that share a communicator, else NULL.  Owned */
    bool is_judged; /* its results are known to be right: they are not judged again */
    size_t batch;   /* calls that are timed together */
    size_t slice;   /* of these, how many the next ones are between two looks at time and signals */
    double *times;  /* seconds per call of the batches, in the end in us; the measurement's */
    double *turns;  /* the same of a call with the writing and reading around it */
    struct ar_outcome outcome;
};

/* What is done by each of them. */
struct ar_workload {
    size_t count; /* elements, 1..INT_MAX */
    enum ar_place place;
    int repetitions;      /* batches of each, whose times it keeps */
    double seconds;       /* about, of all batches; a batch is one call at least.  Warming up takes
                             as long as a batch of each, at most, or one call or two, or, without
                             a limit, 30 calls of ours that were not judged before */
    double limit;         /* seconds after which there are no further batches, though each has one
                             in any case; 0: none */
    uint64_t deadline_ns; /* behind which no slice of a batch begins, by ar_clock_system_ns on
                             rank 0 of MPI_COMM_WORLD, not even the first; 0: none */
    size_t rotate_bytes;  /* calls walk through buffers of so many bytes at least; 0: the same
                             buffers all the time */
    bool settles;         /* each slice of a batch begins with a call that is not timed: the first
                             one behind another entrant's takes up to five times as long */
    bool fresh;           /* each rank writes its input before each call and reads its result after
                             it, as programs do; what it takes counts as the turn's time alone */
};

/* Where a run is in what it is a part of. */
struct ar_bench_part {
    struct ar_progress *progress; /* NULL: nothing is told */
    double done, part;            /* of the whole: before the run, and the run itself */
    char what[64];                /* "table 2 of 6: 4M in place" */
};

struct ar_measurement {
    int rank; /* of comm */
    int nranks;
    bool speaks;                         /* is this rank 0 of MPI_COMM_WORLD? */
    const struct ar_node_places *places; /* borrowed */
    struct ar_reduction reduction;
    struct ar_judge *judge;
    MPI_Comm comm;                /* for what is not timed; all others are copies of it */
    struct ar_measured *measured; /* at first native and reduce + bcast */
    size_t nmeasured;
    double *times;                  /* of all, calls before turns, in the run under way */
    MPI_Comm shared_comm;           /* of all picks, made at the first */
    struct ar_communicator *shared; /* its state; NULL: no picks yet */
    unsigned npicks;                /* so far */
    struct ar_buffers buffers;      /* of the run under way */
    struct ar_bench_part stage;
    uint64_t deadline_ns; /* of that run */
    int batches;      /* of each, in the last run: fewer than asked for where it was cut short */
    bool is_slow;     /* a rank's last slice was, on all ranks alike behind a meeting */
    bool late;        /* the last run was cut short at its deadline, on all ranks alike */
    bool interrupted; /* a rank got a signal: the run is cut short, on all ranks alike.  It stays */
};

/* A measurement of op on type, which must take it, on the ranks of comm, which are at these places
 * and of which rank 0 is that of MPI_COMM_WORLD.  An enum ar_exit, having said why; fini is due in
 * any case.
 */
int ar_measurement_init(struct ar_measurement *m, MPI_Comm comm,
                        const struct ar_node_places *places, struct ar_named *type, enum ar_op op);
void ar_measurement_fini(struct ar_measurement *m);

/* Adds what text in the grammar of ALLREDUCE_ALGO says, under a label.  An enum ar_exit,
 * having said why.  One algorithm for all messages runs where choices do. */
int ar_measurement_add(struct ar_measurement *m, const char *label, const char *text);

/* Adds a choice, under its text.  All of these run on one communicator, and so share its memory
 * as calls of a program do.  An enum ar_exit, having said why. */
int ar_measurement_add_choice(struct ar_measurement *m, const struct ar_choice *choice);

/* Adds the exchange. */
int ar_measurement_add_exchange(struct ar_measurement *m);

/* Removes all of them. */
void ar_measurement_clear(struct ar_measurement *m);

/* Times all of them, batches in turn, and judges their results; m->batches tells how many there
 * were.  Where that is 0, for the run was interrupted or late before, there are no outcomes.  0, or
 * 1 if a result was wrong. */
int ar_measurement_run(struct ar_measurement *m, const struct ar_workload *work);

#endif
