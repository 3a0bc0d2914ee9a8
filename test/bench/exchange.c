/* What the order of posting does to long messages between hosts: for each size a line of
 * tab-separated times, in units of bytes / rate, of a message to the right neighbour, and of one
 * exchanged with partners at distance 1 and 2 in turn, receives posted first and sends posted
 * first.
 *
 * usage: exchange BYTES_A_SECOND SIZE...; ranks a power of two, one a host */
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

enum order { RECEIVE_FIRST, SEND_FIRST };

#define ROUNDS 4
#define RUNS   9

static int rank, nranks;
static char *in, *out;

static void
wait_all(MPI_Request request[2])
{
    MPI_Status status[2];
    int done = 0;
    while (MPI_Testall(2, request, &done, status), !done)
        sched_yield();
}

static void
pass(int to, int from, int bytes, enum order order)
{
    MPI_Request request[2];
    if (order == SEND_FIRST)
        MPI_Isend(out, bytes, MPI_BYTE, to, 0, MPI_COMM_WORLD, &request[0]);
    MPI_Irecv(in, bytes, MPI_BYTE, from, 0, MPI_COMM_WORLD, &request[1]);
    if (order == RECEIVE_FIRST)
        MPI_Isend(out, bytes, MPI_BYTE, to, 0, MPI_COMM_WORLD, &request[0]);
    wait_all(request);
}

static void
ring(int round, int bytes, enum order order)
{
    (void)round;
    pass((rank + 1) % nranks, (rank + nranks - 1) % nranks, bytes, order);
}

/* A pair twice in a row, then the other: who is late for the first of the two finds its partner
 * there. */
static void
exchange(int round, int bytes, enum order order)
{
    const int partner = rank ^ (round / 2 % 2 ? 2 % nranks : 1);
    pass(partner, partner, bytes, order);
}

static int
by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The median, in seconds a message. */
static double
measure(void (*move)(int, int, enum order), int bytes, enum order order)
{
    double times[RUNS];
    for (int run = 0; run < RUNS; run++) {
        const double start = MPI_Wtime();
        for (int round = 0; round < ROUNDS; round++)
            move(round, bytes, order);
        times[run] = (MPI_Wtime() - start) / ROUNDS;
    }
    qsort(times, RUNS, sizeof times[0], by_value);
    return times[RUNS / 2];
}

int
main(int argc, char **argv)
{
    const double rate = argc > 1 ? atof(argv[1]) : 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    if (rate <= 0 || nranks < 2 || (nranks & (nranks - 1)) != 0)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int i = 2; i < argc; i++) {
        const int bytes = atoi(argv[i]);
        const double unit = bytes / rate;
        in = calloc((size_t)bytes, 1);
        out = calloc((size_t)bytes, 1);
        if (bytes < 1 || !in || !out)
            MPI_Abort(MPI_COMM_WORLD, 1);
        measure(ring, bytes, SEND_FIRST); /* fills connections, empties what links have saved up */
        const double one_way = measure(ring, bytes, SEND_FIRST) / unit;
        const double receive_first = measure(exchange, bytes, RECEIVE_FIRST) / unit;
        const double send_first = measure(exchange, bytes, SEND_FIRST) / unit;
        if (rank == 0)
            printf("%d\t%.2f\t%.2f\t%.2f\n", bytes, one_way, receive_first, send_first);
        free(in);
        free(out);
    }
    MPI_Finalize();
    return 0;
}
