/* What the ranks of a group read of memory when all of them read at once. */
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "execute/group.h"
#include "helper/measure_levels.h"
#include "report/clock.h"

#define PASSES 5                 /* of which the fastest counts */
#define CACHES 4                 /* times as much as a rank's share of its cache */
#define LEAST  ((size_t)4 << 20) /* bytes of a rank: more than a cache of its own has */
#define WORD   sizeof(uint64_t)

static double
read_all(const uint64_t *room, size_t bytes)
{
    static _Atomic uint64_t kept; /* so that it is read */
    const uint64_t start = ar_clock_system_ns();
    uint64_t sum = 0;
    for (size_t i = 0; i < bytes / WORD; i++)
        sum += room[i];
    atomic_store_explicit(&kept, sum, memory_order_relaxed);
    return (double)(ar_clock_system_ns() - start);
}

/* Each pass takes as long as its slowest reader. */
static int
time_passes(double *least, const uint64_t *room, size_t bytes, MPI_Comm comm)
{
    int error = MPI_SUCCESS;
    for (int pass = 0; pass < PASSES && !error; pass++) {
        double time = 0;
        error = PMPI_Barrier(comm);
        if (!error && room)
            time = read_all(room, bytes);
        if (!error)
            error = ar_reduce_all(&time, 1, MPI_DOUBLE, MPI_MAX, comm);
        *least = pass == 0 || time < *least ? time : *least;
    }
    return error;
}

int
ar_measure_memory(double *per_byte, int readers, bool reads, size_t share, MPI_Comm comm)
{
    const size_t bytes = CACHES * share > LEAST ? CACHES * share : LEAST;
    uint64_t *const room = reads ? malloc(bytes) : NULL;
    int can = !reads || room;
    double least = 0;
    if (room)
        memset(room, 1, bytes);
    int error = ar_reduce_all(&can, 1, MPI_INT, MPI_LAND, comm);
    if (!error && can)
        error = time_passes(&least, room, bytes, comm);
    free(room);
    *per_byte = least / ((double)readers * (double)bytes);
    return error;
}
