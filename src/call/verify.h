/* ALLREDUCE_VERIFY: calls that run twice, by an algorithm and by the MPI library's own
 * allreduce, and are compared. */
#ifndef AR_VERIFY_H
#define AR_VERIFY_H

#include "call/allreduce.h"
#include "communicator/communicator.h"

/* What is kept of a call while the algorithm runs. */
struct ar_verification {
    const void *in; /* the operands: the caller's, or a copy of them if the call is in place */
    void *in_room;  /* NULL: no copy; owned */
    void *room;     /* for the native result; NULL without memory; owned */
};

/* Begins a call on c: sets c->records.verifies, alike on all ranks.  If the call is to be verified
 * it compares the ranks' arguments as ar_calls_compare does, and is collective; else they count as
 * alike.  MPI_SUCCESS, or an error of MPI's, which it has not raised. */
int ar_verify_call(struct ar_communicator *c, const struct ar_call *call, bool *are_alike);

/* Do the ranks of c, the call's communicator, pass the same number of elements, of the same size,
 * and the same op?  (Ops of the program's own cannot be told apart.)  If not, rank 0 says which
 * ranks have what, the first time in this process, and the job ends here if c's configuration says
 * so; else *are_alike is false, on all ranks.  Takes no memory; raises no error.  Collective over
 * c's ranks; MPI_SUCCESS or an error of MPI's. */
int ar_calls_compare(const struct ar_communicator *c, const struct ar_call *call, bool *are_alike);

/* Before the algorithm runs. */
void ar_verify_begin(struct ar_verification *v, const struct ar_reduction *r,
                     const struct ar_call *call);

/* After the algorithm, choice, ended with error.  If that is MPI_SUCCESS it runs the native
 * allreduce, compares the results, and does with a wrong one as the configuration says.  Returns
 * error, or an error of its own, which it has not raised.  Collective. */
int ar_verify_end(struct ar_verification *v, struct ar_communicator *c,
                  const struct ar_choice *choice, const struct ar_reduction *r,
                  const struct ar_call *call, int error);

#endif
