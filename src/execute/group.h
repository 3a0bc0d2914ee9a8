/* Groups of processes that are remembered beyond the communicator they came from. */
#ifndef AR_GROUP_H
#define AR_GROUP_H

#include <mpi.h>
#include <stdbool.h>

/* The group of comm's nranks ranks, for the caller to free.  MPI_GROUP_NULL where it could not
 * be kept: there is no MPI_COMM_WORLD, or comm reaches beyond it (MPI_Comm_spawn). */
MPI_Group ar_group_of(MPI_Comm comm, int nranks);

/* Are all of comm's nranks ranks in group?  False also where memory ran out. */
bool ar_group_covers(MPI_Group group, MPI_Comm comm, int nranks);

/* As PMPI_Allreduce in place, which in Open MPI is ours.  Collective over comm; MPI_SUCCESS or an
 * error of MPI's. */
int ar_reduce_all(void *numbers, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm);

/* Makes *own of the ranks of comm, in their order, for the caller to free: messages on comm itself
 * might meet the program's.  Collective over comm.  False, alike on all ranks, where MPI has none.
 */
bool ar_comm_own(MPI_Comm *own, MPI_Comm comm);

/* Does every rank of comm say yes?  No where MPI fails.  Collective over comm. */
bool ar_all(MPI_Comm comm, bool says_yes);

/* numbers gets the number in group of each of comm's nranks ranks.  False where one of them is not
 * in it, or memory ran out. */
bool ar_group_number(int *numbers, MPI_Group group, MPI_Comm comm, int nranks);

#endif
