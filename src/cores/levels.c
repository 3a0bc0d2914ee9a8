#include <config.h>

#include "cores/levels.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cores/sysfs.h"
#include "select/select.h"

#define CPUS   "/sys/devices/system/cpu"
#define CPU    CPUS "/cpu%d/"
#define NODES  "/sys/devices/system/node"
#define CACHES 16 /* of one CPU, more than any has */

const char *
ar_cpu_level_name(enum ar_cpu_level level)
{
    static const char *const names[] = {
        [AR_CPU_CORE] = "core",
        [AR_CPU_CACHE] = "L3 cache",
        [AR_CPU_NUMA] = "NUMA node",
        [AR_CPU_SOCKET] = "socket",
    };
    return names[level];
}

/* --- files --- */

/* Sets *cpus to the set in this line of a file, and frees the line.  False, with *cpus untouched,
 * if there is no line or no set in it. */
static bool
take_map(struct ar_cpus *cpus, char *line)
{
    const bool is_read = line && ar_cpus_parse(cpus, line);
    free(line);
    return is_read;
}

/* The same with a number; a text that does not begin with one is 0. */
static bool
take_number(int *number, char *line)
{
    const bool is_read = line;
    if (is_read)
        *number = (int)strtol(line, NULL, 10);
    free(line);
    return is_read;
}

/* Has the system this CPU, and is it online?  One that cannot be switched off has no such file. */
static bool
is_online(const char *root, int cpu)
{
    char *path = NULL;
    int online = 1;
    const bool is_there =
        asprintf(&path, "%s" CPU "topology", root, cpu) >= 0 && access(path, F_OK) == 0;
    free(path);
    return is_there &&
           (!take_number(&online, ar_sysfs_line(root, CPU "online", cpu)) || online != 0);
}

/* NULL if that cannot be read. */
static DIR *
open_folder(const char *root, const char *name)
{
    char *path;
    if (asprintf(&path, "%s%s", root, name) < 0)
        return NULL;
    DIR *const folder = opendir(path);
    free(path);
    return folder;
}

void
ar_cpus_find_online(struct ar_cpus *cpus, const char *root)
{
    int cpu;
    memset(cpus, 0, sizeof *cpus);
    DIR *const folder = open_folder(root, CPUS);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (sscanf(entry->d_name, "cpu%d", &cpu) == 1 && cpu >= 0 && cpu < AR_CPUS_MAX &&
            is_online(root, cpu))
            ar_cpus_add(cpus, cpu);
    if (folder)
        closedir(folder);
}

/* --- one domain --- */

/* The second name is the one before Linux 5.2, which later kernels still have.  On AMD's family 15h
 * the siblings are the cores of a module, which have numbers of their own. */
static bool
read_core(struct ar_cpus *domain, const char *root, int cpu)
{
    struct ar_cpus siblings;
    int mine = 0, other = 0;
    if (!take_map(&siblings, ar_sysfs_line(root, CPU "topology/core_cpus", cpu)) &&
        !take_map(&siblings, ar_sysfs_line(root, CPU "topology/thread_siblings", cpu)))
        return false;
    if (!ar_cpus_have(&siblings, cpu))
        return false; /* nor is *domain touched */
    memset(domain, 0, sizeof *domain);
    const bool is_numbered = take_number(&mine, ar_sysfs_line(root, CPU "topology/core_id", cpu));
    for (int i = ar_cpus_next(&siblings, -1); i >= 0; i = ar_cpus_next(&siblings, i))
        if (i == cpu || !is_numbered ||
            !take_number(&other, ar_sysfs_line(root, CPU "topology/core_id", i)) || other == mine)
            ar_cpus_add(domain, i);
    return true;
}

static bool
read_socket(struct ar_cpus *domain, const char *root, int cpu)
{
    return take_map(domain, ar_sysfs_line(root, CPU "topology/package_cpus", cpu)) ||
           take_map(domain, ar_sysfs_line(root, CPU "topology/core_siblings", cpu));
}

/* Where Linux knows no clusters, each core is one of its own. */
static bool
read_cluster(struct ar_cpus *domain, const char *root, int cpu)
{
    struct ar_cpus cluster, core;
    if (!take_map(&cluster, ar_sysfs_line(root, CPU "topology/cluster_cpus", cpu)) ||
        !read_core(&core, root, cpu) || ar_cpus_count(&cluster) <= ar_cpus_count(&core))
        return false;
    *domain = cluster;
    return true;
}

