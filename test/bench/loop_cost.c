/* Prints the milliseconds that rank 0 spends in a loop of MPI_Allreduce on MPI_COMM_WORLD.
 *
 * usage: loop_cost BYTES CALLS
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int
main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    const int count = argc == 3 ? atoi(argv[1]) / (int)sizeof(float) : 0;
    const int calls = argc == 3 ? atoi(argv[2]) : 0;
    float *const in = calloc((size_t)count + 1, sizeof *in);
    float *const out = calloc((size_t)count + 1, sizeof *out);
    int rank;
    if (!in || !out || count < 1 || calls < 1)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(in, out, count, MPI_FLOAT, MPI_SUM,
                  MPI_COMM_WORLD); /* what is set up is not asked for */
    const double start = MPI_Wtime();
    for (int i = 0; i < calls; i++)
        MPI_Allreduce(in, out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%.3f\n", (MPI_Wtime() - start) * 1e3);
    free(in);
    free(out);
    MPI_Finalize();
    return 0;
}
