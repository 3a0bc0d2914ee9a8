/* Prints what an MPI_Allreduce of floats sends by the network: bytes a call of the host that
 * sends most, as Linux counts them at the interface, all protocols' heads included.
 *
 * usage: wire BYTES CALLS */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

/* Sent by all interfaces of this host but the loopback. */
static double
bytes_sent(void)
{
    char line[512], name[64];
    double sum = 0, sent;
    FILE *file = fopen("/proc/net/dev", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, " %63[^:]: %*s %*s %*s %*s %*s %*s %*s %*s %lf", name, &sent) == 2)
            sum += name[0] == 'l' && name[1] == 'o' ? 0 : sent;
    if (file)
        fclose(file);
    return sum;
}

int
main(int argc, char **argv)
{
    const int count = argc == 3 ? atoi(argv[1]) / (int)sizeof(float) : 0;
    const int calls = argc == 3 ? atoi(argv[2]) : 0;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (count < 1 || calls < 1)
        MPI_Abort(MPI_COMM_WORLD, 2);
    float *in = calloc((size_t)count, sizeof *in), *out = malloc((size_t)count * sizeof *out);
    if (!in || !out)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Allreduce(in, out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    const double before = bytes_sent();
    for (int i = 0; i < calls; i++)
        MPI_Allreduce(in, out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    double sent = (bytes_sent() - before) / calls, most = 0;
    MPI_Reduce(&sent, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%.0f\n", most);
    free(in);
    free(out);
    MPI_Finalize();
    return 0;
}
