/* Threads make calls at the same time, and another one changes the error handler of MPI_COMM_WORLD
 * again and again, as libraries do: it reads what it has set.  Each rank prints how many calls it
 * made.
 *
 * usage: threads [STEPS]   of each thread; 40 by default
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "concurrent.h"
#include "mpi_check.h"

#define SKIP 77

static atomic_bool ends;

static void
handle(MPI_Comm *comm, int *error, ...)
{
    (void)comm;
    check_fail("error %d", *error);
}

static void
expect_handler(MPI_Errhandler expected, const char *what)
{
    MPI_Errhandler now;
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &now);
    if (now != expected)
        check_fail("MPI_COMM_WORLD has another error handler than %s", what);
    MPI_Errhandler_free(&now);
}

static void *
change_handlers(void *own)
{
    while (!atomic_load(&ends)) {
        expect_handler(MPI_ERRORS_ARE_FATAL, "at first");
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, *(MPI_Errhandler *)own);
        expect_handler(*(MPI_Errhandler *)own, "its own");
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
        usleep(50);
    }
    return NULL;
}

int
main(int argc, char **argv)
{
    MPI_Errhandler own;
    pthread_t thread;
    if (!check_begin_threads(&argc, &argv)) {
        MPI_Finalize();
        return SKIP;
    }
    MPI_Comm_create_errhandler(handle, &own);
    check_true(pthread_create(&thread, NULL, change_handlers, &own) == 0);
    printf("made %lu calls\n", concurrent_run(argc > 1 ? atoi(argv[1]) : 40));
    atomic_store(&ends, true);
    pthread_join(thread, NULL);
    expect_handler(MPI_ERRORS_ARE_FATAL, "at first");
    MPI_Errhandler_free(&own);
    return check_end();
}
