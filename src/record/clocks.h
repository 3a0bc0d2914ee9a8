/* How far the ranks' clocks differ: on one host not at all, and between hosts as far as messages
 * there and back tell. */
#ifndef AR_CLOCKS_H
#define AR_CLOCKS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* At one moment: a rank's monotonic clock is this much ahead of rank 0's. */
struct ar_clock_offset {
    int64_t ahead_ns;
    uint64_t error_ns; /* of it: half of the shortest way there and back; 0: it is the same clock */
    uint64_t at_ns;    /* by the rank's clock */
};

/* Gives rank 0 the offsets of all ranks of comm, a communicator of ours; the others' are not
 * touched and may be NULL.  One rank of each host exchanges messages with rank 0.  Collective over
 * comm.  False where memory ran out, on all ranks alike, or MPI failed. */
bool ar_clocks_compare(struct ar_clock_offset *offsets, MPI_Comm comm);

/* What rank 0's clock showed when the rank's showed ns.  Clocks are taken to drift apart evenly
 * between two comparisons, and at the same pace before and after them. */
uint64_t ar_clock_of_first(const struct ar_clock_offset *begin, const struct ar_clock_offset *end,
                           uint64_t ns);

#endif
