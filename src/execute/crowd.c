#include <config.h>

#include "execute/crowd.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cores/cpus.h"
#include "cores/quota.h"

static int online, of_cgroup;

static void
count_online(void)
{
    const long n = sysconf(_SC_NPROCESSORS_ONLN); /* reads a file */
    online = n > 0 ? (int)n : 1;
}

int
ar_online_cpus(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, count_online);
    return online;
}

static void
count_cpus_of_cgroup(void)
{
    struct ar_cpus cpus;
    of_cgroup = ar_cpus_of_cgroup(&cpus) ? ar_cpus_count(&cpus) : ar_online_cpus();
}

struct ar_job
ar_job_beside(int members)
{
    static const char *const names[] = {"MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE"};
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int most = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *const text = getenv(names[i]);
        const int n = text ? atoi(text) : 0;
        most = n > most ? n : most;
    }
    if (most <= members)
        return (struct ar_job){0};
    pthread_once(&once, count_cpus_of_cgroup);
    return (struct ar_job){most, of_cgroup};
}

/* What may run on the CPUs of a communicator's members, which are `cpus` together; is_alike: each
 * member may run on all of these.  To what the job's other ranks are bound is not known.  If the
 * members are bound to different CPUs, it is assumed that the others are bound to further ones.  If
 * all members have the same CPUs, such as those of a socket, it is assumed that the job's ranks are
 * spread evenly over all CPUs.  If the members have more CPUs than the job is said to have, ranks
 * are in cgroups of their own, of which this rank knows only its own, and nothing follows from how
 * many ranks the job has. */
static struct ar_crowd
estimate(int members, int cpus, bool is_alike, struct ar_job job)
{
    /* Where the members have more CPUs than the cgroup has, it is not the whole job's. */
    const bool is_known = job.ranks > 0 && job.cpus >= cpus;
    int ranks = 0;
    if (is_known && job.ranks > job.cpus) /* some share cores: any, for all that is known */
        ranks = job.ranks;
    else if (is_known && is_alike)
        ranks = (int)(((long)job.ranks * cpus + job.cpus - 1) / job.cpus);
    return (struct ar_crowd){ranks > members ? ranks : members, cpus};
}

/* The same where CPU time is limited: the members are in `limits` cgroups side by side that limit
 * it, which are one or more and are taken for equally large, and `quota` is the least of these
 * limits, in CPUs. If the members are in one such cgroup, it is assumed that the job's other ranks
 * are in it, too. */
static struct ar_crowd
limit_by(struct ar_crowd crowd, int members, int limits, int quota, struct ar_job job)
{
    const int ranks = limits == 1 && job.ranks > members ? job.ranks : members;
    const int in_each = (ranks + limits / 2) / limits;
    if (in_each <= quota)
        return crowd;
    const int cpus = limits * quota; /* fewer than ranks */
    return (struct ar_crowd){crowd.ranks > ranks ? crowd.ranks : ranks,
                             crowd.cpus < cpus ? crowd.cpus : cpus};
}

/* --- limits of CPU time, told by bits that add up in a set --- */

/* Each depth of cgroups has a part of the set, from the outermost on, since ranks share the outer
 * ones.  Of its bits the first ones stand for how large a limit is; the others tell the cgroups
 * apart.  Two may have the same bit by chance.  Of 512 ranks with a cgroup each, some 80 do, fewer
 * than would make their ranks look like two in each. */
#define PART   (AR_CPUS_MAX / AR_QUOTAS)
#define QUOTAS 512

static struct ar_cpu_quotas own_quotas;

static void
find_quotas(void)
{
    own_quotas = ar_cpu_quotas_find("");
}

/* Adds this rank's bits.  Ranks without a limit count as those of one cgroup with the largest limit
 * that can be told, which stands for all larger ones, too. */
static void
tell_quotas(struct ar_cpus *limits)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_quotas);
    for (int depth = 0; depth < AR_QUOTAS; depth++) {
        const struct ar_cpu_quota none = {0}, *const own =
                                                  depth < own_quotas.n
                                                      ? &own_quotas.of[own_quotas.n - 1 - depth]
                                                      : &none;
        const bool is_limited = own->cpus > 0 && own->cpus < QUOTAS - 1;
        const uint64_t mixed = is_limited ? own->cgroup * UINT64_C(0x9e3779b97f4a7c15) >> 32 : 0;
        ar_cpus_add(limits, depth * PART + (is_limited ? own->cpus : QUOTAS - 1));
        ar_cpus_add(limits, depth * PART + QUOTAS + (int)(mixed % (PART - QUOTAS)));
    }
}

/* By the limits of one depth. */
static struct ar_crowd
limit(struct ar_crowd crowd, int members, const struct ar_cpus *limits, int depth,
      struct ar_job job)
{
    const int begin = depth * PART, quota = ar_cpus_next(limits, begin - 1) - begin;
    int cgroups = 0;
    for (int bit = ar_cpus_next(limits, begin + QUOTAS - 1); bit >= 0 && bit < begin + PART;
         bit = ar_cpus_next(limits, bit))
        cgroups++;
    return quota == QUOTAS - 1 || cgroups == 0 ? crowd
                                               : limit_by(crowd, members, cgroups, quota, job);
}

bool
ar_crowd_find(struct ar_crowd *crowd, const struct ar_circle *circle, struct ar_job job,
              bool failed)
{
    struct {
        struct ar_cpus some, lacking; /* on which a rank may run, and on which one may not */
        struct ar_cpus limits;
        unsigned char failed, unknown;
    } bits;
    memset(&bits, 0, sizeof bits);
    bits.failed = failed;
    bits.unknown = !ar_cpus_of_thread(&bits.some);
    memset(&bits.lacking, 0xff, sizeof bits.lacking);
    ar_cpus_remove(&bits.lacking, &bits.some);
    tell_quotas(&bits.limits);
    if (ar_circle_unite(circle, &bits, (int)sizeof bits) || bits.failed)
        return false;
    const int cpus = bits.unknown ? ar_online_cpus() : ar_cpus_count(&bits.some);
    ar_cpus_remove(&bits.some, &bits.lacking);
    const bool is_alike = bits.unknown || ar_cpus_count(&bits.some) == cpus;
    *crowd = estimate(circle->n, cpus, is_alike, job);
    for (int depth = 0; depth < AR_QUOTAS; depth++)
        *crowd = limit(*crowd, circle->n, &bits.limits, depth, job);
    return true;
}
