/* Prints the microseconds of an MPI_Allreduce of doubles whose count varies from call to call: the
 * median of batches.
 *
 *     counts LEAST MOST DIFFERENT
 *
 * Each count is drawn from DIFFERENT ones, which are spread evenly from LEAST to MOST; 0: from all.
 */
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

static int
draw_count(int least, int most, int different)
{
    const int range = most - least + 1;
    if (different == 0)
        return least + draw(range);
    return least + (int)((2 * (int64_t)draw(different) + 1) * range / (2 * (int64_t)different));
}

static double
time_batch(int least, int most, int different, const double *in, double *out)
{
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int i = 0; i < CALLS; i++)
        MPI_Allreduce(in, out, draw_count(least, most, different), MPI_DOUBLE, MPI_SUM,
                      MPI_COMM_WORLD);
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
    const int least = atoi(argv[1]), most = atoi(argv[2]), different = atoi(argv[3]);
    double *const in = calloc((size_t)most, sizeof *in);
    double *const out = calloc((size_t)most, sizeof *out);
    if (!in || !out)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < BATCHES; i++)
        us[i] = time_batch(least, most, different, in, out);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        printf("%.3f\n", median(us, BATCHES));
    free(in);
    free(out);
    MPI_Finalize();
    return 0;
}