/* The number of the CPU's cache of level 3 among its caches; -1: it has none. */
static int
find_cache(const char *root, int cpu)
{
    int level;
    for (int i = 0;
         i < CACHES && take_number(&level, ar_sysfs_line(root, CPU "cache/index%d/level", cpu, i));
         i++)
        if (level == 3)
            return i;
    return -1;
}

static bool
read_cache(struct ar_cpus *domain, const char *root, int cpu)
{
    const int i = find_cache(root, cpu);
    return i < 0
               ? read_cluster(domain, root, cpu)
               : take_map(domain, ar_sysfs_line(root, CPU "cache/index%d/shared_cpu_map", cpu, i));
}

size_t
ar_cpu_cache_bytes(const char *root, int cpu)
{
    const int i = find_cache(root, cpu);
    char *const line = i < 0 ? NULL : ar_sysfs_line(root, CPU "cache/index%d/size", cpu, i);
    size_t bytes = 0;
    if (line && !ar_size_parse_word(&bytes, ar_word_of(line)))
        bytes = 0;
    free(line);
    return bytes;
}

/* Nodes may have any numbers, and no CPUs. */
static bool
read_numa(struct ar_cpus *domain, const char *root, int cpu)
{
    struct ar_cpus node;
    bool is_found = false;
    int number;
    DIR *const folder = open_folder(root, NODES);
    for (struct dirent *entry; folder && !is_found && (entry = readdir(folder));)
        is_found = sscanf(entry->d_name, "node%d", &number) == 1 &&
                   take_map(&node, ar_sysfs_line(root, NODES "/node%d/cpumap", number)) &&
                   ar_cpus_have(&node, cpu);
    if (folder)
        closedir(folder);
    if (is_found)
        *domain = node;
    return is_found;
}

bool
ar_cpu_domain_read(struct ar_cpus *domain, const char *root, enum ar_cpu_level level, int cpu)
{
    static bool (*const readers[])(struct ar_cpus *, const char *, int) = {
        [AR_CPU_CORE] = read_core,
        [AR_CPU_CACHE] = read_cache,
        [AR_CPU_NUMA] = read_numa,
        [AR_CPU_SOCKET] = read_socket,
    };
    struct ar_cpus read;
    if (!readers[level](&read, root, cpu) || !ar_cpus_have(&read, cpu))
        return false;
    *domain = read;
    return true;
}

/* --- of a mask --- */

/* Are all CPUs of mask in the domain?  Offline ones do not count, so each CPU that is not in the
 * domain is looked up. */
static bool
is_within(const struct ar_cpus *mask, const struct ar_cpus *domain, const char *root)
{
    for (int cpu = ar_cpus_next(mask, -1); cpu >= 0; cpu = ar_cpus_next(mask, cpu))
        if (!ar_cpus_have(domain, cpu) && is_online(root, cpu))
            return false;
    return true;
}

void
ar_cpu_levels_find(struct ar_cpu_levels *levels, const char *root, const struct ar_cpus *mask)
{
    struct ar_cpus domain;
    int first = ar_cpus_next(mask, -1);
    while (first >= 0 && !is_online(root, first))
        first = ar_cpus_next(mask, first);
    for (int level = 0; level < AR_CPU_LEVELS; level++)
        if (first < 0 || !ar_cpu_domain_read(&domain, root, (enum ar_cpu_level)level, first))
            levels->domain[level] = AR_CPU_UNKNOWN;
        else if (is_within(mask, &domain, root))
            levels->domain[level] = ar_cpus_next(&domain, -1);
        else
            levels->domain[level] = AR_CPU_SPREAD;
}

int
ar_cpu_domains_count(const char *root, enum ar_cpu_level level, const struct ar_cpus *mask)
{
    struct ar_cpus rest = *mask, domain;
    int n = 0;
    for (int cpu = ar_cpus_next(&rest, -1); cpu >= 0; cpu = ar_cpus_next(&rest, cpu))
        if (is_online(root, cpu) && ar_cpu_domain_read(&domain, root, level, cpu)) {
            ar_cpus_remove(&rest, &domain);
            n++;
        }
    return n;
}
