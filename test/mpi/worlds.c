/* Communicators that are merged of two groups, or split from such a one.
 *
 * usage: worlds halves   of one world: its first rank, and the others
 *        worlds spawn    of two: the ranks, and a process that they start
 */
#include <string.h>

#include "mpi_check.h"

enum { CALLS = 5 };

static void
call(MPI_Comm comm)
{
    int nranks, all;
    const int one = 1;
    MPI_Comm_size(comm, &nranks);
    for (int i = 0; i < CALLS; i++) {
        MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, comm);
        check_true(all == nranks);
    }
}

/* Whatever all ranks of the communicator do together, none must wait for one that does not know. */
static void
use(MPI_Comm inter, int is_high)
{
    MPI_Comm merged, part;
    MPI_Info info;
    MPI_Win window;
    int rank, zero = 0, *own;
    check_watch("the merged communicator");
    MPI_Intercomm_merge(inter, is_high, &merged);
    MPI_Comm_rank(merged, &rank);
    MPI_Info_create(&info);
    MPI_Comm_set_info(merged, info);
    MPI_Info_free(&info);
    MPI_Win_allocate_shared(sizeof *own, sizeof *own, MPI_INFO_NULL, merged, &own, &window);
    MPI_Bcast(&zero, 1, MPI_INT, 0, merged);
    call(merged);
    MPI_Win_free(&window);
    MPI_Comm_split(merged, rank == 1, rank, &part);
    call(part);
    MPI_Comm_free(&part);
    MPI_Comm_free(&merged);
    check_watch(NULL);
}

static void
run_halves(void)
{
    MPI_Comm half, inter;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank > 0, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank > 0 ? 0 : 1, 0, &inter);
    use(inter, rank > 0);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

static void
run_spawn(const char *program)
{
    MPI_Comm inter;
    MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                   MPI_ERRCODES_IGNORE);
    use(inter, 0);
    MPI_Comm_disconnect(&inter);
}

int
main(int argc, char **argv)
{
    MPI_Comm parent;
    check_begin(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        use(parent, 1);
        MPI_Comm_disconnect(&parent);
    } else if (argc == 2 && strcmp(argv[1], "halves") == 0) {
        run_halves();
    } else {
        run_spawn(argv[0]);
    }
    return check_end();
}
