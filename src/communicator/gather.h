/* The ranks' tables, brought together. */
#ifndef AR_GATHER_H
#define AR_GATHER_H

#include <mpi.h>

#include "report/table.h"

/* Merges the tables of all ranks into that of rank 0, along a tree.  Collective over
 * comm; on the other ranks the table is then that of a part of the ranks.
 * MPI_SUCCESS, or an error of MPI's. */
int ar_table_gather(struct ar_table *table, MPI_Comm comm);

#endif
