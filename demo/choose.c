/* A program that chooses its allreduce algorithm itself, and asks what ran.
 *
 *   mpicc choose.c $(pkg-config --cflags --libs liballreduce) -o choose
 *   mpiexec -n 4 ./choose
 *
 * Where the library is in a home folder, pkg-config and the program must find it there:
 *
 *   export PKG_CONFIG_PATH=$HOME/allreduce/lib/pkgconfig
 *   mpicc choose.c $(pkg-config --cflags --libs liballreduce) -Wl,-rpath,$HOME/allreduce/lib -o choose
 *
 * Set ALLREDUCE_ALGO to overrule it.
 */
#include <allreduce.h>
#include <stdio.h>

int
main(int argc, char **argv)
{
    int rank;
    double in = 1, out;
    const char *ran, *reason;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);

    /* Short messages by one algorithm, long ones by another, on this communicator. */
    if (allreduce_choose(MPI_COMM_WORLD, "butterfly:0-8K; ring") != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);

    ran = allreduce_last(MPI_COMM_WORLD, &reason);
    if (rank == 0)
        printf("liballreduce %s: the sum is %g; %s ran (%s)\n", allreduce_version(), out, ran,
               reason);
    MPI_Finalize();
    return 0;
}
