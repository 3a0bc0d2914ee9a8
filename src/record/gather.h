/* Brings the tables of all ranks together. */
#ifndef AR_GATHER_H
#define AR_GATHER_H

#include <mpi.h>
#include <stdbool.h>

#include "report/table.h"

/* An id that is the same on all ranks of a communicator, and that no other communicator has.  It is
 * made of the ranks, and of how many communicators of these ranks came before: all ranks set them
 * up in the same order.  0: it has none, being of one rank, without a world or memory, or beyond
 * the communicators whose calls are compared. */
uint64_t ar_gather_id(MPI_Comm comm);

/* Merges the tables of all ranks into that of rank 0, along a tree, and counts which ranks came
 * first, last and late.  table: of this rank, number rank of the job, with a row for it.
 * Collective over comm; on the other ranks the table then covers a part of the ranks.  If MPI has
 * no communicator for this, false, alike on all ranks and with the tables as they were.  An
 * error on the way ends in false on the ranks that see it. */
bool ar_gather(struct ar_table *table, int rank, MPI_Comm comm);

#endif
