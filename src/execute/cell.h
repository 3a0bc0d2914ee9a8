/* Elements in memory that ranks share.
 *
 * Elements of a predefined type are stored in a cell as in a user's buffer, and are combined
 * there.  Each rank may have another layout of a derived type, so its elements are packed in
 * a cell. */
#ifndef AR_CELL_H
#define AR_CELL_H

#include <stdbool.h>
#include <stddef.h>

#include "reduce/reduce.h"

/* Number of elements that fit into a cell of this size; at least one if ar_cell_takes them. */
size_t ar_cell_length(const struct ar_reduction *r, size_t bytes);

/* Whether an element fits.  Alike on all ranks. */
bool ar_cell_takes(const struct ar_reduction *r, size_t bytes);

/* Distance from a cell's first byte to element i, in bytes. */
ptrdiff_t ar_cell_offset(const struct ar_reduction *r, size_t i);

/* Copies elements into a cell, and out of one.  MPI_SUCCESS or an error class of PMPI. */
int ar_cell_store(const struct ar_reduction *r, char *to, const char *from, size_t length);
int ar_cell_fetch(const struct ar_reduction *r, char *to, const char *from, size_t length);

/* Does a cell of so many elements go past the caches, if that is wanted?  Only many bytes without
 * gaps do. */
bool ar_cell_streams(const struct ar_reduction *r, size_t length);

/* As ar_cell_store, and past the caches (ar_copy_streaming) where ar_cell_streams. */
int ar_cell_stream(const struct ar_reduction *r, char *to, const char *from, size_t length);

#endif
