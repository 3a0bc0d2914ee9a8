/* A rank that is late, to be preloaded into allreduce bench or tune: on rank 1 each MPI_Wtime takes
 * LATE_US microseconds.  Each rank writes a line to the file LATE_LOG when it has left an MPI_Wtime
 * ("time RANK N") and when it begins a PMPI_Allreduce ("native RANK N"); N is how many lines the
 * rank has written.  Lines are in the order of these events.  The first LATE_CALLS calls of
 * PMPI_Allreduce take 2 ms more, and those behind the first LATE_FROM take 5 ms more. */
#include <config.h> /* _GNU_SOURCE */
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static int
rank_of_world(void)
{
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

static void
note(const char *what)
{
    static int file = -1;
    static int lines;
    char line[48];
    const int length = snprintf(line, sizeof line, "%s %d %d\n", what, rank_of_world(), ++lines);
    if (file < 0)
        file = open(getenv("LATE_LOG"), O_WRONLY | O_APPEND | O_CREAT, 0600);
    if (write(file, line, (size_t)length) != length)
        abort();
}

EXPORT double
MPI_Wtime(void)
{
    if (rank_of_world() == 1)
        nanosleep(&(struct timespec){.tv_nsec = 1000 * atol(getenv("LATE_US"))}, NULL);
    note("time");
    return PMPI_Wtime();
}

EXPORT int
PMPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
               MPI_Comm comm)
{
    typedef int allreduce_fn(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
    allreduce_fn *next;
    static int calls;
    const char *const until = getenv("LATE_CALLS"), *const from = getenv("LATE_FROM");
    void *symbol = dlsym(RTLD_NEXT, "PMPI_Allreduce");
    calls++;
    if (until && calls <= atoi(until))
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    if (from && calls > atoi(from))
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    memcpy(&next, &symbol, sizeof next);
    note("native");
    return next(sendbuf, recvbuf, count, datatype, op, comm);
}
