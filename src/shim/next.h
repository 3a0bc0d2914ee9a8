/* The functions behind our symbols, which belong to another tool or to the MPI library itself, and
 * calls that come from there. */
#ifndef AR_NEXT_H
#define AR_NEXT_H

#include <config.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "shim/entries.h"

/* The functions that the stub has found behind us. */
extern const struct ar_entries *ar_next;

/* Finds the objects behind us: the MPI library, and tools, which have an MPI_Allreduce of their
 * own. Called once, when ar_next is known. */
void ar_next_find_objects(void);

/* Was the call that returns to this address made by one of those?  A tool passes a native call on
 * so, or makes one of its own.  Where its last act is to pass the call on, that returns to us.
 * MPICH calls its PMPI_ symbols in MPI-IO, while it holds the lock that a waiting rank's other
 * threads need. */
bool ar_next_is_caller(const void *address);

/* What the engine does for each symbol of AR_ENTRIES. */
#define AR_SHIM_FUNCTION(result, symbol, field, parameters, arguments)                             \
    result ar_shim_##field parameters;
AR_ENTRIES(AR_SHIM_FUNCTION)

#endif
