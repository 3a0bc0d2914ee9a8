/* allreduce doctor: what is wrong with a set-up, and what to do about it.  What the ranks of a job
 * find together, the list of all checks, and the command. */
#include <config.h>

#include "helper/doctor.h"

#include <argp.h>
#include <mpi.h>
#include <stdarg.h>
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
#include "execute/xpmem.h"
#include "helper/job.h"
#include "report/columns.h"

#define PING_S    0.1
#define SLOW_NS   20000.0
#define ELSEWHERE 4.0 /* a machine file may be off by so much, and the noise be that */

/* --- findings --- */

static void
find(struct ar_doctor *doctor, enum ar_severity verdict, const char *advice, const char *text,
     va_list values)
{
    char *told = NULL;
    if (!doctor->speaks)
        return;
    const size_t n = doctor->nfindings;
    struct ar_finding *const grown = realloc(doctor->findings, (n + 1) * sizeof *grown);
    if (!grown || vasprintf(&told, text, values) < 0) {
        fprintf(stderr, "allreduce doctor: out of memory\n");
        exit(AR_EXIT_FAILED);
    }
    grown[n] = (struct ar_finding){verdict, doctor->check, told, advice};
    doctor->findings = grown;
    doctor->nfindings = n + 1;
}

void
ar_find(struct ar_doctor *doctor, enum ar_severity verdict, const char *text, ...)
{
    va_list values;
    va_start(values, text);
    find(doctor, verdict, verdict == AR_SEVERITY_OK ? NULL : doctor->check->advice, text, values);
    va_end(values);
}

void
ar_find_and_advise(struct ar_doctor *doctor, enum ar_severity verdict, const char *advice,
                   const char *text, ...)
{
    va_list values;
    va_start(values, text);
    find(doctor, verdict, advice, text, values);
    va_end(values);
}

/* --- a job: launcher and library --- */

/* Was it told of the program? */
static bool
is_told(const struct ar_doctor *doctor, const char *text)
{
    size_t i = 0;
    while (i < doctor->nfindings && !strstr(doctor->findings[i].text, text))
        i++;
    return i < doctor->nfindings;
}

static void
examine_launcher(struct ar_doctor *doctor)
{
    struct ar_launcher launcher;
    char why[512];
    if (!ar_launcher_find(&launcher, AR_MPI_FAMILY))
        return;
    if (!ar_launcher_splits(AR_MPI_FAMILY, doctor->nranks, why, sizeof why))
        ar_find(doctor, AR_SEVERITY_OK, "%s, MPI_COMM_WORLD of size %d", launcher.title,
                doctor->nranks);
    else if (!is_told(doctor, why))
        ar_find(doctor, AR_SEVERITY_WRONG, "%s", why);
}

static void
examine_mpi(struct ar_doctor *doctor)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(version, &length);
    version[strcspn(version, ",\n")] = '\0';
    for (char *tab = version; (tab = strchr(tab, '\t'));)
        *tab = ' ';
    ar_find(doctor, AR_SEVERITY_OK, "%s", version);
}

/* --- a job: its nodes --- */

/* The ranks of this node; the caller frees it.  Collective over the world. */
static MPI_Comm
join_node(int rank)
{
    MPI_Comm node;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    return node;
}

/* Measures what others do on the ranks' CPUs, into told of node's rank 0.  All ranks sleep
 * meanwhile, even those that come late to the first barrier, or early to the second.  Collective
 * over node, and at the same time over all other nodes of the machine. */
static void
look_at_load(struct ar_node_told *told, MPI_Comm node, int on_node, const struct ar_cpus *mine)
{
    struct ar_cpus together = *mine;
    /* No allreduce, here and below: where the library is preloaded, too, it would write the
     * statistics of its calls over those of a job. */
    ar_reduce_all(together.word, (int)sizeof together.word, MPI_BYTE, MPI_BOR, node);
    ar_cli_meet_asleep();
    if (on_node == 0)
        ar_node_tell_load(told, &together);
    ar_cli_meet_asleep();
}

