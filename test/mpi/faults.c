/* Calls while one thing after the other that the library asks of the system is refused on one rank:
 * each call's result is right, or it is an error of MPI's on all ranks alike.  fault_system.c is to
 * be preloaded.
 *
 * usage: faults VICTIM FIRST STEP [CLAUSES]   FIRST, FIRST + STEP, ...: the one that is refused
 * while a communicator is made, used and freed, until nothing is left to refuse; CLAUSES: which the
 * program chooses for it
 */
#include <config.h> /* _GNU_SOURCE */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_check.h"

#define NO_MORE (-2) /* inject_arm's */

static const int counts[] = {1, 300, CHECK_ALIKE_MOST};

/* Of each count in a row, half of them in place: more than online tuning makes between two
 * agreements. */
#define CALLS 12

static long (*inject_arm)(long at);

/* By an info object, so that this program needs no library. */
static void
choose(MPI_Comm comm, const char *clauses)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "allreduce_algo", clauses);
    MPI_Comm_set_info(comm, info);
    MPI_Info_free(&info);
}

/* Was there something to refuse?  The same on all ranks.  clauses may be NULL. */
static int
attempt(bool is_victim, int victim, long at, const char *clauses)
{
    MPI_Comm comm;
    char what[64];
    snprintf(what, sizeof what, "refused %ld", at);
    inject_arm(is_victim ? at : NO_MORE);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (clauses)
        choose(comm, clauses);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (int k = 0; k < CALLS; k++)
            check_call_alike(comm, counts[i], k % 2, what);
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
    if (argc < 4 || !inject_arm) {
        check_fail("usage: faults VICTIM FIRST STEP [CLAUSES], with fault_system preloaded");
        return check_end();
    }
    const int victim = atoi(argv[1]);
    const long step = atol(argv[3]);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    attempt(false, victim, 0, argv[4]); /* makes the requests that a process makes only once */
    long at = atol(argv[2]);
    for (bool goes_on = true; goes_on; at += step) {
        if (rank == 0)
            printf("refusing %ld\n", at), fflush(stdout);
        goes_on = attempt(rank == victim, victim, at, argv[4]);
    }
    if (rank == 0)
        printf("nothing left to refuse\n");
    return check_end();
}
