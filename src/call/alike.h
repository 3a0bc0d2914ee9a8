/* Do the ranks of a call call alike?  What MPI makes equal on all of them is what algorithms are
 * chosen and cut by: ranks that differ in it part, and wait for each other for ever. */
#ifndef AR_ALIKE_H
#define AR_ALIKE_H

#include <stdint.h>

#include "call/allreduce.h"
#include "communicator/communicator.h"

#define AR_NUMBERS_MOST 6

/* The lowest of the ranks' numbers, each of these n (at most AR_NUMBERS_MOST) for itself.
 * Collective over comm; MPI_SUCCESS or an error of MPI's. */
int ar_numbers_agree(MPI_Comm comm, int64_t *numbers, int n);

/* Have the ranks of c, that of the call, the same number of elements, of the same size, and the
 * same op?  Where not, rank 0 says who has what (of ops of the program's own nobody knows whether
 * they are the same), and the job ends here if c's configuration says so; else *are_alike
 * is false, on all ranks.  Takes no memory; raises no error.  Collective over c's ranks;
 * MPI_SUCCESS or an error of MPI's. */
int ar_calls_compare(const struct ar_communicator *c, const struct ar_call *call, bool *are_alike);

#endif
