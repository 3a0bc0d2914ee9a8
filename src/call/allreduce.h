/* One call of allreduce, from the look-up of its communicator to its record in the statistics. */
#ifndef AR_ALLREDUCE_H
#define AR_ALLREDUCE_H

#include <mpi.h>

#include "record/caller.h"

/* A call as it came in. */
struct ar_call {
    const void *in;
    void *out;
    MPI_Count count;
    MPI_Datatype type;
    MPI_Op op;
    MPI_Comm comm;
    int (*native)(const struct ar_call *call); /* the MPI library's own allreduce */
    struct ar_caller caller;                   /* all zero where it is not to be told */
    const char *told; /* why it runs as it does, if that is not its decision's reason; else NULL */
};

/* Runs the call: by what was decided for its communicator, or natively.  Collective over the
 * call's communicator.  MPI_SUCCESS, or an error for which the communicator's error handler has
 * been called. */
int ar_allreduce(const struct ar_call *call);

#endif
