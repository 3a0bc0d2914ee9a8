/* The names of communicators, of which statistics tell a bounded number apart.
 *
 * A program may name thousands of communicators, each in its own way: so many names are told apart
 * in this process, and all further ones are one.  Ranks may see them in different orders, so where
 * tables are put together a name is told apart by all ranks, or by none: a rank tells by a bit for
 * the hash of each name which ones it has not kept.  By chance others have the same bit: where 1000
 * names are not kept, one in 65.  Thread-safe. */
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

/* Puts the rows of names that any rank of comm has not kept among the others'; there is such a
 * rank. The table is that of this rank, number rank of the job.  Collective over comm; without
 * memory calls count as lost. */
int ar_comm_names_agree(struct ar_table *table, int rank, MPI_Comm comm);

#endif
