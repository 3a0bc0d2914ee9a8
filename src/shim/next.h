/* The functions behind our symbols, which belong to another tool or to the MPI library itself, and
 * calls that are on their way there. */
#ifndef AR_NEXT_H
#define AR_NEXT_H

#include <config.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "shim/entries.h"

/* The functions that the stub has found behind us. */
extern const struct ar_entries *ar_next;

/* Marks a native call of this thread; a local variable of the function that makes the call. */
struct ar_native_mark {
    uintptr_t outer;
};

/* Called around a native call.  end may be missing, because the program's error handlers may jump
 * out of the call. */
void ar_native_begin(struct ar_native_mark *mark);
void ar_native_end(const struct ar_native_mark *mark);

/* True between begin and end: a call that now arrives at one of our PMPI_ symbols is that native
 * call, on its way to the library. */
bool ar_native_is_running(void);

/* The program itself makes a call: all marks are over. */
void ar_native_forget(void);

/* Finds where the MPI library's code is.  Called once, when ar_next is known. */
void ar_next_find_library(void);

/* Whether the call that returns to this address was made by the MPI library itself.  MPICH calls
 * its PMPI_ symbols in MPI-IO, while it holds the lock that a waiting rank's other threads need. */
bool ar_next_is_caller(const void *address);

/* What the engine does for each symbol of AR_ENTRIES. */
#define AR_SHIM_FUNCTION(result, symbol, field, parameters, arguments)                             \
    result ar_shim_##field parameters;
AR_ENTRIES(AR_SHIM_FUNCTION)

/* As in allreduce.h. */
const char *ar_shim_algorithm_name(unsigned i);
int ar_shim_choose(MPI_Comm comm, const char *clauses);
const char *ar_shim_last(MPI_Comm comm, const char **reason);

#endif
