/* A node: how its ranks are bound, and its network. */
#include <config.h>

#include "helper/doctor.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cores/levels.h"
#include "cores/sysfs.h"
#include "select/number.h"
#include "select/words.h"

#define LEAST_LOCKED ((rlim_t)64 << 20) /* what RDMA needs for a few connections */

/* --- words --- */

/* "3 L3 caches" */
static void
add_count(struct ar_text *t, const char *before, int n, const char *what)
{
    ar_text_add(t, "%s%d %s%s", before, n, what, ar_plural((size_t)n));
}

/* "rank 2 is", "ranks 0-3 are" */
static void
add_ranks(struct ar_text *t, const int *ranks, int n)
{
    ar_text_add(t, n == 1 ? "rank " : "ranks ");
    ar_text_add_runs(t, ranks, n, ",");
    ar_text_add(t, n == 1 ? " is" : " are");
}

static void
add_cpus(struct ar_text *t, const struct ar_cpus *cpus)
{
    ar_text_add(t, ar_cpus_count(cpus) == 1 ? "CPU " : "CPUs ");
    ar_cpus_print(t, cpus);
}

/* Adds " 2 sockets, 4 L3 caches": the number for each level where it is not 0.  Where several
 * levels have the same number, only the widest is named. */
static void
add_levels(struct ar_text *t, const char *before, const int counts[AR_CPU_LEVELS])
{
    int last = 0;
    for (int level = AR_CPU_SOCKET; level > AR_CPU_CORE; level--)
        if (counts[level] > 0 && counts[level] != last) {
            last = counts[level];
            add_count(t, before, last, ar_cpu_level_name((enum ar_cpu_level)level));
            before = ", ";
        }
}

/* --- how the ranks of a node are bound --- */

/* A node's ranks, and what follows from where each may run. */
struct view {
    const char *root;
    const struct ar_seat *seats;
    int n;
    struct ar_cpu_levels *levels; /* of each seat */
    struct ar_cpus together;
    int *some; /* room for n ranks */
};

static void
join(struct ar_cpus *cpus, const struct ar_cpus *others)
{
    for (int cpu = ar_cpus_next(others, -1); cpu >= 0; cpu = ar_cpus_next(others, cpu))
        ar_cpus_add(cpus, cpu);
}

static bool
contains(const struct ar_cpus *cpus, const struct ar_cpus *others)
{
    struct ar_cpus rest = *others;
    ar_cpus_remove(&rest, cpus);
    return ar_cpus_next(&rest, -1) < 0;
}

/* Ranks that have no more than these CPUs, into v->some; how many? */
static int
find_within(const struct view *v, const struct ar_cpus *cpus)
{
    int n = 0;
    for (int i = 0; i < v->n; i++)
        if (contains(cpus, &v->seats[i].cpus))
            v->some[n++] = v->seats[i].rank;
    return n;
}

/* All ranks that are bound to this core, into v->some; how many? */
static int
find_on_core(const struct view *v, int core)
{
    int n = 0;
    for (int i = 0; i < v->n; i++)
        if (v->levels[i].domain[AR_CPU_CORE] == core)
            v->some[n++] = v->seats[i].rank;
    return n;
}

/* Are some ranks bound to fewer CPUs than there are of them?  Tells those with the fewest CPUs. */
static bool
judge_crowd(const struct view *v, struct ar_text *t)
{
    const struct ar_cpus *crowded = ar_cpus_count(&v->together) < v->n ? &v->together : NULL;
    for (int i = 0; i < v->n; i++) {
        const struct ar_cpus *const cpus = &v->seats[i].cpus;
        if (find_within(v, cpus) > ar_cpus_count(cpus) &&
            (!crowded || ar_cpus_count(cpus) < ar_cpus_count(crowded)))
            crowded = cpus;
    }
    const int ranks = crowded ? find_within(v, crowded) : 0;
    if (ranks == v->n) {
        ar_text_add(t, "%d ranks share ", ranks);
    } else if (ranks > 0) {
        add_ranks(t, v->some, ranks);
        ar_text_add(t, " all bound to ");
    }
    if (ranks > 0)
        add_cpus(t, crowded);
    return ranks > 0;
}

