/* What is read of a machine's levels, for comparison with hwloc: a line for each domain, with the
 * level and its CPUs that are online, as lstopo --taskset writes them.
 *
 * levels show ROOT; levels make NUMBER ROOT writes made-up machine NUMBER, and fails where there is
 * none of that number. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/topology.h"
#include "cores/levels.h"

static const struct topology machines[] = {
    {.sockets = 2, .nodes = 1, .caches = 4, .cores = 4, .threads = 2},
    {.sockets = 1, .nodes = 4, .caches = 2, .cores = 4, .threads = 1, .memory_nodes = 2},
    {.sockets = 4, .nodes = 1, .caches = 1, .cores = 4, .threads = 2, .is_dealt = true},
    {.sockets = 2, .nodes = 2, .cores = 4, .threads = 1, .cluster = 2},
    {.sockets = 2, .nodes = 1, .caches = 2, .cores = 2, .threads = 2, .offline = 0x400a},
    {.sockets = 2, .nodes = 1, .caches = 1, .cores = 3, .threads = 1, .is_old = true},
};

static void
print_set(const char *name, const struct ar_cpus *cpus)
{
    int digit = AR_CPUS_MAX / 4;
    printf("%s 0x", name);
    for (int is_begun = 0; digit-- > 0;) {
        const int cpu = 4 * digit;
        const unsigned value =
            (unsigned)(cpus->word[cpu / AR_CPUS_BITS] >> cpu % AR_CPUS_BITS & 15);
        is_begun |= value != 0;
        if (is_begun)
            printf("%x", value);
    }
    putchar('\n');
}

static int
show(const char *root)
{
    static const char *const names[] = {
        [AR_CPU_CORE] = "core",
        [AR_CPU_CACHE] = "cache",
        [AR_CPU_NUMA] = "numa",
        [AR_CPU_SOCKET] = "socket",
    };
    struct ar_cpus online, offline, rest, domain;
    ar_cpus_find_online(&online, root);
    memset(&offline, 0xff, sizeof offline);
    ar_cpus_remove(&offline, &online);
    for (int level = 0; level < AR_CPU_LEVELS; level++) {
        rest = online;
        for (int cpu = ar_cpus_next(&rest, -1); cpu >= 0; cpu = ar_cpus_next(&rest, cpu)) {
            if (!ar_cpu_domain_read(&domain, root, (enum ar_cpu_level)level, cpu))
                continue;
            ar_cpus_remove(&domain, &offline);
            ar_cpus_remove(&rest, &domain);
            print_set(names[level], &domain);
        }
    }
    return 0;
}

int
main(int argc, char **argv)
{
    const size_t number = argc == 4 ? strtoul(argv[2], NULL, 10) : 0;
    if (argc == 3 && strcmp(argv[1], "show") == 0)
        return show(argv[2]);
    if (argc != 4 || strcmp(argv[1], "make") != 0 || number >= sizeof machines / sizeof *machines)
        return 2;
    topology_make(&machines[number], argv[3]);
    return 0;
}
