/* Prints the nanoseconds of an MPI_Allreduce of one double on MPI_COMM_SELF: the
 * median of batches.  Nobody is waited for, so that what a preload adds to a
 * call shows. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "median.h"

enum { BATCHES = 101, CALLS = 10000 };

static double
time_batch(void)
{
    double in = 1, out;
    const double start = MPI_Wtime();
    for (int i = 0; i < CALLS; i++)
        MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
    return (MPI_Wtime() - start) / CALLS * 1e9;
}

int
main(int argc, char **argv)
{
    double ns[BATCHES];
    MPI_Init(&argc, &argv);
    for (int i = 0; i < BATCHES; i++)
        ns[i] = time_batch();
    printf("%.2f\n", median(ns, BATCHES));
    MPI_Finalize();
    return 0;
}
