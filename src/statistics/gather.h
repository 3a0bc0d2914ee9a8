/* Brings the tables of all ranks together. */
#ifndef AR_GATHER_H
#define AR_GATHER_H

#include <mpi.h>
#include <stdbool.h>

#include "report/table.h"

/* What tells a communicator apart from all others, on all of its ranks alike: they are the same
 * processes, and set up their communicators of the same ranks in the same order.  0: it is
 * not told apart: of one rank, without a world or memory, or behind those whose calls are
 * compared. */
uint64_t ar_gather_id(MPI_Comm comm);

/* Merges the tables of all ranks into that of rank 0, along a tree; ranks are counted that came
 * first, last and late.  table: rank's own, of comm's ranks, with a row for it.  Collective over
 * comm; on the other ranks the table is then that of a part of the ranks.  False, alike on all
 * ranks and with the tables as they were, where MPI has no communicator for it; an error on the way
 * ends in false on the ranks that see it. */
bool ar_gather(struct ar_table *table, int rank, MPI_Comm comm);

#endif
