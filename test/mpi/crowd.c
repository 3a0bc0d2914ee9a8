/* Whether ranks of sub-communicators share cores.
 *
 *     crowd MEMBERS RANKS CPUS
 *
 * The ranks of MPI_COMM_WORLD form groups of MEMBERS neighbours.  On the CPUS CPUs of each group,
 * RANKS ranks may run. */
#include "config.h"

#include <stdlib.h>

#include "execute/arena.h"
#include "mpi_check.h"

static struct ar_crowd expected;

static void
check_crowd(struct ar_crowd crowd, const char *of)
{
    if (crowd.ranks != expected.ranks || crowd.cpus != expected.cpus)
        check_fail("%s: %d ranks on %d CPUs, not %d on %d", of, crowd.ranks, crowd.cpus,
                   expected.ranks, expected.cpus);
}

/* As it is found where memory is shared: what rank 0 knows of the job counts. */
static void
check_piece(const struct check_comm *group)
{
    const struct ar_piece_needs needs = {.slot_bytes = 64, .slots = 1, .pieces = 2};
    struct ar_piece piece;
    for (int again = 0; again < 2; again++) {
        const bool has = ar_piece_borrow(&piece, group->comm, group->rank, group->nranks, &needs);
        check_true(has);
        if (has) {
            check_crowd(piece.crowd, again ? "a later piece" : "a new arena");
            ar_piece_return(&piece);
        }
    }
}

int
main(int argc, char **argv)
{
    struct ar_crowd crowd;
    struct check_comm world;
    MPI_Comm comm;
    check_begin(&argc, &argv);
    world = check_describe(MPI_COMM_WORLD, "the world");
    const int members = atoi(argv[1]);
    expected = (struct ar_crowd){atoi(argv[2]), atoi(argv[3])};
    MPI_Comm_split(world.comm, world.rank / members, world.rank, &comm);
    const struct check_comm group = check_describe(comm, "a group");
    check_true(ar_crowd_find(&crowd, comm, members, ar_job_beside(members), false));
    check_crowd(crowd, "found");
    check_true(!ar_crowd_find(&crowd, comm, members, ar_job_beside(members), group.rank == 0));
    if (members > 1)
        check_piece(&group);
    MPI_Comm_free(&comm);
    return check_end();
}
