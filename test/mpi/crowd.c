/* Whether ranks of sub-communicators share cores, and that their memory is kept.
 *
 *     crowd MEMBERS RANKS CPUS
 *
 * The ranks of MPI_COMM_WORLD form groups of MEMBERS neighbours.  On the CPUS CPUs of each group,
 * RANKS ranks may run.
 *
 *     crowd lent
 *
 * Of 2 ranks: a private communicator is lent while a thread of one rank still makes it. */
#include "config.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "communicator/carrier.h"
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
    const struct ar_circle all = ar_circle_of(group->comm, group->rank, group->nranks);
    struct ar_piece piece;
    for (int again = 0; again < 2; again++) {
        const bool has = ar_piece_borrow(&piece, &all, &needs);
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

/* --- lending at once --- */

static __thread bool is_late; /* learns late what the ranks agreed on */

int
PMPI_Bcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    const int error = MPI_Bcast(buffer, count, datatype, root, comm);
    if (is_late && datatype == MPI_INT)
        usleep(200000);
    return error;
}

struct borrower {
    struct check_comm of;
    struct ar_carriage carriage;
    bool is_late;
};

static void *
borrow(void *argument)
{
    struct borrower *const b = argument;
    const struct ar_circle all = ar_circle_of(b->of.comm, b->of.rank, b->of.nranks);
    int error;
    is_late = b->is_late;
    check_true(ar_carriage_borrow(&b->carriage, &all, true, &error) && !error);
    return NULL;
}

static int
run_lent(void)
{
    MPI_Comm comms[2];
    pthread_t thread;
    for (int i = 0; i < 2; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    struct borrower first = {.of = check_describe(comms[0], "the first")};
    struct borrower second = {.of = check_describe(comms[1], "the second")};
    check_watch("two communicators that borrow");
    first.is_late = first.of.rank == 1;
    check_true(pthread_create(&thread, NULL, borrow, &first) == 0);
    if (!first.is_late) /* the other rank comes to the second at once */
        pthread_join(thread, NULL);
    borrow(&second);
    if (first.is_late)
        pthread_join(thread, NULL);
    check_true(first.carriage.carrier == second.carriage.carrier);
    ar_carriage_return(&second.carriage, true);
    ar_carriage_return(&first.carriage, true);
    return check_end();
}

int
main(int argc, char **argv)
{
    struct ar_crowd crowd;
    struct check_comm world;
    MPI_Comm comm;
    if (argc > 1 && strcmp(argv[1], "lent") == 0)
        return check_begin_threads(&argc, &argv) ? run_lent() : check_end();
    check_begin(&argc, &argv);
    world = check_describe(MPI_COMM_WORLD, "the world");
    const int members = atoi(argv[1]);
    expected = (struct ar_crowd){atoi(argv[2]), atoi(argv[3])};
    MPI_Comm_split(world.comm, world.rank / members, world.rank, &comm);
    const struct check_comm group = check_describe(comm, "a group");
    const struct ar_circle all = ar_circle_of(comm, group.rank, members);
    int ranks[4] = {0, 1, 2, 3};
    const struct ar_circle listed = {comm, group.rank, members, ranks, 1};
    check_true(ar_crowd_find(&crowd, &all, ar_job_beside(members), false));
    check_crowd(crowd, "found");
    check_true(ar_crowd_find(&crowd, &listed, ar_job_beside(members), false));
    check_crowd(crowd, "found by messages");
    check_true(!ar_crowd_find(&crowd, &all, ar_job_beside(members), group.rank == 0));
    check_true(!ar_crowd_find(&crowd, &listed, ar_job_beside(members), group.rank == members - 1));
    if (members > 1)
        check_piece(&group);
    check_kept();
    MPI_Comm_free(&comm);
    return check_end();
}
