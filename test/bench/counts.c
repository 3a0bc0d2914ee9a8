/* Prints the microseconds of an MPI_Allreduce of doubles whose count varies from call to call: the
 * median of batches.
 *
 *     counts LEAST MOST DIFFERENT
 *
 * Each count is drawn from DIFFERENT ones, which are drawn from LEAST to MOST. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "median.h"

enum { BATCHES = 41, CALLS = 200 };

static uint64_t state = 1;

static int
draw(int n)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)((state >> 33) % (uint64_t)n);
}

static double
time_batch(const int *counts, int ncounts, const double *in, double *out)
{
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int i = 0; i < CALLS; i++)
        MPI_Allreduce(in, out, counts[draw(ncounts)], MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return (MPI_Wtime() - start) / CALLS * 1e6;
}

int
main(int argc, char **argv)
{
    double us[BATCHES];
    int rank;
    MPI_Init(&argc, &argv);
    if (argc != 4)
        MPI_Abort(MPI_COMM_WORLD, 2);
    const int least = atoi(argv[1]), most = atoi(argv[2]), ncounts = atoi(argv[3]);
    int *const counts = malloc((size_t)ncounts * sizeof *counts);
    double *const in = calloc((size_t)most, sizeof *in), *const out =
                                                             calloc((size_t)most, sizeof *out);
    if (!counts || !in || !out)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < ncounts; i++)
        counts[i] = least + draw(most - least + 1);
    for (int i = 0; i < BATCHES; i++)
        us[i] = time_batch(counts, ncounts, in, out);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        printf("%.3f\n", median(us, BATCHES));
    free(counts);
    free(in);
    free(out);
    MPI_Finalize();
    return 0;
}
