/* A node: how its ranks are bound, and limits of their CPU time. */
#include <config.h>

#include "helper/doctor.h"

#include <stdlib.h>

#include "cores/levels.h"
#include "select/number.h"
#include "select/words.h"

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
