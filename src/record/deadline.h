/* ALLREDUCE_TIMEOUT: a thread of ours watches the calls under way.  If one takes too long, it tells
 * on stderr which call it is, what runs and, as far as this rank can know, which ranks are awaited.
 * With abort it then ends this process, and so the job, even if the rank hangs inside the MPI
 * library.
 *
 * A call takes part from its begin to its end, both on the thread that makes it.  Without the
 * setting no call takes part, at the cost of a branch. */
#ifndef AR_DEADLINE_H
#define AR_DEADLINE_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "execute/node.h"
#include "execute/p2p.h"
#include "select/select.h"
#include "select/settings.h"

struct ar_deadline_call;

extern atomic_bool ar_deadline_may_watch; /* false once it is known that nobody asked */
extern __thread struct ar_deadline_call *ar_deadline_own /* this thread's call, or NULL */
    __attribute__((tls_model("initial-exec")));

/* Must a call that comes now begin with ar_deadline_begin? */
static inline bool
ar_deadline_watches(void)
{
    return atomic_load_explicit(&ar_deadline_may_watch, memory_order_relaxed);
}

/* What a call is at. */
enum ar_deadline_stage {
    AR_DEADLINE_CHOOSES, /* what to run, and the set-up of that */
    AR_DEADLINE_JOINS,   /* the set-up of its communicator */
    AR_DEADLINE_NATIVE,  /* the MPI library's allreduce */
    AR_DEADLINE_RUNS,    /* an algorithm */
    AR_DEADLINE_CHECKS   /* what comes after these: to verify, to tune, another part */
};

/* At the process's first allreduce: starts the thread where it is asked for one.  asked is its
 * setting, or NULL where it has none; rank is its number in the job. */
void ar_deadline_start(const struct ar_timeout_setting *asked, int rank);

/* A call begins; type may be any handle. */
void ar_deadline_begin(MPI_Count count, MPI_Datatype type);

/* This thread's call is one on comm, as MPI has found; CHOOSES or JOINS. */
void ar_deadline_meet(MPI_Comm comm, enum ar_deadline_stage stage);

/* What runs. */
struct ar_deadline_run {
    const struct ar_choice *choice;
    const struct ar_reduction *reduction;
    const struct ar_p2p *p2p; /* one of these; NULL: the other one */
    const struct ar_node_run *node;
};

void ar_deadline_note(enum ar_deadline_stage stage, const struct ar_deadline_run *run);

/* This thread's call, if it began one, is at this stage from now on.  run: at RUNS what runs, which
 * lives until the next ar_deadline_enter; else NULL. */
static inline void
ar_deadline_enter(enum ar_deadline_stage stage, const struct ar_deadline_run *run)
{
    if (ar_deadline_own)
        ar_deadline_note(stage, run);
}

/* This thread's call, if it began one, returns error.  comm: its communicator; MPI_COMM_NULL where
 * MPI cannot be asked. */
void ar_deadline_end(MPI_Comm comm, int error);

/* The program leaves this thread's call, if it has not ended, by a jump. */
void ar_deadline_leave(void);

#endif
