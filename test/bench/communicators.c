/* What a communicator costs that lives for a few calls: MPI_Comm_split, so many allreduces of so
 * many bytes on it, MPI_Comm_free.  All ranks are on it, in reverse order, so that it is no copy of
 * the world; or every other one, while the others are on one of their own.
 *
 * Prints as CSV: all or half, bytes, calls, and the microseconds of a life, the median of rank 0.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "median.h"

enum { BATCHES = 7, WARMUPS = 2, LIVES = 200 };
#define WARMUP_S 0.05  /* what is measured first suffers from the start */
#define BATCH_US 2000. /* a batch of lives takes about so long, or one life */
#define LONGEST  ((size_t)64 << 10)

static float in[LONGEST / sizeof(float)], out[LONGEST / sizeof(float)];
static int rank;

/* The microseconds of a life on one of so many communicators of all ranks. */
static double
time_lives(int lives, int groups, size_t bytes, int calls)
{
    const double start = MPI_Wtime();
    for (int i = 0; i < lives; i++) {
        MPI_Comm comm;
        MPI_Comm_split(MPI_COMM_WORLD, rank % groups, -rank, &comm);
        for (int k = 0; k < calls; k++)
            MPI_Allreduce(in, out, (int)(bytes / sizeof *in), MPI_FLOAT, MPI_SUM, comm);
        MPI_Comm_free(&comm);
    }
    return (MPI_Wtime() - start) / lives * 1e6;
}

static void
warm_up(void)
{
    const double end = MPI_Wtime() + WARMUP_S;
    int goes_on = 1;
    while (goes_on) {
        time_lives(WARMUPS, 1, sizeof *in, 1);
        goes_on = MPI_Wtime() < end;
        MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
}

static void
measure(int groups, size_t bytes, int calls)
{
    double us[BATCHES];
    time_lives(WARMUPS, groups, bytes, calls);
    const double fit = BATCH_US / (time_lives(WARMUPS, groups, bytes, calls) + 1);
    int lives = fit < 1 ? 1 : fit > LIVES ? LIVES : (int)fit;
    MPI_Bcast(&lives, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < BATCHES; i++)
        us[i] = time_lives(lives, groups, bytes, calls);
    if (rank == 0)
        printf("%s,%zu,%d,%.2f\n", groups == 1 ? "all" : "half", bytes, calls, median(us, BATCHES));
}

int
main(int argc, char **argv)
{
    int nranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    MPI_Allreduce(in, out, 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD); /* as programs do */
    warm_up();
    for (int groups = 1; groups <= 2 && nranks >= 2 * groups; groups++)
        for (size_t bytes = 8; bytes <= LONGEST; bytes = bytes == 8 ? 1024 : 64 * bytes)
            for (int calls = 1; calls <= 10; calls += 9)
                measure(groups, bytes, calls);
    MPI_Finalize();
    return 0;
}