/* Are several ranks bound to one core, to threads of their own? */
static bool
judge_threads(const struct view *v, struct ar_text *t)
{
    struct ar_cpus core;
    int shared = 0;
    for (int i = 0; i < v->n; i++) {
        const int name = v->levels[i].domain[AR_CPU_CORE];
        const int ranks = name < 0 ? 0 : find_on_core(v, name);
        if (ranks < 2 || v->some[0] != v->seats[i].rank ||
            !ar_cpu_domain_read(&core, v->root, AR_CPU_CORE, name))
            continue;
        if (shared++ > 0)
            continue;
        add_ranks(t, v->some, ranks);
        ar_text_add(t, " bound to hardware threads of one core, ");
        add_cpus(t, &core);
    }
    if (shared > 1)
        ar_text_add(t,
                    shared == 2 ? "; the same is true of 1 other core"
                                : "; the same is true of %d other cores",
                    shared - 1);
    return shared > 0;
}

static int
count_cores(const char *root)
{
    struct ar_cpus online;
    ar_cpus_find_online(&online, root);
    return ar_cpu_domains_count(root, AR_CPU_CORE, &online);
}

/* All ranks have the same CPUs, more than one core of them. */
static void
judge_free(const struct view *v, struct ar_text *t)
{
    const struct ar_cpu_levels *const where = &v->levels[0];
    int counts[AR_CPU_LEVELS];
    for (int level = 0; level < AR_CPU_LEVELS; level++)
        counts[level] = ar_cpu_domains_count(v->root, (enum ar_cpu_level)level, &v->together);
    find_within(v, &v->together);
    add_ranks(t, v->some, v->n);
    add_count(t, " not bound, and may move among ", ar_cpus_count(&v->together), "CPU");
    add_levels(t, " of ", counts);
    if (where->domain[AR_CPU_SOCKET] == AR_CPU_SPREAD ||
        (where->domain[AR_CPU_SOCKET] < 0 && where->domain[AR_CPU_NUMA] == AR_CPU_SPREAD))
        ar_text_add(t, ": grouped by node only");
    else if (where->domain[AR_CPU_CACHE] == AR_CPU_SPREAD ||
             where->domain[AR_CPU_NUMA] == AR_CPU_SPREAD)
        ar_text_add(t, ": not grouped within it");
}

/* The smallest level at which the rank is bound; AR_CPU_LEVELS: at none. */
static int
bound_at(const struct ar_cpu_levels *levels)
{
    int level = 0;
    while (level < AR_CPU_LEVELS && levels->domain[level] < 0)
        level++;
    return level;
}

/* How many domains of the level do the ranks have, each one of its own or not; 0: one is in
 * several, or it is not known. */
static int
count_domains(const struct view *v, int level)
{
    int n = 0;
    for (int i = 0; i < v->n; i++) {
        int before = 0;
        while (v->levels[before].domain[level] != v->levels[i].domain[level])
            before++;
        if (v->levels[i].domain[level] < 0)
            return 0;
        n += before == i;
    }
    return n;
}

