/* Whether ranks of sub-communicators share cores, and that their memory is kept.
 *
 *     crowd MEMBERS RANKS CPUS
 *
 * The ranks of MPI_COMM_WORLD form groups of MEMBERS neighbours.  On the CPUS CPUs of each group,
 * RANKS ranks may run. */
#include "config.h"

#include <stdlib.h>

#include "execute/arena.h"
#include "execute/node.h"
#include "execute/node_plan.h"
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

/* On any node the memory that a communicator needs is kept for the next one. */
static void
check_kept(void)
{
    for (size_t cache = (size_t)256 << 10; cache <= (size_t)4 << 20; cache += (size_t)256 << 10)
        for (int n = 2; n <= 256; n++) {
            const size_t chunk = ar_shm_tune(n, cache, false).chunk_bytes;
            const size_t all = AR_SLOTS * (size_t)n *
                               (4 * ar_node_slot_bytes(AR_SHORT_CHUNK) + ar_node_slot_bytes(chunk));
            if (all > AR_ARENAS_KEPT_BYTES)
                check_fail("%d ranks, %zu bytes of cache: not kept: %zu bytes", n, cache, all);
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
    check_kept();
    MPI_Comm_free(&comm);
    return check_end();
}
