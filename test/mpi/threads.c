/* Four threads, each with its own communicators, call at the same time. */
#include <pthread.h>
#include <stdlib.h>

#include "mpi_check.h"

#define THREADS 4
#define CALLS   150
#define LONGEST 20000
#define SKIP    77

static MPI_Comm comms[THREADS];

static void
call(const struct check_comm *c, double *in, double *out, int count)
{
    for (int i = 0; i < count; i++)
        in[i] = c->rank + i % 64;
    MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, c->comm);
    for (int i = 0; i < count; i++)
        if (out[i] != c->nranks * (c->nranks - 1) / 2.0 + (double)c->nranks * (i % 64)) {
            check_fail("%s: count %d: element %d is wrong", c->name, count, i);
            return;
        }
}

/* On a communicator for all calls, and on one that is made and freed. */
static void *
work(void *argument)
{
    const struct check_comm c = check_describe(*(MPI_Comm *)argument, "of a thread");
    double *in = malloc(LONGEST * sizeof *in), *out = malloc(LONGEST * sizeof *out);
    for (int i = 0; i < CALLS && in && out; i++) {
        call(&c, in, out, i % 10 ? 1 + i * 37 % 900 : LONGEST);
        if (i % 50 == 0) {
            MPI_Comm copy;
            MPI_Comm_dup(c.comm, &copy);
            check_ping(copy, "made and freed by a thread");
            MPI_Comm_free(&copy);
        }
    }
    free(in);
    free(out);
    return NULL;
}

int
main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE) {
        MPI_Finalize();
        return SKIP;
    }
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, &comms[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_free(&comms[i]);
    return check_end();
}
