/* Rows whose times may be compared, since their calls differ in nothing but what ran.  Pure. */
#ifndef AR_TIMED_H
#define AR_TIMED_H

#include "report/table.h"

/* A row of timed calls of MPI_Allreduce, all of one size, by an op and a type that the standard
 * names.  They are in the hosts' memory, on a communicator of several ranks whose nodes are
 * known. */
struct ar_timed {
    const struct ar_row *row;
    uint64_t bytes;  /* of each message */
    uint64_t own_ns; /* of a call: see ar_row_own_ns */
};

/* Are they such calls, whatever their sizes and nodes?  Others that have the same names may be
 * anything, and neither bench nor rules can tell them apart. */
bool ar_row_is_plain(const struct ar_row *row);

/* All samples of the table, *n, for the caller to free.  The same calls are beside each other, the
 * shortest time first, and behind them comes the next larger size.  NULL without memory. */
struct ar_timed *ar_timed_make(size_t *n, const struct ar_table *table);

/* Orders samples by type, op, place and nodes, and by nothing else. */
int ar_timed_compare_kinds(const struct ar_timed *a, const struct ar_timed *b);

/* The number of the first sample behind those that are the same calls as the one at first. */
size_t ar_timed_end(const struct ar_timed *samples, size_t n, size_t first);

#endif
