/* A contest: allreduce algorithms timed against each other in one run. */
#ifndef AR_CONTEST_H
#define AR_CONTEST_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "communicator/communicator.h"

enum ar_entrant_kind { AR_ENTRANT_NATIVE, AR_ENTRANT_REDUCE_BCAST, AR_ENTRANT_OURS };

struct ar_entrant {
    enum ar_entrant_kind kind;
    char *label;
    MPI_Comm comm;                 /* of its own */
    struct ar_communicator *state; /* ours only */
    size_t batch;                  /* calls that are timed together */
    double *times;                 /* of the batches: seconds a call, slowest rank */
    double median, least, most;    /* of times */
    bool wrong;                    /* a result was not the exact sum */
};

struct ar_contest {
    int rank;
    int nranks;
    struct ar_entrant *entrants; /* the first is native, the second reduce + bcast */
    size_t nentrants;
};

/* Collective over MPI_COMM_WORLD, like all here.  0, or an exit status after
 * saying why. */
int ar_contest_init(struct ar_contest *contest);
void ar_contest_fini(struct ar_contest *contest);

/* Enters what text in the grammar of ALLREDUCE_ALGO says. */
int ar_contest_add(struct ar_contest *contest, const char *text);

/* Times all entrants on count floats: batches in turn, repetitions of each, about
 * seconds in all (slow entrants run at least one call a batch).  Fills medians.
 * 0, or 1 if a result was wrong. */
int ar_contest_run(struct ar_contest *contest, size_t count, int repetitions, double seconds);

/* CPUs that this process may use. */
int ar_contest_cpus(void);

#endif
