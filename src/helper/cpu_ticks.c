#include "config.h"

#include "helper/cpu_ticks.h"

#include <stdio.h>
#include <stdlib.h>

struct ar_cpu_ticks *
ar_cpu_ticks_read(const struct ar_cpus *cpus)
{
    enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, KINDS };
    struct ar_cpu_ticks *of = calloc(AR_CPUS_MAX, sizeof *of);
    unsigned long long t[KINDS];
    char *line = NULL;
    size_t room = 0;
    int cpu, n = 0;
    FILE *const file = of ? fopen("/proc/stat", "re") : NULL;
    while (file && getline(&line, &room, file) >= 0)
        if (sscanf(line, "cpu%d %llu %llu %llu %llu %llu %llu %llu %llu", &cpu, &t[USER], &t[NICE],
                   &t[SYSTEM], &t[IDLE], &t[IOWAIT], &t[IRQ], &t[SOFTIRQ],
                   &t[STEAL]) == 1 + KINDS &&
            ar_cpus_have(cpus, cpu)) {
            of[cpu] = (struct ar_cpu_ticks){.work = t[USER] + t[NICE] + t[SYSTEM] + t[STEAL],
                                            .interrupts = t[IRQ] + t[SOFTIRQ],
                                            .idle = t[IDLE] + t[IOWAIT]};
            n++;
        }
    free(line);
    if (file)
        fclose(file);
    if (n == 0) {
        free(of);
        of = NULL;
    }
    return of;
}

static double
all_of(const struct ar_cpu_ticks *t)
{
    return (double)(t->work + t->interrupts + t->idle);
}

struct ar_cpu_use
ar_cpu_ticks_compare(const struct ar_cpu_ticks *from, const struct ar_cpu_ticks *to)
{
    struct ar_cpu_use use = {0, 0};
    for (int cpu = 0; cpu < AR_CPUS_MAX; cpu++) {
        const double all = all_of(&to[cpu]) - all_of(&from[cpu]);
        if (all <= 0)
            continue;
        use.work += ((double)to[cpu].work - (double)from[cpu].work) / all;
        use.interrupts += ((double)to[cpu].interrupts - (double)from[cpu].interrupts) / all;
    }
    return use;
}

double
ar_cpu_ticks_others(const struct ar_cpu_ticks *from, const struct ar_cpu_ticks *to,
                    double ranks_seconds, double seconds)
{
    return ar_cpu_ticks_compare(from, to).work - ranks_seconds / seconds;
}
