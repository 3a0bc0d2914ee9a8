/* The ranks' tables, brought together. */
#ifndef AR_GATHER_H
#define AR_GATHER_H

#include <mpi.h>
#include <stdbool.h>

#include "report/table.h"

/* Merges the tables of all ranks into that of rank 0, along a tree.  Collective over
 * comm; on the other ranks the table is then that of a part of the ranks.  False, alike on all
 * ranks and with the tables as they were, where MPI has no communicator for it; an error on the way
 * ends in false on the ranks that see it. */
bool ar_table_gather(struct ar_table *table, MPI_Comm comm);

#endif
