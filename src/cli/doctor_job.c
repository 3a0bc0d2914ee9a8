#include <config.h>

#include <mpi.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/doctor.h"
#include "communicator/carrier.h"
#include "config/rank.h"
#include "execute/arena.h"

#define SOME_COMMUNICATORS 128
#define PING_S             0.1
#define SLOW_NS            20000.0

/* --- launcher and library --- */

static void
examine_launcher(struct ar_findings *findings, int nranks)
{
    struct ar_launcher launcher;
    char why[512], version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(version, &length);
    version[strcspn(version, ",\n")] = '\0';
    for (char *tab = version; (tab = strchr(tab, '\t'));)
        *tab = ' ';
    if (!ar_launcher_find(&launcher, AR_MPI_FAMILY))
        return;
    if (ar_launcher_splits(AR_MPI_FAMILY, nranks, why, sizeof why))
        ar_find(findings, AR_VERDICT_WRONG, "launcher", NULL, "%s", why);
    else
        ar_find(findings, AR_VERDICT_OK, "launcher", NULL, "%s, a world of %d", launcher.title,
                nranks);
    ar_find(findings, AR_VERDICT_OK, "MPI", NULL, "%s", version);
}

/* --- cores --- */

/* A node's ranks, its cores that they may use together, the fewest and most of one rank, and the
 * threads that run there beside the ranks. */
struct binding {
    int ranks, together, fewest, most, others, online;
    char host[64];
};

/* Collective over node. */
static struct binding
binding_of(MPI_Comm node)
{
    struct binding b;
    cpu_set_t mask;
    int mine, rank, ends[2];
    CPU_ZERO(&mask);
    sched_getaffinity(0, sizeof mask, &mask);
    mine = CPU_COUNT(&mask);
    memset(&b, 0, sizeof b);
    MPI_Comm_size(node, &b.ranks);
    b.together = ar_cpus_together(node);
    ends[0] = -mine;
    ends[1] = mine;
    MPI_Allreduce(MPI_IN_PLACE, ends, 2, MPI_INT, MPI_MAX, node);
    MPI_Comm_rank(node, &rank);
    const int running = rank == 0 ? ar_doctor_threads_running() : 0;
    MPI_Barrier(node); /* where the others wait meanwhile, spinning or not */
    b.others = running > b.ranks ? running - b.ranks : 0;
    b.fewest = -ends[0];
    b.most = ends[1];
    b.online = (int)sysconf(_SC_NPROCESSORS_ONLN);
    gethostname(b.host, sizeof b.host - 1);
    return b;
}

static void
tell_binding(struct ar_findings *findings, const struct binding *b)
{
    if (b->together < b->ranks)
        ar_find(findings, AR_VERDICT_WARNING, "binding",
                b->together < b->online ? "let the launcher bind each rank to cores of its own "
                                          "(mpiexec -bind-to core), or to "
                                          "none"
                                        : "start no more ranks than cores",
                "%s: %d ranks share %d of %d cores", b->host, b->ranks, b->together, b->online);
    else if (b->fewest == b->most && b->most == b->together && b->ranks > 1)
        ar_find(findings, AR_VERDICT_NOTE, "binding",
                "bound ranks keep to their caches: mpiexec -bind-to core",
                "%s: %d ranks are not bound, and may move among %d cores", b->host, b->ranks,
                b->together);
    else
        ar_find(findings, AR_VERDICT_OK, "binding", NULL,
                "%s: %d rank%s on %d core%s, %d to %d each", b->host, b->ranks,
                b->ranks == 1 ? "" : "s", b->together, b->together == 1 ? "" : "s", b->fewest,
                b->most);
    if (b->others > 0)
        ar_find(findings, AR_VERDICT_WARNING, "load",
                "ranks wait for cores that others use: what is measured now is worth little",
                "%s: %d threads run there beside the ranks", b->host, b->others);
}

/* Rank 0 of each node tells rank 0 of the world.  Collective over the world. */
static void
examine_binding(struct ar_findings *findings, MPI_Comm node, int rank, int nranks)
{
    int on_node, nodes;
    MPI_Comm heads;
    struct binding b = binding_of(node);
    MPI_Comm_rank(node, &on_node);
    MPI_Comm_split(MPI_COMM_WORLD, on_node == 0 ? 0 : MPI_UNDEFINED, rank, &heads);
    if (heads == MPI_COMM_NULL)
        return;
    MPI_Comm_size(heads, &nodes);
    struct binding *const all = rank == 0 ? malloc((size_t)nodes * sizeof *all) : NULL;
    MPI_Gather(&b, (int)sizeof b, MPI_BYTE, all, (int)sizeof b, MPI_BYTE, 0, heads);
    if (all)
        ar_find(findings, AR_VERDICT_OK, "nodes", NULL, "%d rank%s on %d node%s", nranks,
                nranks == 1 ? "" : "s", nodes, nodes == 1 ? "" : "s");
    for (int i = 0; all && i < nodes; i++)
        tell_binding(findings, &all[i]);
    free(all);
    MPI_Comm_free(&heads);
}

