/* Calls while one thing after the other that the library asks of the system is refused on one rank:
 * each call's result is right, or it is an error of MPI's on all ranks alike.  inject.c is to be
 * preloaded.
 *
 * usage: faults VICTIM FIRST STEP   FIRST, FIRST + STEP, ...: the one that is refused while a
 * communicator is made, used and freed, until nothing is left to refuse
 */
#include <config.h> /* _GNU_SOURCE */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_check.h"

#define NO_MORE (-2) /* inject_arm's */

static const int counts[] = {1, 300, 100000};

static long (*inject_arm)(long at);

/* Fails unless all ranks say the same of error. */
static void
check_alike(int error, int count, long at)
{
    int failed[2] = {error != MPI_SUCCESS, error == MPI_SUCCESS};
    PMPI_Allreduce(MPI_IN_PLACE, failed, 2, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
    if (failed[0] && failed[1])
        check_fail("refused %ld: %d ints: error class %d here, and not the same elsewhere", at,
                   count, error);
}

static void
call(MPI_Comm comm, int count, bool in_place, int *in, int *out, long at)
{
    int rank, nranks, wrong = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &nranks);
    for (int i = 0; i < count; i++) {
        in[i] = rank + i % 1000;
        out[i] = in_place ? in[i] : -1;
    }
    const int error =
        MPI_Allreduce(in_place ? MPI_IN_PLACE : in, out, count, MPI_INT, MPI_SUM, comm);
    check_alike(error, count, at);
    for (int i = 0; i < count && !error; i++)
        wrong += out[i] != nranks * (nranks - 1) / 2 + nranks * (i % 1000);
    if (wrong)
        check_fail("refused %ld: %d ints: %d are wrong", at, count, wrong);
}

/* Was there something to refuse?  The same on all ranks. */
static int
attempt(bool is_victim, int victim, long at, int *in, int *out)
{
    MPI_Comm comm;
    inject_arm(is_victim ? at : NO_MORE);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (int in_place = 0; in_place < 2; in_place++)
            call(comm, counts[i], in_place, in, out, at);
    MPI_Comm_free(&comm);
    int struck = inject_arm(NO_MORE) > at;
    PMPI_Bcast(&struck, 1, MPI_INT, victim, MPI_COMM_WORLD);
    return struck;
}

int
main(int argc, char **argv)
{
    int rank;
    check_begin(&argc, &argv);
    void *symbol = dlsym(RTLD_DEFAULT, "inject_arm");
    memcpy(&inject_arm, &symbol, sizeof inject_arm);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc != 4 || !inject_arm) {
        check_fail("usage: faults VICTIM FIRST STEP, with inject preloaded");
        return check_end();
    }
    const int victim = atoi(argv[1]);
    const long step = atol(argv[3]);
    int *in = malloc(sizeof(int) * 100000), *out = malloc(sizeof(int) * 100000);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    attempt(false, victim, 0, in, out); /* what a process asks for once is asked for now */
    long at = atol(argv[2]);
    for (bool goes_on = true; goes_on; at += step) {
        if (rank == 0)
            printf("refusing %ld\n", at), fflush(stdout);
        goes_on = attempt(rank == victim, victim, at, in, out);
    }
    if (rank == 0)
        printf("nothing left to refuse\n");
    free(in);
    free(out);
    return check_end();
}