/* Each rank has CPUs that are enough. */
static void
judge_bound(const struct view *v, struct ar_text *t)
{
    int widest = 0, fewest = AR_CPUS_MAX, most = 0, counts[AR_CPU_LEVELS];
    for (int i = 0; i < v->n; i++) {
        const int level = bound_at(&v->levels[i]), cpus = ar_cpus_count(&v->seats[i].cpus);
        widest = level > widest ? level : widest;
        fewest = cpus < fewest ? cpus : fewest;
        most = cpus > most ? cpus : most;
    }
    find_within(v, &v->together);
    add_ranks(t, v->some, v->n);
    if (widest == AR_CPU_CORE)
        ar_text_add(t, " bound to one core%s", v->n > 1 ? " each" : "");
    else if (fewest == most)
        add_count(t, " bound to ", most, "CPU");
    else
        ar_text_add(t, " bound to %d to %d CPUs", fewest, most);
    if (widest > AR_CPU_CORE && widest < AR_CPU_LEVELS)
        ar_text_add(t, " within one %s%s", ar_cpu_level_name((enum ar_cpu_level)widest),
                    v->n > 1 ? " each" : "");
    else if (widest > AR_CPU_CORE && v->n > 1)
        ar_text_add(t, " each");
    for (int level = 0; level < AR_CPU_LEVELS; level++)
        counts[level] = count_domains(v, level);
    add_levels(t, ", on ", counts);
}

static enum ar_binding
judge(const struct view *v, struct ar_text *t)
{
    bool are_alike = v->levels[0].domain[AR_CPU_CORE] < 0;
    for (int i = 0; i < v->n; i++)
        are_alike &= contains(&v->seats[i].cpus, &v->together);
    if (judge_crowd(v, t))
        return AR_BINDING_CROWDED;
    if (judge_threads(v, t))
        return count_cores(v->root) < v->n ? AR_BINDING_FULL : AR_BINDING_THREADS;
    if (are_alike) {
        judge_free(v, t);
        return v->n > 1 ? AR_BINDING_NONE : AR_BINDING_SOUND;
    }
    judge_bound(v, t);
    return AR_BINDING_SOUND;
}

void
ar_node_tell_binding(struct ar_node_told *node, const char *root, const struct ar_seat *seats,
                     int n)
{
    struct ar_text text;
    struct view v = {.root = root, .seats = seats, .n = n};
    v.levels = calloc((size_t)n, sizeof *v.levels);
    v.some = calloc((size_t)n, sizeof *v.some);
    ar_text_init(&text, node->bound, sizeof node->bound);
    node->binding = AR_BINDING_SOUND;
    for (int i = 0; v.levels && i < n; i++) {
        ar_cpu_levels_find(&v.levels[i], root, &seats[i].cpus);
        join(&v.together, &seats[i].cpus);
    }
    if (v.levels && v.some)
        node->binding = judge(&v, &text);
    else
        ar_text_add(&text, "out of memory");
    free(v.levels);
    free(v.some);
}

void
ar_examine_binding(struct ar_doctor *doctor)
{
    static const struct {
        enum ar_severity verdict;
        const char *advice;
    } kinds[] = {
        [AR_BINDING_CROWDED] =
            {AR_SEVERITY_WARNING,
             "start no more ranks than there are cores, and let the launcher give each rank a core "
             "of its own: mpiexec -bind-to core, or srun --cpu-bind=cores"},
        [AR_BINDING_THREADS] = {AR_SEVERITY_WARNING,
                                "let the launcher give each rank a core of its own: mpiexec "
                                "-bind-to core, or srun --cpu-bind=cores"},
        [AR_BINDING_FULL] = {AR_SEVERITY_NOTE, "two ranks on one core share its execution units: "
                                               "try whether one rank per core is just as fast"},
        [AR_BINDING_NONE] = {AR_SEVERITY_NOTE,
                             "bind the ranks, so that each stays near its cache and the library "
                             "knows which ranks are near each other: mpiexec -bind-to core"},
        [AR_BINDING_SOUND] = {AR_SEVERITY_OK, NULL},
    };
    for (int i = 0; doctor->nodes && i < doctor->nnodes; i++) {
        const struct ar_node_told *const node = &doctor->nodes[i];
        ar_find_and_advise(doctor, kinds[node->binding].verdict, kinds[node->binding].advice,
                           "%s: %s", node->host, node->bound);
    }
}

/* --- limits of CPU time --- */

static bool
is_within(const struct ar_seat *seat, const struct ar_cpu_quota *quota)
{
    bool is = false;
    for (int i = 0; i < seat->quotas.n; i++)
        is |= seat->quotas.of[i].cgroup == quota->cgroup;
    return is;
}

