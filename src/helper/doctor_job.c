#include <config.h>

#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "communicator/carrier.h"
#include "communicator/tuned_rules.h"
#include "config/config.h"
#include "config/files.h"
#include "config/rank.h"
#include "execute/arena.h"
#include "execute/group.h"
#include "helper/doctor.h"
#include "helper/job.h"
#include "select/number.h"

#define PING_S    0.1
#define SLOW_NS   20000.0
#define ELSEWHERE 4.0 /* a machine file may be off by so much, and the noise be that */

/* --- launcher and library --- */

/* Was it told of the program? */
static bool
is_told(const struct ar_findings *findings, const char *text)
{
    size_t i = 0;
    while (i < findings->n && !strstr(findings->finding[i].text, text))
        i++;
    return i < findings->n;
}

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
    const bool is_wrong = ar_launcher_splits(AR_MPI_FAMILY, nranks, why, sizeof why);
    if (is_wrong && !is_told(findings, why))
        ar_find(findings, AR_SEVERITY_WRONG, "launcher", NULL, "%s", why);
    else if (!is_wrong)
        ar_find(findings, AR_SEVERITY_OK, "launcher", NULL, "%s, MPI_COMM_WORLD of size %d",
                launcher.title, nranks);
    ar_find(findings, AR_SEVERITY_OK, "MPI", NULL, "%s", version);
}

/* --- cores --- */

/* What rank 0 of a node tells of it. */
struct node_told {
    struct ar_binding_told binding;
    struct ar_quota_told quota;
    char host[64];
    double busy; /* CPUs */
    int cpus;    /* that its ranks may use */
};

/* Measures what others do on the ranks' CPUs, into told of node's rank 0.  All ranks sleep
 * meanwhile, even those that come late to the first barrier, or early to the second.  Collective
 * over node, and at the same time over all other nodes of the machine. */
static void
look_at_load(struct node_told *told, MPI_Comm node, int on_node, const struct ar_cpus *mine)
{
    struct ar_cpus together = *mine;
    /* No allreduce, here and below: where the library is preloaded, too, it would write the
     * statistics of its calls over those of a job. */
    ar_reduce_all(together.word, (int)sizeof together.word, MPI_BYTE, MPI_BOR, node);
    ar_cli_meet_asleep();
    if (on_node == 0) {
        told->busy = ar_doctor_busy_cpus(&together);
        told->cpus = ar_cpus_count(&together);
    }
    ar_cli_meet_asleep();
}

/* Collective over the world; rank 0 of node gets what is told of it. */
static void
look_at_node(struct node_told *told, MPI_Comm node, int rank)
{
    struct ar_seat mine;
    int on_node, ranks;
    memset(told, 0, sizeof *told);
    memset(&mine, 0, sizeof mine);
    mine.rank = rank;
    ar_cpus_of_thread(&mine.cpus);
    mine.quotas = ar_cpu_quotas_find("");
    MPI_Comm_rank(node, &on_node);
    MPI_Comm_size(node, &ranks);
    gethostname(told->host, sizeof told->host - 1);
    struct ar_seat *const seats =
        on_node == 0 ? ar_cli_need_memory(malloc((size_t)ranks * sizeof *seats)) : NULL;
    MPI_Gather(&mine, (int)sizeof mine, MPI_BYTE, seats, (int)sizeof mine, MPI_BYTE, 0, node);
    if (seats) {
        ar_doctor_judge_binding(&told->binding, "", told->host, seats, ranks);
        told->quota = ar_doctor_judge_quota(seats, ranks);
    }
    free(seats);
    look_at_load(told, node, on_node, &mine.cpus);
}

/* Rank 0 of each node tells rank 0 of the world.  Collective over the world.  How many nodes there
 * are, on rank 0. */