/* --- shared memory --- */

static void
examine_arena(struct ar_findings *findings, MPI_Comm node)
{
    const struct ar_piece_needs needs = {.kind = 99, .slot_bytes = 4096, .slots = 1, .pieces = 1};
    struct ar_piece piece;
    int rank, nranks;
    MPI_Comm_rank(node, &rank);
    MPI_Comm_size(node, &nranks);
    const bool is_tried = nranks > 1; /* on this node */
    int fails = is_tried && !ar_piece_borrow(&piece, node, rank, nranks, &needs);
    if (is_tried && !fails)
        ar_piece_return(&piece);
    MPI_Allreduce(MPI_IN_PLACE, &fails, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0 && fails)
        ar_find(findings, AR_VERDICT_WARNING, "memory",
                "containers of one node: let them share /dev/shm (docker: --ipc=host), or the PID "
                "namespace",
                "%d ranks cannot map memory with the others of their node", fails);
}

/* --- messages --- */

/* Half a round trip of 8 bytes between rank 0 and another, in ns: the least of those within
 * PING_S, at least one.  Rank 0's value counts. */
static double
half_trip_ns(int rank, int other)
{
    const double begun = MPI_Wtime();
    double best = 0;
    for (double is_last = 0; is_last == 0;) {
        const double start = MPI_Wtime();
        is_last = start - begun > PING_S;
        if (rank == 0) {
            MPI_Send(&is_last, 1, MPI_DOUBLE, other, 0, MPI_COMM_WORLD);
            MPI_Recv(&is_last, 1, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (rank == other) {
            MPI_Recv(&is_last, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(&is_last, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
        } else
            return 0;
        const double ns = (MPI_Wtime() - start) * 0.5e9;
        best = best == 0 || ns < best ? ns : best;
    }
    return best;
}

static void
examine_messages(struct ar_findings *findings, int rank, int nranks)
{
    int *const node_of = malloc((size_t)nranks * sizeof *node_of);
    int far = 1;
    if (!node_of || ar_carrier_find_nodes(node_of, MPI_COMM_WORLD, rank, nranks))
        MPI_Abort(MPI_COMM_WORLD, AR_EXIT_FAILED);
    while (far < nranks && node_of[far] == node_of[0])
        far++;
    for (int k = 0; k < 2; k++) {
        const int other = k == 0 ? 1 : far;
        if (other >= nranks || (k == 1 && far == 1))
            continue;
        const bool is_near = node_of[other] == node_of[0];
        const double ns = half_trip_ns(rank, other);
        const bool is_slow = ns > SLOW_NS;
        if (rank == 0)
            ar_find(findings, is_slow ? AR_VERDICT_WARNING : AR_VERDICT_OK, "messages",
                    !is_slow ? NULL
                    : is_near
                        ? "ranks share cores, or MPI's own shared memory does not work"
                        : "the MPI library goes by TCP: see whether it was built for this network",
                    "8 bytes take %.2f us to rank %d, on %s", ns * 1e-3, other,
                    is_near ? "the same node" : "another node");
    }
    free(node_of);
}

/* --- limits --- */

/* Communicators are bounded by the MPI library's context ids. */
static void
examine_communicators(struct ar_findings *findings, int rank)
{
    MPI_Comm made[SOME_COMMUNICATORS];
    int n = 0;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    while (n < SOME_COMMUNICATORS && MPI_Comm_dup(MPI_COMM_WORLD, &made[n]) == MPI_SUCCESS)
        n++;
    for (int i = 0; i < n; i++)
        MPI_Comm_free(&made[i]);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    if (rank == 0)
        ar_find(findings, n < SOME_COMMUNICATORS ? AR_VERDICT_WARNING : AR_VERDICT_OK, "limits",
                n < SOME_COMMUNICATORS ? "a program with many communicators may fail here" : NULL,
                "%s%d communicators can be made", n < SOME_COMMUNICATORS ? "only " : "", n);
}

void
ar_doctor_examine_job(struct ar_findings *findings)
{
    int rank, nranks;
    MPI_Comm node;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    if (rank == 0 && ar_rank_in_job() == 0)
        examine_launcher(findings, nranks);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    examine_binding(findings, node, rank, nranks);
    if (nranks > 1) {
        examine_arena(findings, node);
        examine_messages(findings, rank, nranks);
        examine_communicators(findings, rank);
    }
    MPI_Comm_free(&node);
}