/* Collective over the world; rank 0 of node gets what is told of it. */
static void
look_at_node(struct ar_node_told *told, const char *root, MPI_Comm node, int rank)
{
    struct ar_seat mine;
    int on_node, ranks;
    memset(told, 0, sizeof *told);
    memset(&mine, 0, sizeof mine);
    mine.rank = rank;
    ar_cpus_of_thread(&mine.cpus);
    mine.quotas = ar_cpu_quotas_find(root);
    MPI_Comm_rank(node, &on_node);
    MPI_Comm_size(node, &ranks);
    gethostname(told->host, sizeof told->host - 1);
    struct ar_seat *const seats =
        on_node == 0 ? ar_cli_need_memory(malloc((size_t)ranks * sizeof *seats)) : NULL;
    MPI_Gather(&mine, (int)sizeof mine, MPI_BYTE, seats, (int)sizeof mine, MPI_BYTE, 0, node);
    if (seats) {
        ar_node_tell_binding(told, root, seats, ranks);
        ar_node_tell_quota(told, seats, ranks);
    }
    free(seats);
    look_at_load(told, node, on_node, &mine.cpus);
}

/* Rank 0 of each node tells rank 0 of the world. */
static void
examine_nodes(struct ar_doctor *doctor)
{
    const int rank = doctor->rank;
    int on_node;
    MPI_Comm node = join_node(rank), heads;
    struct ar_node_told told;
    look_at_node(&told, doctor->root, node, rank);
    MPI_Comm_rank(node, &on_node);
    MPI_Comm_free(&node);
    MPI_Comm_split(MPI_COMM_WORLD, on_node == 0 ? 0 : MPI_UNDEFINED, rank, &heads);
    if (heads == MPI_COMM_NULL)
        return;
    MPI_Comm_size(heads, &doctor->nnodes);
    const size_t n = (size_t)doctor->nnodes;
    doctor->nodes = ar_cli_need_memory(malloc(n * sizeof *doctor->nodes));
    MPI_Gather(&told, (int)sizeof told, MPI_BYTE, doctor->nodes, (int)sizeof told, MPI_BYTE, 0,
               heads);
    MPI_Comm_free(&heads);
    ar_find(doctor, AR_SEVERITY_OK, "%d rank%s on %d node%s", doctor->nranks,
            ar_plural((size_t)doctor->nranks), doctor->nnodes, ar_plural(n));
}

