/* Do all ranks of a call pass what MPI wants equal?  It decides which algorithm runs and how it
 * cuts the vector: ranks that differ would run different schedules, and wait for each other for
 * ever. */
#ifndef AR_ALIKE_H
#define AR_ALIKE_H

#include "call/allreduce.h"
#include "communicator/communicator.h"

/* Do the ranks of c, the call's communicator, have the same number of elements, of the same size,
 * and the same op?  (Ops of the program's own cannot be told apart.)  Where they differ rank 0 says
 * which ranks have what, and the job ends here if c's configuration says so; else *are_alike is
 * false, on all ranks.  Takes no memory; raises no error.  Collective over c's ranks; MPI_SUCCESS
 * or an error of MPI's. */
int ar_calls_compare(const struct ar_communicator *c, const struct ar_call *call, bool *are_alike);

#endif
