#include "record/clocks.h"

#include <stdlib.h>
#include <unistd.h>

#include "execute/group.h"
#include "execute/shared.h"
#include "report/clock.h"

#define PINGS 32

/* What tells the clock apart: which boot of which host, and the namespace, whose clocks may be set
 * apart.  0: not known, so the clock is taken for this rank's alone. */
static uint64_t
clock_name(void)
{
    char space[64];
    const uint64_t boot = ar_boot_hash();
    const ssize_t n = readlink("/proc/self/ns/time", space, sizeof space - 1);
    space[n > 0 ? n : 0] = '\0'; /* old kernels have no such namespaces */
    return boot ? boot ^ ar_hash(space) : 0;
}

/* Rank 0's part: the offset of the other rank, by the quickest of some exchanges. */
static int
ask(struct ar_clock_offset *offset, int rank, MPI_Comm comm)
{
    int error = MPI_SUCCESS;
    offset->error_ns = UINT64_MAX;
    for (int i = 0; i < PINGS && !error; i++) {
        uint64_t there = 0;
        const uint64_t sent = ar_clock_system_ns();
        error = PMPI_Send(NULL, 0, MPI_BYTE, rank, 0, comm);
        if (!error)
            error =
                PMPI_Recv(&there, (int)sizeof there, MPI_BYTE, rank, 0, comm, MPI_STATUS_IGNORE);
        const uint64_t way = ar_clock_system_ns() - sent, half = way / 2 + 1;
        if (half < offset->error_ns)
            *offset = (struct ar_clock_offset){(int64_t)(there - sent - way / 2), half, there};
    }
    return error;
}

static int
answer(MPI_Comm comm)
{
    int error = MPI_SUCCESS;
    for (int i = 0; i < PINGS && !error; i++) {
        error = PMPI_Recv(NULL, 0, MPI_BYTE, 0, 0, comm, MPI_STATUS_IGNORE);
        const uint64_t here = ar_clock_system_ns();
        if (!error)
            error = PMPI_Send(&here, (int)sizeof here, MPI_BYTE, 0, 0, comm);
    }
    return error;
}

/* The first rank that has the same clock; before: that of the rank before. */
static int
leader_of(const uint64_t *names, int rank, int before)
{
    int leader = 0;
    if (names[rank] == 0)
        return rank;
    if (names[rank] == names[before])
        return before;
    while (names[leader] != names[rank])
        leader++;
    return leader;
}

static int
compare(struct ar_clock_offset *offsets, const uint64_t *names, int rank, int nranks, MPI_Comm comm)
{
    int error = MPI_SUCCESS, leader = 0;
    for (int i = 0; i < nranks && !error; i++) {
        leader = leader_of(names, i, leader);
        if (rank == 0 && i == 0)
            offsets[0] = (struct ar_clock_offset){0, 0, ar_clock_system_ns()};
        else if (rank == 0 && leader < i)
            offsets[i] = offsets[leader];
        else if (rank == 0)
            error = ask(&offsets[i], i, comm);
        else if (rank == i && leader == i)
            error = answer(comm);
    }
    return error;
}

bool
ar_clocks_compare(struct ar_clock_offset *offsets, MPI_Comm comm)
{
    int rank, nranks;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &nranks);
    const uint64_t name = clock_name();
    uint64_t *const names = malloc((size_t)nranks * sizeof *names);
    bool is_done = ar_all(comm, names && (rank > 0 || offsets));
    if (is_done)
        is_done = PMPI_Allgather(&name, (int)sizeof name, MPI_BYTE, names, (int)sizeof name,
                                 MPI_BYTE, comm) == MPI_SUCCESS &&
                  compare(offsets, names, rank, nranks, comm) == MPI_SUCCESS;
    free(names);
    return is_done;
}

uint64_t
ar_clock_of_first(const struct ar_clock_offset *begin, const struct ar_clock_offset *end,
                  uint64_t ns)
{
    const double drift_ns = (double)(end->ahead_ns - begin->ahead_ns);
    const double elapsed_ns = (double)(int64_t)(end->at_ns - begin->at_ns);
    const double share = elapsed_ns > 0 ? (double)(int64_t)(ns - begin->at_ns) / elapsed_ns : 0;
    return ns - (uint64_t)(begin->ahead_ns + (int64_t)(share * drift_ns));
}