static void
examine_sharing(struct ar_doctor *doctor)
{
    const struct ar_piece_needs needs = {.kind = 99, .slot_bytes = 4096, .slots = 1, .pieces = 1};
    MPI_Comm node = join_node(doctor->rank);
    struct ar_piece piece;
    int rank, nranks;
    MPI_Comm_rank(node, &rank);
    MPI_Comm_size(node, &nranks);
    const bool is_tried = nranks > 1; /* on this node */
    const struct ar_circle all = ar_circle_of(node, rank, nranks);
    int fails = is_tried && !ar_piece_borrow(&piece, &all, &needs);
    if (is_tried && !fails)
        ar_piece_return(&piece);
    MPI_Comm_free(&node);
    ar_reduce_all(&fails, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (fails)
        ar_find(doctor, AR_SEVERITY_WARNING,
                "%d ranks cannot share memory with the others of their node", fails);
}

/* --- a job: messages --- */

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

/* To the first rank behind rank 0 that is on the same node, or on another.  ns; 0: there is none.
 */
static double
examine_message(struct ar_doctor *doctor, bool is_near)
{
    const int n = doctor->nranks;
    int *const node_of = ar_cli_need_memory(malloc((size_t)n * sizeof *node_of));
    char time[AR_NUMBER_TEXT];
    int other = 1;
    if (ar_carrier_find_nodes(node_of, MPI_COMM_WORLD, doctor->rank, n))
        MPI_Abort(MPI_COMM_WORLD, AR_EXIT_FAILED);
    while (other < n && (node_of[other] == node_of[0]) != is_near)
        other++;
    free(node_of);
    if (other == n)
        return 0;
    const double ns = half_trip_ns(doctor->rank, other);
    ar_find(doctor, ns > SLOW_NS ? AR_SEVERITY_WARNING : AR_SEVERITY_OK,
            "8 bytes take %s to rank %d, on %s", ar_time_print(ns, time, sizeof time), other,
            is_near ? "the same node" : "another node");
    return ns;
}

static void
examine_near(struct ar_doctor *doctor)
{
    doctor->near_ns = examine_message(doctor, true);
}

static void
examine_far(struct ar_doctor *doctor)
{
    doctor->far_ns = examine_message(doctor, false);
}

/* --- rules and a machine file --- */

static void
examine_rules(struct ar_doctor *doctor)
{
    const char *const tuned = doctor->config->tuned;
    char text[AR_DIFFERENCE_TEXT];
    if (!tuned)
        return;
    if (!doctor->is_in_job)
        ar_find_and_advise(
            doctor, AR_SEVERITY_NOTE,
            "start the doctor with the launcher, so that it can compare that with this job",
            "the rules of ALLREDUCE_RULES were tuned on: %s", tuned);
    else if (ar_provenance_differs(text, tuned, doctor->nranks))
        ar_find(doctor, AR_SEVERITY_WARNING,
                "the rules of ALLREDUCE_RULES were tuned elsewhere: %s", text);
    else
        ar_find(doctor, AR_SEVERITY_OK,
                "the rules of ALLREDUCE_RULES were tuned on a machine like this one, for %d ranks",
                doctor->nranks);
}

/* By the latency alone, which has no noise from above: what a machine file predicts of one message,
 * beside what that took. */
static void
compare_machine(struct ar_doctor *doctor, const char *title, const struct ar_travel *travel,
                const char *where, double ns)
{
    const double told = travel->latency + 2 * travel->overhead;
    if (told <= 0 || ns <= 0) /* the file says nothing of this, or there was no message */
        return;
    char said[AR_NUMBER_TEXT], found[AR_NUMBER_TEXT];
    const bool differs = told > ELSEWHERE * ns || ns > ELSEWHERE * told;
    ar_find(doctor, differs ? AR_SEVERITY_WARNING : AR_SEVERITY_OK,
            "ALLREDUCE_MODEL (%s) says %s for a short message %s, but here it takes %s", title,
            ar_time_print(told, said, sizeof said), where, ar_time_print(ns, found, sizeof found));
}

/* A file that cannot be read is told with the settings. */
static void
examine_machine(struct ar_doctor *doctor)
{
    const char *const file = doctor->config->model_file;
    char why[AR_CONFIG_PROBLEM];
    struct ar_machine machine;
    struct ar_text text;
    ar_text_init(&text, why, sizeof why);
    if (!file || ar_model_file_read(&machine, file, &text))
        return;
    compare_machine(doctor, machine.title, &machine.node, "within a node", doctor->near_ns);
    compare_machine(doctor, machine.title, &machine.network, "between nodes", doctor->far_ns);
}

/* --- the list --- */

enum { IN_ANY_CASE = AR_ALONE | AR_IN_JOB };

static const struct ar_doctor_check checks[] = {
    {"settings", "Does the library understand its variables?", AR_BEFORE_MPI, ar_examine_settings,
     "see allreduce(7) for the variables that exist"},
    {"settings", "Are there settings of the MPI library's own allreduce?", AR_BEFORE_MPI,
     ar_examine_unused, NULL},
    {"preload", "Does the dynamic linker find what LD_PRELOAD names?", AR_BEFORE_MPI,
     ar_examine_preload, "give the path of a file that exists; the program would run without it"},
    {"library", "Where is the library?", AR_BEFORE_MPI, ar_examine_library,
     "give allreduce run --library FILE"},
    {"program", "Can the program have the library preloaded?", AR_BEFORE_MPI, ar_examine_program,
     NULL},
    {"device", "May calls of the program have device memory?", AR_BEFORE_MPI, ar_examine_runtime,
     "the MPI library must support device memory: see ompi_info (Open MPI) or mpichversion "
     "(MPICH)"},
    {"host", "Are ranks in other containers of this host seen?", AR_BEFORE_MPI, ar_examine_host,
     "if ranks are in several containers of a host that has fewer cores than ranks, set "
     "ALLREDUCE_WAIT=sleep"},
    {"kernel", "Are the system calls allowed that ranks need?", AR_BEFORE_MPI, ar_examine_calls,
     NULL},
    {"xpmem", "Can ranks read each other's buffers in place?", AR_BEFORE_MPI, ar_examine_xpmem,
     "only shm(copy=in_place) needs the library and a " AR_XPMEM_DEVICE
     " that the user may read and write"},
    {"memory", "Can processes share memory?", AR_BEFORE_MPI, ar_examine_memory,
     "in a container, give it a larger /dev/shm (docker: --shm-size), or the host's (--ipc=host)"},
    {"limits", "May a rank open enough files?", AR_BEFORE_MPI, ar_examine_files,
     "set ulimit -n 4096, or more than the number of ranks; the launcher's daemons on other nodes "
     "have limits of their own"},
    {"launcher", "Is the launcher the MPI library's?", AR_IN_JOB, examine_launcher, NULL},
    {"MPI", "Which MPI library do ranks have?", AR_IN_JOB, examine_mpi, NULL},
    {"cores", "Which CPUs are there?", AR_ALONE, ar_examine_cores, NULL},
    {"nodes", "How many nodes are there?", AR_TOGETHER, examine_nodes, NULL},
    {"binding", "Has each rank a core of its own?", AR_IN_JOB, ar_examine_binding, NULL},
    {"quota", "Have ranks the time of all CPUs that they may use?", IN_ANY_CASE, ar_examine_quota,
     "start no more ranks than that, or raise the limit (docker: --cpus; Kubernetes: limits.cpu; "
     "systemd: CPUQuota)"},
    {"load", "Have ranks the CPUs to themselves?", IN_ANY_CASE, ar_examine_load,
     "ranks wait for cores that other processes use: do not rely on what is measured now"},
    {"rules", "Were the rules tuned for this job?", IN_ANY_CASE, examine_rules,
     "allreduce tune makes new ones"},
    {"memory", "Do the ranks of each node share memory?", AR_TOGETHER, examine_sharing,
     "containers of one node: let them share /dev/shm (docker: --ipc=host), or the PID namespace"},
    {"messages", "Is a message within a node fast?", AR_TOGETHER, examine_near,
     "ranks share cores, or MPI's own shared memory does not work"},
    {"messages", "Is a message between nodes fast?", AR_TOGETHER, examine_far,
     "the MPI library uses TCP: check whether it was built for this network, and what the "
     "environment tells it of that (FI_PROVIDER, UCX_TLS, OMPI_MCA_btl)"},
    {"machine", "Is the machine of ALLREDUCE_MODEL this one?", AR_IN_JOB, examine_machine,
     "allreduce model measures this machine and writes a file"},
};

/* Makes the checks of these occasions. */
static void
examine(struct ar_doctor *doctor, unsigned occasions)
{
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
        doctor->check = &checks[i];
        if (checks[i].when & occasions)
            checks[i].examine(doctor);
    }
}

