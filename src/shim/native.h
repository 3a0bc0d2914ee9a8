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

/* Marks a native call of this thread; it lives in the frame of whoever makes that call. */
struct ar_native_mark {
    const struct ar_native_mark *outer;
};

/* Around a native call, which may never come back: error handlers of the program's may jump out
 * of it. */
void ar_native_begin(struct ar_native_mark *mark);
void ar_native_end(const struct ar_native_mark *mark);

/* True between begin and end: a call that arrives at a PMPI_ symbol of ours now is that call on
 * its way to the library. */
bool ar_native_is_running(void);

/* The program itself calls: whatever was marked is over. */
void ar_native_forget(void);

/* Sets *function, a pointer to a function, to the symbol behind us; leaves it as it
 * is where there is none. */
void ar_native_find(void *function, const char *name);

#endif
