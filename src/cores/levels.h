/* The levels inside a node: which CPUs share a core, a cache, a NUMA node, a socket, as Linux tells
 * it in files below /sys.  Pure: nothing is kept, and a library for it is not needed.
 *
 * A domain is a set of CPUs that share something; it is named after its smallest CPU, so that all
 * processes of a node give it the same name.  Levels need not nest: a NUMA node may be part of a
 * socket or have several of them, and a cache may serve several NUMA nodes.
 *
 * Source: Linux, Documentation/ABI/stable/sysfs-devices-system-cpu (topology/),
 * Documentation/ABI/testing/sysfs-devices-system-cpu (cache/), and
 * Documentation/ABI/stable/sysfs-devices-node (cpumap).
 */
#ifndef AR_LEVELS_H
#define AR_LEVELS_H

#include <stdbool.h>
#include <stddef.h>

#include "cores/cpus.h"

enum ar_cpu_level {
    AR_CPU_CORE,  /* hardware threads of one core */
    AR_CPU_CACHE, /* a cache of level 3; for a CPU that has none, a cluster of several cores */
    AR_CPU_NUMA,
    AR_CPU_SOCKET,
    AR_CPU_LEVELS
};

/* "core", "L3 cache", "NUMA node", "socket". */
const char *ar_cpu_level_name(enum ar_cpu_level level);

/* In place of a domain. */
enum {
    AR_CPU_SPREAD = -1, /* the CPUs are in several: not bound to one */
    AR_CPU_UNKNOWN = -2 /* the system does not tell, or has nothing of the kind */
};

struct ar_cpu_levels {
    int domain[AR_CPU_LEVELS]; /* its smallest CPU, or one of the above */
};

/* Where a process is that may run on the CPUs of mask.  root: the folder that has sys/; "" for this
 * system.  CPUs of the mask that the system does not have, or that are offline, do not count.  If
 * no others are left, all levels are unknown. */
void ar_cpu_levels_find(struct ar_cpu_levels *levels, const char *root, const struct ar_cpus *mask);

/* The domain of one CPU.  Some systems count CPUs in it that are offline.  False, with *domain
 * untouched, where it is unknown. */
bool ar_cpu_domain_read(struct ar_cpus *domain, const char *root, enum ar_cpu_level level, int cpu);

/* The size in bytes of the CPU's cache of level 3; 0: it has none, or the system does not tell.  On
 * AMD's processors sysconf would give the sum of all such caches of a socket. */
size_t ar_cpu_cache_bytes(const char *root, int cpu);

/* All CPUs of the system that are online. */
void ar_cpus_find_online(struct ar_cpus *cpus, const char *root);

/* In how many domains are the CPUs of mask?  Those that are unknown do not count. */
int ar_cpu_domains_count(const char *root, enum ar_cpu_level level, const struct ar_cpus *mask);

#endif
