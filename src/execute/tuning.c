#include "execute/node.h"

#include <unistd.h>

#include "cores/levels.h"

size_t
ar_second_level_cache(void)
{
#ifdef _SC_LEVEL2_CACHE_SIZE
    const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return bytes > 0 ? (size_t)bytes : AR_USUAL_CACHE;
#else
    return AR_USUAL_CACHE;
#endif
}

/* Not by sysconf: glibc tells as one cache what several groups of an EPYC's cores have. */
size_t
ar_third_level_cache(void)
{
    struct ar_cpus cpus;
    const int first = ar_cpus_of_thread(&cpus) ? ar_cpus_next(&cpus, -1) : -1;
    return first < 0 ? 0 : ar_cpu_cache_bytes("", first);
}

struct ar_shm_tuning
ar_node_tune(int nranks, bool is_crowded)
{
    return ar_shm_tune(nranks, ar_second_level_cache(), is_crowded);
}
