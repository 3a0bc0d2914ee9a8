/* ALLREDUCE_DETERMINISM=order: sums of floating-point numbers as sums of integers. */
#ifndef AR_EXACT_SUM_H
#define AR_EXACT_SUM_H

#include "communicator/communicator.h"

/* Sums count numbers of r, of AR_ROUNDS_SUM, exactly: as integers, in allreduces with decisions of
 * their own.  in may be out.  Collective over comm.  MPI_SUCCESS or an error of MPI's. */
int ar_exact_sum_run(struct ar_communicator *c, MPI_Comm comm, const struct ar_reduction *r,
                     const void *in, void *out, size_t count);
void ar_exact_sum_destroy(struct ar_communicator *c);

#endif
