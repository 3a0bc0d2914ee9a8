/* What runs on CPUs, whoever it belongs to: the system's ticks, of 10 ms as a rule. */
#ifndef AR_CPU_TICKS_H
#define AR_CPU_TICKS_H

#include "cores/cpus.h"

/* Of one CPU, since the system was started. */
struct ar_cpu_ticks {
    unsigned long long work;       /* processes, of this and of other virtual machines */
    unsigned long long interrupts; /* those of ranks' own messages, too */
    unsigned long long idle;
};

/* AR_CPUS_MAX of them, of which those of these CPUs are filled in; malloced.  NULL: the system does
 * not tell, or without memory. */
struct ar_cpu_ticks *ar_cpu_ticks_read(const struct ar_cpus *cpus);

/* How many of the CPUs each kept busy between two looks at them. */
struct ar_cpu_use {
    double work, interrupts;
};
struct ar_cpu_use ar_cpu_ticks_compare(const struct ar_cpu_ticks *from,
                                       const struct ar_cpu_ticks *to);

/* How many CPUs others' work kept busy: all work, less that of the ranks, which took ranks_seconds
 * of CPU time in these seconds. */
double ar_cpu_ticks_others(const struct ar_cpu_ticks *from, const struct ar_cpu_ticks *to,
                           double ranks_seconds, double seconds);

#define AR_QUIET_CPUS 0.25 /* of a node: a system's own work, and the clock that counts it */

#endif
