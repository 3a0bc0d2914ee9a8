/* An MPI program that knows nothing of the library: each rank adds its rank. */
#include <mpi.h>
#include <stdio.h>

int
main(int argc, char **argv)
{
    int rank, nranks, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d ranks, sum %d\n", nranks, sum);
    MPI_Finalize();
    return sum != nranks * (nranks - 1) / 2;
}
