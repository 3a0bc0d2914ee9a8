/* What carries MPI messages between the ranks of a communicator of the program. */
#ifndef AR_WIRE_H
#define AR_WIRE_H

#include <mpi.h>
#include <stddef.h>

struct ar_wire {
    MPI_Comm comm;      /* ours, with MPI_ERRORS_RETURN; it may have further ranks and users */
    const int *rank_of; /* each rank's number in comm; NULL: the same.  Borrowed */
    int tag;            /* AR_WINDOW_MAX tags from this on are reserved for this communicator */
};

static inline int
ar_wire_rank(const struct ar_wire *wire, int rank)
{
    return wire->rank_of ? wire->rank_of[rank] : rank;
}

#endif