void
ar_node_tell_quota(struct ar_node_told *node, const struct ar_seat *seats, int n)
{
    node->quota = 0;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < seats[i].quotas.n; k++) {
            const struct ar_cpu_quota *const quota = &seats[i].quotas.of[k];
            struct ar_cpus together = {{0}};
            int ranks = 0;
            for (int other = 0; other < n; other++)
                if (is_within(&seats[other], quota)) {
                    ranks++;
                    join(&together, &seats[other].cpus);
                }
            const int cpus = ar_cpus_count(&together);
            if (quota->cpus >= cpus ||
                (node->quota > 0 && ranks - quota->cpus <= node->quota_ranks - node->quota))
                continue;
            node->quota = quota->cpus;
            node->quota_ranks = ranks;
            node->quota_cpus = cpus;
        }
}

void
ar_examine_quota(struct ar_doctor *doctor)
{
    for (int i = 0; i < doctor->nnodes; i++) {
        const struct ar_node_told *const node = &doctor->nodes[i];
        if (node->quota > 0)
            ar_find(doctor,
                    node->quota_ranks > node->quota ? AR_SEVERITY_WARNING : AR_SEVERITY_NOTE,
                    "%s%sa cgroup limits %d rank%s to the time of %d of %d CPUs", node->host,
                    node->host[0] ? ": " : "", node->quota_ranks,
                    ar_plural((size_t)node->quota_ranks), node->quota, node->quota_cpus);
    }
}

/* --- adapters --- */

/* The files below root that the pattern names, in the order of their names; the caller frees them
 * by globfree. */
static void
find_files(glob_t *found, const char *root, const char *pattern)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s%s", root, pattern);
    glob(path, 0, NULL, found);
}

/* What a file of the folder says; "" if nothing. */
static void
take_word(char word[64], const char *folder, const char *file)
{
    char *const line = ar_sysfs_line("", "%s/%s", folder, file);
    snprintf(word, 64, "%s", line ? line : "");
    free(line);
}

static void
add_name(struct ar_adapters *adapters, const char *name, size_t length)
{
    char *const names = adapters->names;
    const size_t used = strlen(names);
    snprintf(names + used, sizeof adapters->names - used, "%s%.*s ", used ? "" : " ", (int)length,
             name);
}

static bool
needs_no_network(const struct ar_doctor *doctor)
{
    return doctor->is_in_job && doctor->nnodes == 1;
}

/* A port of an InfiniBand, Omni-Path or RoCE card. */
static void
examine_port(struct ar_doctor *doctor, const char *folder, const char *card)
{
    char state[64], physical[64], rate[64], kind[64];
    const int length = (int)strcspn(card, "/");
    const char *const port = strrchr(folder, '/') + 1;
    take_word(state, folder, "state");
    take_word(physical, folder, "phys_state");
    take_word(rate, folder, "rate");
    take_word(kind, folder, "link_layer");
    add_name(&doctor->adapters, card, (size_t)length);
    if (*state == '\0')
        return;
    doctor->adapters.ports++;
    if (strstr(state, "ACTIVE")) {
        doctor->adapters.active++;
        ar_find(doctor, AR_SEVERITY_OK, "%.*s port %s (%s) is up, %s", length, card, port,
                *kind ? kind : "InfiniBand", rate);
    } else {
        ar_find(doctor, AR_SEVERITY_WARNING, "%.*s port %s (%s) is down: state %s, physically %s",
                length, card, port, *kind ? kind : "InfiniBand", state,
                *physical ? physical : "unknown");
    }
}

void
ar_examine_ports(struct ar_doctor *doctor)
{
    static const char cards[] = "/sys/class/infiniband/";
    glob_t ports = {0};
    if (needs_no_network(doctor))
        return;
    find_files(&ports, doctor->root, "/sys/class/infiniband/*/ports/*");
    for (size_t i = 0; i < ports.gl_pathc; i++)
        examine_port(doctor, ports.gl_pathv[i],
                     ports.gl_pathv[i] + strlen(doctor->root) + strlen(cards));
    globfree(&ports);
}

