/* The names of communicators, of which statistics tell a bounded number apart.
 *
 * A program may give thousands of communicators names of their own.  This process tells some of
 * them apart, and takes all further ones for one.  Ranks may see names in different orders, so
 * where tables are put together a name is told apart by all ranks or by none.  For each name that
 * it has not kept, a rank sets the bit of the name's hash.  Another name has such a bit by chance:
 * one in 65 where 1000 names are not kept.  Thread-safe. */
#ifndef AR_STATISTICS_NAMES_H
#define AR_STATISTICS_NAMES_H

#include <mpi.h>
#include <stdbool.h>

#include "report/table.h"

/* Cut to room, between characters; "" where the program has given none. */
void ar_comm_name_get(char name[AR_COMM_TEXT], MPI_Comm comm);

/* The text that stands for the name from now on. */
const char *ar_comm_name_keep(const char *name);

/* Are all names told apart that this process was to keep? */
bool ar_comm_names_are_kept(void);

/* Moves the rows of all names that some rank of comm has not kept into those of the other names;
 * there must be such a rank.  The table is that of this rank, number rank of the job.  Collective
 * over comm; without memory calls count as lost. */
int ar_comm_names_agree(struct ar_table *table, int rank, MPI_Comm comm);

#endif
