/* ALLREDUCE_VERIFY: calls that run twice, by an algorithm and by the MPI library's own
 * allreduce, and are compared. */
#ifndef AR_VERIFY_H
#define AR_VERIFY_H

#include "communicator/communicator.h"
#include "shim/native.h"

/* What is kept of a call while the algorithm runs. */
struct ar_verification {
    const void *in; /* the operands: the caller's, or a copy where he reduces in place */
    void *in_room;  /* NULL: no copy; owned */
    void *room;     /* for the native result; NULL without memory; owned */
};

/* Is c's next call, which an algorithm runs, to be verified?  Counts; alike on all ranks. */
bool ar_verify_is_due(struct ar_communicator *c);

/* Before the algorithm runs. */
void ar_verify_begin(struct ar_verification *v, const struct ar_reduction *r,
                     const struct ar_call *call);

/* After it, choice, ended with error: runs the native allreduce if that is MPI_SUCCESS, compares,
 * and does with a wrong result as asked for.  Returns error, or one of its own, which it has not
 * raised.  Collective. */
int ar_verify_end(struct ar_verification *v, struct ar_communicator *c,
                  const struct ar_choice *choice, const struct ar_reduction *r,
                  const struct ar_call *call, int error);

#endif