/* Of Ethernet, or what looks like it to IP.  Those of hardware count, and others that are up. */
static void
add_link(struct ar_text *list, struct ar_adapters *adapters, const char *folder)
{
    char type[64], state[64], speed[64], device[PATH_MAX];
    const char *const name = strrchr(folder, '/') + 1;
    take_word(type, folder, "type");
    if (strcmp(type, "772") == 0 || strcmp(name, "lo") == 0) /* ARPHRD_LOOPBACK */
        return;
    add_name(adapters, name, strlen(name));
    take_word(state, folder, "operstate");
    take_word(speed, folder, "speed");
    snprintf(device, sizeof device, "%s/device", folder);
    const bool is_up = strcmp(state, "up") == 0;
    if (!is_up && access(device, F_OK))
        return;
    ar_text_add(list, "%s%s is %s", adapters->links++ > 0 ? ", " : "", name, is_up ? "up" : "down");
    if (is_up && strtol(speed, NULL, 10) > 0)
        ar_text_add(list, " (%s Mbit/s)", speed);
    adapters->up += is_up;
}

void
ar_examine_links(struct ar_doctor *doctor)
{
    struct ar_adapters *const adapters = &doctor->adapters;
    char text[512];
    struct ar_text list;
    glob_t links = {0};
    if (needs_no_network(doctor)) {
        ar_find(doctor, AR_SEVERITY_OK, "not needed: all ranks are on one node");
        return;
    }
    ar_text_init(&list, text, sizeof text);
    find_files(&links, doctor->root, "/sys/class/net/*");
    for (size_t i = 0; i < links.gl_pathc; i++)
        add_link(&list, adapters, links.gl_pathv[i]);
    globfree(&links);
    if (adapters->up > 0 || adapters->active > 0)
        ar_find(doctor, AR_SEVERITY_OK, "%s", adapters->links > 0 ? text : "no Ethernet");
    else
        ar_find(doctor, doctor->is_in_job ? AR_SEVERITY_WARNING : AR_SEVERITY_NOTE,
                "only the loopback interface is up%s%s", adapters->links > 0 ? ": " : "", text);
}

/* --- what the environment says --- */

/* Variables that decide by which network messages go. */
enum variable_kind { KIND_TRANSPORT, KIND_DEVICE, KIND_OTHER };
static const struct {
    const char *name;
    enum variable_kind kind;
} variables[] = {
    {"FI_PROVIDER", KIND_TRANSPORT},
    {"FI_TCP_IFACE", KIND_DEVICE},
    {"FI_SOCKETS_IFACE", KIND_DEVICE},
    {"FI_VERBS_IFACE", KIND_DEVICE},
    {"UCX_TLS", KIND_TRANSPORT},
    {"UCX_NET_DEVICES", KIND_DEVICE},
    {"OMPI_MCA_pml", KIND_OTHER},
    {"OMPI_MCA_mtl", KIND_OTHER},
    {"OMPI_MCA_btl", KIND_TRANSPORT},
    {"OMPI_MCA_btl_tcp_if_include", KIND_DEVICE},
    {"OMPI_MCA_btl_tcp_if_exclude", KIND_OTHER},
    {"MPIR_CVAR_CH4_NETMOD", KIND_OTHER},
    {"MPICH_NETMOD", KIND_OTHER},
    {"MPIR_CVAR_OFI_USE_PROVIDER", KIND_TRANSPORT},
    {"MPICH_OFI_USE_PROVIDER", KIND_TRANSPORT},
    {"MPICH_OFI_NIC_POLICY", KIND_OTHER},
    {"I_MPI_FABRICS", KIND_OTHER},
    {"I_MPI_OFI_PROVIDER", KIND_TRANSPORT},
    {"HYDRA_IFACE", KIND_DEVICE},
};

