/* Calls in which ranks wait for each other, for ALLREDUCE_TIMEOUT to tell.
 *
 * usage: timeout WHAT [ARGUMENTS], of which
 *   calm MS              short calls, one after the other, for so long
 *   late MS              two calls; before the third the last rank sleeps for so long
 *   new MS               the same before the first call on a communicator named "row", whose ranks
 *                        are those of the world backwards
 *   empty MS             the same before the second, of which the first had no elements
 *   threads MS           the same of two communicators, "first" and "second", a thread for each;
 *                        status 77 without MPI_THREAD_MULTIPLE
 *   counts FIRST OTHERS  a good call, then one of so many ints on rank 0 and the others
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi_check.h"

static struct check_comm world;

static void
sleep_ms(int ms)
{
    usleep((useconds_t)ms * 1000);
}

static void
calm(int ms)
{
    const double end = MPI_Wtime() + ms / 1000.0;
    int goes_on = 1;
    while (goes_on) {
        check_ping(MPI_COMM_WORLD, "a short call");
        sleep_ms(20);
        goes_on = MPI_Wtime() < end;
        MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
}

static void
late(int ms)
{
    check_ping(MPI_COMM_WORLD, "the first call");
    check_ping(MPI_COMM_WORLD, "the second call");
    MPI_Barrier(MPI_COMM_WORLD);
    if (world.rank == world.nranks - 1)
        sleep_ms(ms);
    check_ping(MPI_COMM_WORLD, "the call of which a rank is late");
}

static void
late_on_new(int ms)
{
    MPI_Comm row;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -world.rank, &row);
    MPI_Comm_set_name(row, "row");
    if (world.rank == world.nranks - 1)
        sleep_ms(ms);
    check_ping(row, "the first call on a communicator");
    MPI_Barrier(row);
    if (world.rank == world.nranks - 1)
        sleep_ms(ms);
    check_ping(row, "the second call on it");
    MPI_Comm_free(&row);
}

static void
late_after_empty(int ms)
{
    int none = 0;
    MPI_Allreduce(MPI_IN_PLACE, &none, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (world.rank == world.nranks - 1)
        sleep_ms(ms);
    check_ping(MPI_COMM_WORLD, "the call after an empty one");
}

/* A thread's communicator, and how long its last rank sleeps. */
struct part {
    MPI_Comm comm;
    int ms;
};

static void *
late_on_part(void *argument)
{
    const struct part *part = argument;
    check_ping(part->comm, "the first call of a thread");
    if (world.rank == world.nranks - 1)
        sleep_ms(part->ms);
    check_ping(part->comm, "the second call of a thread");
    return NULL;
}

static void
late_on_threads(int ms)
{
    struct part parts[2];
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        parts[i].ms = ms;
        MPI_Comm_dup(MPI_COMM_WORLD, &parts[i].comm);
        MPI_Comm_set_name(parts[i].comm, i == 0 ? "first" : "second");
        check_true(pthread_create(&threads[i], NULL, late_on_part, &parts[i]) == 0);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        MPI_Comm_free(&parts[i].comm);
    }
}

static void
different_counts(int first, int others)
{
    const int count = world.rank == 0 ? first : others;
    int *numbers = calloc((size_t)(first > others ? first : others), sizeof *numbers);
    check_ping(MPI_COMM_WORLD, "the good call");
    MPI_Allreduce(MPI_IN_PLACE, numbers, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD); /* where the ranks wait that got through */
    free(numbers);
}

int
main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[1] : "";
    const bool has_threads = strcmp(what, "threads") == 0;
    const int number = argc > 2 ? atoi(argv[2]) : 0;
    int provided;
    MPI_Init_thread(&argc, &argv, has_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    world = check_describe(MPI_COMM_WORLD, "world");
    if (strcmp(what, "calm") == 0)
        calm(number);
    else if (strcmp(what, "late") == 0)
        late(number);
    else if (strcmp(what, "new") == 0)
        late_on_new(number);
    else if (strcmp(what, "empty") == 0)
        late_after_empty(number);
    else if (has_threads && provided == MPI_THREAD_MULTIPLE)
        late_on_threads(number);
    else if (strcmp(what, "counts") == 0 && argc > 3)
        different_counts(number, atoi(argv[3]));
    else if (!has_threads)
        check_fail("no such case: %s", what);
    MPI_Finalize();
    return has_threads && provided < MPI_THREAD_MULTIPLE ? 77 : check_status();
}
