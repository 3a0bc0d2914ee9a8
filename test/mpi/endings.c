/* Programs whose ends are not simple.
 *
 * usage: endings WHAT, of which
 *   at_exit  half of the ranks make their last call and MPI_Finalize in main, the
 *            others in an exit handler
 *   fork     a child of rank 0 ends by exit, before the parent does
 */
#include <config.h>

#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mpi_check.h"

static pid_t parent;

static void
finish(void)
{
    int finalized;
    if (getpid() != parent || MPI_Finalized(&finalized) || finalized)
        return;
    check_ping(MPI_COMM_WORLD, "the last call");
    if (check_end())
        _exit(1);
}

static void
fork_child(void)
{
    pid_t child = fork();
    if (child == 0)
        exit(0);
    check_true(child > 0 && waitpid(child, NULL, 0) == child);
}

int
main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int rank;
    parent = getpid();
    atexit(finish);
    check_begin(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    check_ping(MPI_COMM_WORLD, "the first call");
    if (strcmp(what, "fork") == 0 && rank == 0)
        fork_child();
    if (strcmp(what, "at_exit") == 0 && rank % 2 == 0)
        finish();
    return 0;
}
