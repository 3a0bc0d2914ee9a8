/* Prints the microseconds of: duplicate MPI_COMM_WORLD, one MPI_Allreduce of so many
 * bytes on it, free it.  The median of batches, of rank 0.
 *
 * usage: communicators BYTES
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "median.h"

enum { BATCHES = 31, WARMUPS = 2 };

static double
time_batch(const float *in, float *out, int count, int calls)
{
    const double start = MPI_Wtime();
    for (int i = 0; i < calls; i++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Allreduce(in, out, count, MPI_FLOAT, MPI_SUM, comm);
        MPI_Comm_free(&comm);
    }
    return (MPI_Wtime() - start) / calls * 1e6;
}

int
main(int argc, char **argv)
{
    double us[BATCHES];
    int rank, nranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    const size_t bytes = argc > 1 ? strtoul(argv[1], NULL, 10) : 8;
    float *in = calloc(bytes, 1), *out = calloc(bytes, 1);
    if (!in || !out)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = -WARMUPS; i < BATCHES; i++) {
        const double time = time_batch(in, out, (int)(bytes / sizeof *in), nranks > 2 ? 2 : 200);
        if (i >= 0)
            us[i] = time;
    }
    if (rank == 0)
        printf("%.2f\n", median(us, BATCHES));
    free(in);
    free(out);
    MPI_Finalize();
    return 0;
}
