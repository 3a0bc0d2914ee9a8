/* Elements in memory that ranks share.
 *
 * Those of a predefined type stand in a cell as in a user's buffer, and are combined
 * where they stand.  A derived type's may be laid out differently by each rank: they stand in
 * a cell packed. */
#ifndef AR_CELL_H
#define AR_CELL_H

#include <stdbool.h>
#include <stddef.h>

#include "reduce/reduce.h"

/* Elements that fit into a cell of so many bytes; at least one where ar_cell_takes them. */
size_t ar_cell_length(const struct ar_reduction *r, size_t bytes);

/* Does an element fit?  Alike on all ranks. */
bool ar_cell_takes(const struct ar_reduction *r, size_t bytes);

/* From a cell's first byte to element i, in bytes. */
ptrdiff_t ar_cell_offset(const struct ar_reduction *r, size_t i);

/* Element i of those in the cell. */
char *ar_cell_at(const struct ar_reduction *r, char *cell, size_t i);

/* Elements into a cell, and out of one.  MPI_SUCCESS or an error class of PMPI's. */
int ar_cell_store(const struct ar_reduction *r, char *to, const char *from, size_t length);
int ar_cell_fetch(const struct ar_reduction *r, char *to, const char *from, size_t length);

#endif
