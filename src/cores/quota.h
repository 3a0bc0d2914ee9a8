/* Limits of CPU time, which containers and systemd set (docker: --cpus; Kubernetes: limits.cpu).
 * They are not seen in the CPUs on which a process may run.  All of a cgroup's processes
 * together get so much time in each period, on any CPUs, and then wait for the next one.  Pure. */
#ifndef AR_QUOTA_H
#define AR_QUOTA_H

#include <stdint.h>

/* Plain memory. */
struct ar_cpu_quota {
    uint64_t cgroup; /* which cgroup is limited; the same number in all containers of a host */
    int cpus;        /* the time of so many CPUs, rounded up; 0: no limit is known */
};

#define AR_QUOTAS 4

/* The limits of cgroups in each other, from the innermost on; plain memory. */
struct ar_cpu_quotas {
    struct ar_cpu_quota of[AR_QUOTAS]; /* from n on of 0 CPUs */
    int n;
};

/* The limits of this process's cgroup and those above it, as far as they are seen here.  Each is
 * above the one before it: what is inside a cgroup with the same limit or a lower one says nothing
 * more.  Of more than AR_QUOTAS the last is the outermost.  root as in cores/sysfs.h.  It reads
 * some files. */
struct ar_cpu_quotas ar_cpu_quotas_find(const char *root);

#endif
