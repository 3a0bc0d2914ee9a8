/* The MPI library's own allreduce, past ourselves. */
#ifndef AR_NATIVE_H
#define AR_NATIVE_H

#include <mpi.h>
#include <stdbool.h>

/* A call as it came in. */
struct ar_call {
    const void *in;
    void *out;
    MPI_Count count;
    MPI_Datatype type;
    MPI_Op op;
    MPI_Comm comm;
    bool large;    /* it came by MPI_Allreduce_c */
    bool profiled; /* it came by PMPI_Allreduce: past every tool */
};

/* Runs the call natively: by the next MPI_Allreduce behind us, which may be
 * another tool's, or, where the call came past all tools, by the library's
 * PMPI_Allreduce.  Returns what that returns. */
int ar_native_allreduce(const struct ar_call *call);

/* True inside ar_native_allreduce of this thread, or between ar_native_begin and
 * ar_native_end: a call that arrives at a PMPI_ symbol of ours now is that call on
 * its way to the library. */
bool ar_native_is_running(void);
void ar_native_begin(void);
void ar_native_end(void);

/* Sets *function, a pointer to a function, to the symbol behind us; leaves it as it
 * is where there is none. */
void ar_native_find(void *function, const char *name);

#endif
