/* The engine for the MPI library of this process. */
#ifndef AR_LOAD_H
#define AR_LOAD_H

#include <stdbool.h>

#include "stub/handles.h"

/* Finds the process's MPI library, the functions behind our symbols, and the engine for this
 * library; next must stay.  False: the process has no MPI library (yet).  *engine is NULL if there
 * is none for this library or if it cannot be loaded; one rank of each node then says so. */
bool ar_engine_load(const struct ar_mpi_engine **engine, struct ar_entries *next);

#endif
