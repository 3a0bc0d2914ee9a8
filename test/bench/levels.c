/* Prints, for each number of bytes named, the microseconds of an MPI_Allreduce that sums
 * so many bytes of doubles: medians of batches, of the slowest rank. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "median.h"

enum { BATCHES = 11, CALLS_MAX = 2000 };

static double
time_batch(const double *in, double *out, int count, int calls)
{
    double mine, slowest = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int i = 0; i < calls; i++)
        MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    mine = (MPI_Wtime() - start) / calls * 1e6;
    MPI_Reduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    return slowest;
}

static double
time_size(size_t bytes)
{
    const int count = (int)(bytes / sizeof(double));
    const int calls = bytes < 2048 ? CALLS_MAX : (int)(CALLS_MAX * 2048 / bytes) + 2;
    double *in = malloc(bytes), *out = malloc(bytes), us[BATCHES];
    if (!in || !out)
        abort();
    for (int i = 0; i < count; i++)
        in[i] = (double)rand() / RAND_MAX - 0.5;
    time_batch(in, out, count, calls);
    for (int i = 0; i < BATCHES; i++)
        us[i] = time_batch(in, out, count, calls);
    free(in);
    free(out);
    return median(us, BATCHES);
}

int
main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 1; i < argc; i++) {
        const size_t bytes = strtoul(argv[i], NULL, 10);
        const double us = time_size(bytes);
        if (rank == 0)
            printf("%zu,%.2f\n", bytes, us);
    }
    MPI_Finalize();
    return 0;
}
