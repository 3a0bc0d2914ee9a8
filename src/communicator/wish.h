/* What the program itself wishes for a communicator: allreduce_choose, or the info
 * key allreduce_algo. */
#ifndef AR_WISH_H
#define AR_WISH_H

#include <mpi.h>

#include "config/config.h"

/* From now on these clauses, in the grammar of ALLREDUCE_ALGO, choose for comm where
 * ALLREDUCE_ALGO itself says nothing; "" takes them back.  Copies of comm by
 * MPI_Comm_dup inherit them.  Collective over comm: where ranks differ, rank 0's
 * count.  MPI_SUCCESS; MPI_ERR_ARG, on all ranks, where the clauses cannot be
 * understood, which rank 0 has told; MPI_ERR_COMM for an intercommunicator;
 * MPI_ERR_NO_MEM, or another error of MPI's.  On errors all is as before. */
int ar_wish_set(MPI_Comm comm, const char *clauses);

/* The same by an info object, in a call that is collective over comm: nothing
 * happens where no rank's info (which may be MPI_INFO_NULL) has the key, and clauses
 * that cannot be understood are ignored, as hints are. */
void ar_wish_from_info(MPI_Comm comm, MPI_Info info);

/* The clauses of comm, which a dup inherited; NULL: none.  Borrowed from comm. */
const char *ar_wish_get(MPI_Comm comm);

#endif
