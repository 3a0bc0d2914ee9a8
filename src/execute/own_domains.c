#include <config.h>

#include "execute/own_domains.h"

#include <pthread.h>
#include <string.h>

#include "cores/levels.h"

static const enum ar_cpu_level level_of[AR_DOMAINS] = {
    [AR_DOMAIN_L3] = AR_CPU_CACHE,
    [AR_DOMAIN_NUMA] = AR_CPU_NUMA,
    [AR_DOMAIN_SOCKET] = AR_CPU_SOCKET,
};

void
ar_own_domains_find(int domain[AR_DOMAINS])
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static bool is_known;
    static struct ar_cpus mask; /* whose levels these are */
    static struct ar_cpu_levels levels;
    struct ar_cpus now;
    ar_cpus_of_thread(&now);
    pthread_mutex_lock(&lock);
    if (!is_known || memcmp(&now, &mask, sizeof mask) != 0)
        ar_cpu_levels_find(&levels, "", &now);
    mask = now;
    is_known = true;
    for (int d = 0; d < AR_DOMAINS; d++)
        domain[d] = levels.domain[level_of[d]];
    pthread_mutex_unlock(&lock);
}
