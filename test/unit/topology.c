#define _GNU_SOURCE
#include "topology.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* At most 64 CPUs. */
typedef unsigned long long set;

static void
fail(const char *path)
{
    perror(path);
    exit(99);
}

/* Makes all folders of path but the last part. */
static void
make_folders(char *path)
{
    for (char *slash = path; (slash = strchr(slash + 1, '/'));) {
        *slash = '\0';
        if (mkdir(path, 0777) && errno != EEXIST)
            fail(path);
        *slash = '/';
    }
}

void
topology_put(const char *root, const char *name, const char *text)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", root, name);
    make_folders(path);
    FILE *const file = fopen(path, "w");
    if (!file || fprintf(file, "%s\n", text) < 0 || fclose(file))
        fail(path);
}

static void __attribute__((format(printf, 3, 4)))
write_text(const char *root, const char *text, const char *format, ...)
{
    char name[PATH_MAX] = "sys/devices/system/";
    const size_t length = strlen(name);
    va_list values;
    va_start(values, format);
    vsnprintf(name + length, sizeof name - length, format, values);
    va_end(values);
    topology_put(root, name, text);
}

/* As Linux writes it. */
static const char *
map_of(set cpus, char text[32])
{
    snprintf(text, 32, "%08llx,%08llx", cpus >> 32, cpus & 0xffffffff);
    return text;
}

/* --- who shares what --- */

static int
cores_of(const struct topology *t)
{
    return t->sockets * t->nodes * (t->caches ? t->caches : 1) * t->cores;
}

/* The core's number if all sockets had theirs in one block. */
static int
place_of(const struct topology *t, int core)
{
    const int per_socket = cores_of(t) / t->sockets;
    return t->is_dealt ? core % t->sockets * per_socket + core / t->sockets : core;
}

static set
threads_of(const struct topology *t, int core)
{
    set cpus = 0;
    for (int i = 0; i < t->threads; i++)
        cpus |= 1ULL << (core + i * cores_of(t));
    return cpus & ~(set)t->offline;
}

/* The CPUs of the block of so many cores that the core is in. */
static set
block_of(const struct topology *t, int core, int cores)
{
    set cpus = 0;
    for (int other = 0; other < cores_of(t); other++)
        if (place_of(t, other) / cores == place_of(t, core) / cores)
            cpus |= threads_of(t, other);
    return cpus;
}

/* --- files --- */

static void
write_cache(const char *root, int cpu, int index, int level, set cpus)
{
    char text[32];
    write_text(root, "Unified", "cpu/cpu%d/cache/index%d/type", cpu, index);
    write_text(root, level == 3 ? "32768K" : "1024K", "cpu/cpu%d/cache/index%d/size", cpu, index);
    write_text(root, "64", "cpu/cpu%d/cache/index%d/coherency_line_size", cpu, index);
    snprintf(text, sizeof text, "%d", level);
    write_text(root, text, "cpu/cpu%d/cache/index%d/level", cpu, index);
    write_text(root, map_of(cpus, text), "cpu/cpu%d/cache/index%d/shared_cpu_map", cpu, index);
}

static void
write_cpu(const struct topology *t, const char *root, int cpu)
{
    const int core = cpu % cores_of(t), per_socket = cores_of(t) / t->sockets;
    char text[32];
    if (t->offline >> cpu & 1) {
        write_text(root, "0", "cpu/cpu%d/online", cpu);
        return;
    }
    write_text(root, "1", "cpu/cpu%d/online", cpu);
    snprintf(text, sizeof text, "%d", place_of(t, core));
    write_text(root, text, "cpu/cpu%d/topology/core_id", cpu);
    snprintf(text, sizeof text, "%d", place_of(t, core) / per_socket);
    write_text(root, text, "cpu/cpu%d/topology/physical_package_id", cpu);
    write_text(root, map_of(threads_of(t, core), text), "cpu/cpu%d/topology/%s", cpu,
               t->is_old ? "thread_siblings" : "core_cpus");
    write_text(root, map_of(block_of(t, core, per_socket), text), "cpu/cpu%d/topology/%s", cpu,
               t->is_old ? "core_siblings" : "package_cpus");
    if (t->cluster)
        write_text(root, map_of(block_of(t, core, t->cluster), text),
                   "cpu/cpu%d/topology/cluster_cpus", cpu);
    write_cache(root, cpu, 0, 1, threads_of(t, core));
    write_cache(root, cpu, 1, 2, threads_of(t, core));
    if (t->caches && !(t->uncached >> core & 1)) {
        set cpus = block_of(t, core, t->cores);
        for (int other = 0; other < cores_of(t); other++)
            if (t->uncached >> other & 1)
                cpus &= ~threads_of(t, other);
        write_cache(root, cpu, 2, 3, cpus);
    }
}

void
topology_make(const struct topology *t, const char *root)
{
    const int cpus = cores_of(t) * t->threads, per_node = cores_of(t) / (t->sockets * t->nodes);
    char text[32];
    for (int i = 0; i < t->memory_nodes; i++)
        write_text(root, map_of(0, text), "node/node%d/cpumap", i);
    for (int place = 0; place < cores_of(t); place += per_node) {
        int core = 0;
        while (place_of(t, core) != place)
            core++;
        write_text(root, map_of(block_of(t, core, per_node), text), "node/node%d/cpumap",
                   t->memory_nodes + place / per_node);
    }
    snprintf(text, sizeof text, "0-%d", t->memory_nodes + t->sockets * t->nodes - 1);
    write_text(root, text, "node/online");
    snprintf(text, sizeof text, "0-%d", cpus - 1);
    write_text(root, text, "cpu/possible");
    for (int cpu = 0; cpu < cpus; cpu++)
        write_cpu(t, root, cpu);
}

static int
remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status;
    (void)kind;
    (void)walk;
    return remove(path);
}

void
topology_remove(const char *root)
{
    if (nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS))
        fail(root);
}
