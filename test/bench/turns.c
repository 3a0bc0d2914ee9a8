/* What an allreduce costs a program that computes: before each call every rank writes its vector
 * anew and reads the result of the last one, so that each finds what the other core has left in its
 * own caches.
 *
 * Prints for each size, as CSV: bytes, microseconds of a call (the median) and of a whole turn with
 * the writing and reading (the mean), both of the slower rank, and how many elements were wrong.
 *
 * usage: turns LEAST MOST FACTOR CALLS
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "median.h"

enum { WARMUPS = 8, LEAST_CALLS = 7 };
#define SHORT ((size_t)8 << 10)   /* bytes: up to here CALLS are made, */
#define LONG  ((size_t)256 << 10) /* up to here a fifth, above a twentieth */

static float *in, *out;
static int rank, nranks;

static float
element(size_t i, int of)
{
    return (float)((i * 7 + (size_t)of * 13) % 97);
}

/* The program's own work. */
static void
work(size_t count)
{
    volatile float *const vector = in, *const result = out;
    static volatile float seen;
    for (size_t i = 0; i < count; i++) {
        vector[i] = element(i, rank);
        seen = seen + result[i];
    }
}

static long
count_wrong(size_t count)
{
    long wrong = 0;
    for (size_t i = 0; i < count; i++) {
        float sum = 0;
        for (int of = 0; of < nranks; of++)
            sum += element(i, of);
        wrong += sum != out[i];
    }
    return wrong;
}

static void
measure(size_t bytes, int calls)
{
    const size_t count = bytes / sizeof(float);
    double *const call = malloc((size_t)calls * sizeof *call), begun = 0, own[3], slowest[3];
    if (!call)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = -WARMUPS; i < calls; i++) {
        if (i == 0)
            begun = MPI_Wtime();
        work(count);
        const double before = MPI_Wtime();
        MPI_Allreduce(in, out, (int)count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        if (i >= 0)
            call[i] = MPI_Wtime() - before;
    }
    own[1] = (MPI_Wtime() - begun) / calls * 1e6;
    own[0] = median(call, calls) * 1e6;
    own[2] = (double)count_wrong(count);
    free(call);
    MPI_Reduce(own, slowest, 3, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%zu,%.3f,%.3f,%.0f\n", bytes, slowest[0], slowest[1], slowest[2]);
}

int
main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    if (argc != 5) {
        if (rank == 0)
            fputs("usage: turns LEAST MOST FACTOR CALLS\n", stderr);
        MPI_Finalize();
        return 2;
    }
    const size_t least = strtoul(argv[1], NULL, 10), most = strtoul(argv[2], NULL, 10);
    const size_t factor = strtoul(argv[3], NULL, 10);
    const int calls = atoi(argv[4]);
    in = calloc(most, 1);
    out = calloc(most, 1);
    if (!in || !out || factor < 2)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (size_t bytes = least; bytes <= most; bytes *= factor) {
        const int fewer = bytes <= SHORT ? calls : bytes <= LONG ? calls / 5 : calls / 20;
        measure(bytes, fewer > LEAST_CALLS ? fewer : LEAST_CALLS);
    }
    free(in);
    free(out);
    MPI_Finalize();
    return 0;
}