enum { VARIABLES = sizeof variables / sizeof variables[0] };

static const char *const by_tcp[] = {"tcp", "sockets", "udp", NULL};
/* Of cards below /sys/class/infiniband, where those of Slingshot (cxi) are not. */
static const char *const by_rdma[] = {"verbs",    "psm2",     "psm3",    "opx",    "efa",  "ib",
                                      "rc",       "ud",       "dc",      "rc_x",   "ud_x", "dc_x",
                                      "rc_mlx5",  "ud_mlx5",  "dc_mlx5", "openib", "rc_v", "ud_v",
                                      "rc_verbs", "ud_verbs", "mlx",     NULL};

/* How many words of a list are among the names?  A list that begins with ^ tells what is not
 * taken: 0. */
static int
count_among(const char *list, const char *const *names)
{
    int n = 0;
    if (*list == '^')
        return 0;
    while (*list) {
        const size_t length = strcspn(list, ",;: ");
        n += ar_word_among((struct ar_word){list, length}, names) >= 0;
        list += length + (list[length] != '\0');
    }
    return n;
}

/* A setting against what is there. */
static void
examine_transport(struct ar_doctor *doctor, const char *name, const char *value)
{
    const struct ar_adapters *const there = &doctor->adapters;
    const int tcp = count_among(value, by_tcp), rdma = count_among(value, by_rdma);
    if (tcp > 0 && rdma == 0 && there->active > 0 && !strstr(value, "all"))
        ar_find(doctor, AR_SEVERITY_WARNING,
                "%s=%s sends messages by TCP, though a faster network is up", name, value);
    else if (rdma > 0 && tcp == 0 && there->ports == 0)
        ar_find(doctor, AR_SEVERITY_WARNING,
                "%s=%s, but no card for it is in /sys/class/infiniband", name, value);
}

/* Devices that are named and are not there; networks by address, as 10.0.0.0/8, are left out. */
static void
examine_names(struct ar_doctor *doctor, const char *name, const char *value)
{
    char device[128];
    while (*value) {
        const size_t length = strcspn(value, ",; ");
        const size_t word = strcspn(value, ",; :");
        snprintf(device, sizeof device, " %.*s ", (int)word, value);
        if (word > 0 && !memchr(value, '/', word) && strcmp(device, " all ") != 0 &&
            strcmp(device, " lo ") != 0 && !strstr(doctor->adapters.names, device))
            ar_find(doctor, AR_SEVERITY_WARNING, "%s names %.*s, which this node does not have",
                    name, (int)word, value);
        value += length + (value[length] != '\0');
    }
}

void
ar_examine_transports(struct ar_doctor *doctor)
{
    char list[1024];
    struct ar_text text;
    if (needs_no_network(doctor))
        return;
    ar_text_init(&text, list, sizeof list);
    for (int i = 0; i < VARIABLES; i++) {
        const char *const value = getenv(variables[i].name);
        if (!value || !*value)
            continue;
        ar_text_add(&text, "%s%s=", text.length ? ", " : "", variables[i].name);
        ar_text_escape(&text, ar_word_of(value));
        if (variables[i].kind == KIND_TRANSPORT)
            examine_transport(doctor, variables[i].name, value);
        else if (variables[i].kind == KIND_DEVICE)
            examine_names(doctor, variables[i].name, value);
    }
    ar_find(doctor, AR_SEVERITY_OK,
            text.length ? "the environment tells MPI: %s"
                        : "the environment lets MPI choose the network%s",
            list);
}

void
ar_examine_locking(struct ar_doctor *doctor)
{
    struct rlimit locked;
    if (doctor->adapters.active > 0 && getrlimit(RLIMIT_MEMLOCK, &locked) == 0 &&
        locked.rlim_cur < LEAST_LOCKED)
        ar_find(doctor, AR_SEVERITY_WARNING,
                "only %llu KiB of memory may be locked: RDMA needs more",
                (unsigned long long)locked.rlim_cur >> 10);
}