static int
examine_nodes(struct ar_findings *findings, MPI_Comm node, int rank, int nranks)
{
    int on_node, nodes;
    MPI_Comm heads;
    struct node_told told;
    look_at_node(&told, node, rank);
    MPI_Comm_rank(node, &on_node);
    MPI_Comm_split(MPI_COMM_WORLD, on_node == 0 ? 0 : MPI_UNDEFINED, rank, &heads);
    if (heads == MPI_COMM_NULL)
        return 0;
    MPI_Comm_size(heads, &nodes);
    struct node_told *const all =
        rank == 0 ? ar_cli_need_memory(malloc((size_t)nodes * sizeof *all)) : NULL;
    MPI_Gather(&told, (int)sizeof told, MPI_BYTE, all, (int)sizeof told, MPI_BYTE, 0, heads);
    if (all)
        ar_find(findings, AR_SEVERITY_OK, "nodes", NULL, "%d rank%s on %d node%s", nranks,
                ar_plural((size_t)nranks), nodes, ar_plural((size_t)nodes));
    for (int i = 0; all && i < nodes; i++) {
        ar_doctor_tell_binding(findings, &all[i].binding);
        ar_doctor_tell_quota(findings, all[i].host, &all[i].quota);
        ar_doctor_tell_load(findings, all[i].host, all[i].busy, all[i].cpus);
    }
    free(all);
    MPI_Comm_free(&heads);
    return nodes;
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
    ar_reduce_all(&fails, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0 && fails)
        ar_find(findings, AR_SEVERITY_WARNING, "memory",
                "containers of one node: let them share /dev/shm (docker: --ipc=host), or the PID "
                "namespace",
                "%d ranks cannot share memory with the others of their node", fails);
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

/* Does a machine file speak of another machine?  By the latency alone, which has no noise from
 * above: what it predicts of one message, beside what that took. */
static void
compare_machine(struct ar_findings *findings, const char *title, const struct ar_travel *travel,
                const char *where, double ns)
{
    const double told = travel->latency + 2 * travel->overhead;
    if (told <= 0) /* the file says nothing of this */
        return;
    char said[AR_NUMBER_TEXT], found[AR_NUMBER_TEXT];
    const bool differs = told > ELSEWHERE * ns || ns > ELSEWHERE * told;
    ar_find(findings, differs ? AR_SEVERITY_WARNING : AR_SEVERITY_OK, "machine",
            differs ? "allreduce model measures this machine and writes a file" : NULL,
            "ALLREDUCE_MODEL (%s) says %s for a short message %s, but here it takes %s", title,
            ar_time_print(told, said, sizeof said), where, ar_time_print(ns, found, sizeof found));
}

static void
examine_message(struct ar_findings *findings, const struct ar_machine *machine, int other,
                bool is_near, double ns)
{
    const bool is_slow = ns > SLOW_NS;
    char time[AR_NUMBER_TEXT];
    ar_find(findings, is_slow ? AR_SEVERITY_WARNING : AR_SEVERITY_OK, "messages",
            !is_slow  ? NULL
            : is_near ? "ranks share cores, or MPI's own shared memory does not work"
                      : "the MPI library uses TCP: check whether it was built for this network",
            "8 bytes take %s to rank %d, on %s", ar_time_print(ns, time, sizeof time), other,
            is_near ? "the same node" : "another node");
    if (machine)
        compare_machine(findings, machine->title, is_near ? &machine->node : &machine->network,
                        is_near ? "within a node" : "between nodes", ns);
}

/* The model is the machine file's, if rank 0 has one. */
static void
examine_messages(struct ar_findings *findings, const struct ar_machine *machine, int rank,
                 int nranks)
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
        const double ns = half_trip_ns(rank, other);
        if (rank == 0)
            examine_message(findings, machine, other, node_of[other] == node_of[0], ns);
    }
    free(node_of);
}

/* --- rules and a machine file --- */

static void
examine_rules(struct ar_findings *findings, const struct ar_config *config, int nranks)
{
    char text[AR_DIFFERENCE_TEXT];
    if (!config->tuned)
        return;
    if (ar_provenance_differs(text, config->tuned, nranks))
        ar_find(findings, AR_SEVERITY_WARNING, "rules", "allreduce tune makes new ones",
                "the rules of ALLREDUCE_RULES were tuned elsewhere: %s", text);
    else
        ar_find(findings, AR_SEVERITY_OK, "rules", NULL,
                "the rules of ALLREDUCE_RULES were tuned on a machine like this one, for %d ranks",
                nranks);
}

/* The machine of ALLREDUCE_MODEL; false: there is none, or it is told with the settings. */
static bool
read_machine(struct ar_machine *machine, const struct ar_config *config)
{
    char why[AR_CONFIG_PROBLEM];
    struct ar_text text;
    ar_text_init(&text, why, sizeof why);
    return config->model_file && !ar_model_file_read(machine, config->model_file, &text);
}

void
ar_doctor_examine_job(struct ar_findings *findings)
{
    int rank, nranks;
    MPI_Comm node;
    struct ar_machine machine;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    struct ar_config *const config = rank == 0 ? ar_config_from_environment(0) : NULL;
    if (rank == 0 && ar_rank_in_job() == 0)
        examine_launcher(findings, nranks);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    const int nodes = examine_nodes(findings, node, rank, nranks);
    if (rank == 0)
        ar_doctor_examine_network(findings, "", nodes);
    if (config)
        examine_rules(findings, config, nranks);
    if (nranks > 1) {
        examine_arena(findings, node);
        examine_messages(findings, config && read_machine(&machine, config) ? &machine : NULL, rank,
                         nranks);
    }
    MPI_Comm_free(&node);
    ar_config_destroy(config);
}