/* --- what is printed --- */

static const char *
severity_name(enum ar_severity verdict)
{
    static const char *const names[] = {
        [AR_SEVERITY_OK] = "ok",
        [AR_SEVERITY_NOTE] = "note",
        [AR_SEVERITY_WARNING] = "warning",
        [AR_SEVERITY_WRONG] = "wrong",
    };
    return names[verdict];
}

static enum ar_severity
worst_of(const struct ar_doctor *doctor)
{
    enum ar_severity worst = AR_SEVERITY_OK;
    for (size_t i = 0; i < doctor->nfindings; i++)
        if (doctor->findings[i].verdict > worst)
            worst = doctor->findings[i].verdict;
    return worst;
}

/* All but the first `told`.  Flushed, since MPI may end the process before more is found. */
static void
print_text(const struct ar_doctor *doctor, size_t told)
{
    static const enum ar_color colors[] = {AR_COLOR_GOOD, AR_COLOR_TITLE, AR_COLOR_WARNING,
                                           AR_COLOR_BAD};
    for (size_t i = told; i < doctor->nfindings; i++) {
        const struct ar_finding *const f = &doctor->findings[i];
        printf("%s%-7s%s  %-9s  %s\n", ar_color_begin(stdout, colors[f->verdict]),
               severity_name(f->verdict), ar_color_end(stdout), f->check->name, f->text);
        if (f->advice)
            printf("%20s-> %s\n", "", f->advice);
    }
    fflush(stdout);
}

