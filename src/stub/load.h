/* The engine for the MPI library of this process. */
#ifndef AR_LOAD_H
#define AR_LOAD_H

#include <stdbool.h>

#include "stub/handles.h"

/* Finds the process's MPI library, what its symbols are behind ours, and the engine for it; next
 * must stay.  False: the process has no MPI library (yet).  *engine is NULL where there is none for
 * this library or it cannot be loaded, which one rank of each node says. */
bool ar_engine_load(const struct ar_mpi_engine **engine, struct ar_entries *next);

#endif
