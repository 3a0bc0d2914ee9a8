/* What the program itself chooses for a communicator: by allreduce_choose, or the info
 * key allreduce_algo. */
#ifndef AR_PROGRAM_CLAUSES_H
#define AR_PROGRAM_CLAUSES_H

#include <mpi.h>

#include "config/config.h"

/* From now on these clauses, in the grammar of ALLREDUCE_ALGO, choose for comm where ALLREDUCE_ALGO
 * itself says nothing; "" takes them back.  Copies of comm by MPI_Comm_dup inherit them.
 * Collective over comm: where ranks differ, rank 0's count.  MPI_SUCCESS; MPI_ERR_ARG, on all
 * ranks, where the clauses cannot be understood, which rank 0 has told; MPI_ERR_COMM for an
 * intercommunicator; or another error of MPI's.  On errors all is as before.  A rank that runs out
 * of memory ends the job, since the others wait for it or have changed already. */
int ar_program_clauses_set(MPI_Comm comm, const char *clauses);

/* The clauses of comm, which a dup inherited; NULL: none.  Borrowed from comm. */
const char *ar_program_clauses_get(MPI_Comm comm);

#endif