static void
state_finding(struct ar_columns *c, const void *table, size_t i)
{
    const struct ar_finding *const f = &((const struct ar_doctor *)table)->findings[i];
    ar_column_text(c, "check", NULL, f->check->name);
    ar_column_text(c, "question", NULL, f->check->question);
    ar_column_text(c, "verdict", NULL, severity_name(f->verdict));
    ar_column_text(c, "text", NULL, f->text);
    ar_column_text(c, "advice", NULL, f->advice);
}

static void
print_json(const struct ar_doctor *doctor)
{
    printf("{\"format\": 1, \"verdict\": \"%s\",\n\"checks\": ", severity_name(worst_of(doctor)));
    ar_columns_write((struct ar_columns){.to = stdout,
                                         .format = AR_COLUMNS_JSON,
                                         .row = state_finding,
                                         .table = doctor,
                                         .n = doctor->nfindings});
    printf("}\n");
}

/* --- the command --- */

struct request {
    bool is_json;
    const char *program; /* NULL: none */
};

static error_t
parse_option(int key, char *value, struct argp_state *state)
{
    struct request *const request = state->input;
    switch (key) {
    case 'j':
        request->is_json = true;
        return 0;
    case ARGP_KEY_ARG:
        request->program = value;
        state->next = state->argc; /* the rest is the program's */
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* What it finds before MPI is started is printed then. */
static void
examine_and_print(struct ar_doctor *doctor, bool is_json)
{
    if (doctor->speaks)
        examine(doctor, AR_BEFORE_MPI | (doctor->is_in_job ? 0 : AR_ALONE));
    const size_t told = doctor->nfindings;
    if (!is_json)
        print_text(doctor, 0);
    if (doctor->is_in_job) {
        MPI_Init(NULL, NULL);
        MPI_Comm_rank(MPI_COMM_WORLD, &doctor->rank);
        MPI_Comm_size(MPI_COMM_WORLD, &doctor->nranks);
        examine(doctor, AR_TOGETHER | (doctor->speaks ? AR_IN_JOB : 0));
    }
    if (!is_json)
        print_text(doctor, told);
    else if (doctor->speaks)
        print_json(doctor);
}

int
ar_cli_doctor(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"json", 'j', NULL, 0, "Print JSON", 0},
        {0},
    };
    static const struct argp argp = {
        .options = options,
        .parser = parse_option,
        .args_doc = "[PROGRAM [ARGUMENT...]]",
        .doc = "Look for what is wrong with a set-up, and say what to do about it. Examines the "
               "settings, the library and the program. Under mpiexec, as in mpiexec -n 4 "
               "allreduce doctor ./app, it also examines the launcher, the binding of ranks, and "
               "what nodes share. The program is not run. The exit status is 1 if something is "
               "wrong.",
    };
    struct request request = {false, NULL};
    struct ar_launcher launcher;
    struct ar_doctor doctor = {.root = "",
                               .is_in_job = ar_launcher_find(&launcher, NULL),
                               .speaks = ar_rank_in_job() == 0};
    ar_cli_mute_others();
    ar_cli_parse_alone(&argp, ARGP_IN_ORDER, argc, argv, &request);
    ar_cli_part();
    doctor.program = request.program;
    doctor.config = doctor.speaks ? ar_config_from_environment(0) : NULL;
    if (doctor.speaks && !doctor.config) {
        fprintf(stderr, "allreduce doctor: out of memory\n");
        return AR_EXIT_FAILED;
    }
    examine_and_print(&doctor, request.is_json);
    const bool is_lost = doctor.speaks && (fflush(stdout) || ferror(stdout));
    const bool is_wrong = worst_of(&doctor) == AR_SEVERITY_WRONG;
    for (size_t i = 0; i < doctor.nfindings; i++)
        free(doctor.findings[i].text);
    free(doctor.findings);
    free(doctor.nodes);
    free(doctor.library);
    free(doctor.linked);
    ar_config_destroy(doctor.config);
    if (doctor.is_in_job)
        MPI_Finalize();
    return is_lost || is_wrong ? AR_EXIT_FAILED : AR_EXIT_DONE;
}
