/* What carries MPI's messages between the ranks of a communicator of the program's. */
#ifndef AR_WIRE_H
#define AR_WIRE_H

#include <mpi.h>
#include <stddef.h>

struct ar_wire {
    MPI_Comm comm;      /* of ours, with MPI_ERRORS_RETURN; it may have further ranks, and users */
    const int *rank_of; /* the rank there of each of these ranks; NULL: the same.  Borrowed */
    int tag; /* tags from this on, AR_WINDOW_MAX of them, are this communicator's alone */
};

static inline int
ar_wire_rank(const struct ar_wire *wire, int rank)
{
    return wire->rank_of ? wire->rank_of[rank] : rank;
}

#endif
