#include <config.h>

#include "cores/levels.h"

#include <dirent.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CPUS   "/sys/devices/system/cpu"
#define CPU    CPUS "/cpu%d/"
#define NODES  "/sys/devices/system/node"
#define CACHES 16 /* of one CPU, more than any has */

/* --- files --- */

/* The first line of the file that root and the format name.  Malloced; NULL: it cannot be read. */
static char *__attribute__((format(printf, 2, 0)))
read_line(const char *root, const char *format, va_list values)
{
    char path[PATH_MAX], *line = NULL;
    size_t room = 0;
    const int length = snprintf(path, sizeof path, "%s", root);
    if (length < 0 || length >= PATH_MAX ||
        vsnprintf(path + length, sizeof path - (size_t)length, format, values) >= PATH_MAX - length)
        return NULL;
    FILE *const file = fopen(path, "re");
    if (file && getline(&line, &room, file) < 0) {
        free(line);
        line = NULL;
    }
    if (file)
        fclose(file);
    return line;
}

/* Sets *cpus to the set in a file; false, and it is untouched, where there is none. */
static bool __attribute__((format(printf, 3, 4)))
read_map(struct ar_cpus *cpus, const char *root, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    char *const line = read_line(root, format, values);
    va_end(values);
    const bool is_read = line && ar_cpus_parse(cpus, line);
    free(line);
    return is_read;
}

/* The same with a number; a text that does not begin with one is 0. */
static bool __attribute__((format(printf, 3, 4)))
read_number(int *number, const char *root, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    char *const line = read_line(root, format, values);
    va_end(values);
    if (line)
        *number = (int)strtol(line, NULL, 10);
    free(line);
    return line != NULL;
}

/* Has the system this CPU, and is it online?  One that cannot be switched off has no such file. */
static bool
is_online(const char *root, int cpu)
{
    char path[PATH_MAX];
    int online = 1;
    return snprintf(path, sizeof path, "%s" CPU "topology", root, cpu) < PATH_MAX &&
           access(path, F_OK) == 0 &&
           (!read_number(&online, root, CPU "online", cpu) || online != 0);
}

void
ar_cpus_find_online(struct ar_cpus *cpus, const char *root)
{
    char path[PATH_MAX];
    int cpu;
    memset(cpus, 0, sizeof *cpus);
    if (snprintf(path, sizeof path, "%s" CPUS, root) >= PATH_MAX)
        return;
    DIR *const folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (sscanf(entry->d_name, "cpu%d", &cpu) == 1 && cpu >= 0 && cpu < AR_CPUS_MAX &&
            is_online(root, cpu))
            ar_cpus_add(cpus, cpu);
    if (folder)
        closedir(folder);
}

/* --- one domain --- */

/* The names before Linux 5.2 stand behind the others, and are still there.  On AMD's family 15h the
 * siblings are the cores of a module, which have numbers of their own. */
static bool
read_core(struct ar_cpus *domain, const char *root, int cpu)
{
    struct ar_cpus siblings, core;
    int mine, other;
    if (!read_map(&siblings, root, CPU "topology/core_cpus", cpu) &&
        !read_map(&siblings, root, CPU "topology/thread_siblings", cpu))
        return false;
    memset(&core, 0, sizeof core);
    const bool is_numbered = read_number(&mine, root, CPU "topology/core_id", cpu);
    for (int i = ar_cpus_next(&siblings, -1); i >= 0; i = ar_cpus_next(&siblings, i))
        if (i == cpu || !is_numbered || !read_number(&other, root, CPU "topology/core_id", i) ||
            other == mine)
            ar_cpus_add(&core, i);
    if (!ar_cpus_have(&siblings, cpu))
        return false;
    *domain = core;
    return true;
}

static bool
read_socket(struct ar_cpus *domain, const char *root, int cpu)
{
    return read_map(domain, root, CPU "topology/package_cpus", cpu) ||
           read_map(domain, root, CPU "topology/core_siblings", cpu);
}

/* Where Linux knows no clusters, each core is one of its own. */
static bool
read_cluster(struct ar_cpus *domain, const char *root, int cpu)
{
    struct ar_cpus cluster, core;
    if (!read_map(&cluster, root, CPU "topology/cluster_cpus", cpu) ||
        !read_core(&core, root, cpu) || ar_cpus_count(&cluster) <= ar_cpus_count(&core))
        return false;
    *domain = cluster;
    return true;
}

static bool
read_cache(struct ar_cpus *domain, const char *root, int cpu)
{
    int level;
    for (int i = 0; i < CACHES && read_number(&level, root, CPU "cache/index%d/level", cpu, i); i++)
        if (level == 3)
            return read_map(domain, root, CPU "cache/index%d/shared_cpu_map", cpu, i);
    return read_cluster(domain, root, cpu);
}

/* Nodes may have any numbers, and no CPUs. */
static bool
read_numa(struct ar_cpus *domain, const char *root, int cpu)
{
    char path[PATH_MAX];
    struct ar_cpus node;
    bool is_found = false;
    int number;
    if (snprintf(path, sizeof path, "%s" NODES, root) >= PATH_MAX)
        return false;
    DIR *const folder = opendir(path);
    for (struct dirent *entry; folder && !is_found && (entry = readdir(folder));)
        is_found = sscanf(entry->d_name, "node%d", &number) == 1 &&
                   read_map(&node, root, NODES "/node%d/cpumap", number) &&
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

/* Are all of mask in the domain?  Each CPU that is not is looked up: it may be offline. */
static bool
is_within(const struct ar_cpus *mask, const struct ar_cpus *domain, const char *root)
{
    struct ar_cpus rest = *mask;
    ar_cpus_remove(&rest, domain);
    for (int cpu = ar_cpus_next(&rest, -1); cpu >= 0; cpu = ar_cpus_next(&rest, cpu))
        if (is_online(root, cpu))
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
