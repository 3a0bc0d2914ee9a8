#include <config.h>

#include "execute/crowd.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cores/cpus.h"
#include "execute/group.h"

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

struct ar_crowd
ar_crowd_estimate(int members, int cpus, bool is_alike, struct ar_job job)
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

bool
ar_crowd_find(struct ar_crowd *crowd, MPI_Comm comm, int nranks, struct ar_job job, bool failed)
{
    struct {
        struct ar_cpus some, lacking; /* on which a rank may run, and on which one may not */
        unsigned char failed, unknown;
    } bits;
    memset(&bits, 0, sizeof bits);
    bits.failed = failed;
    bits.unknown = !ar_cpus_of_thread(&bits.some);
    memset(&bits.lacking, 0xff, sizeof bits.lacking);
    ar_cpus_remove(&bits.lacking, &bits.some);
    if (ar_reduce_all(&bits, (int)sizeof bits, MPI_BYTE, MPI_BOR, comm) || bits.failed)
        return false;
    const int cpus = bits.unknown ? ar_online_cpus() : ar_cpus_count(&bits.some);
    ar_cpus_remove(&bits.some, &bits.lacking);
    *crowd =
        ar_crowd_estimate(nranks, cpus, bits.unknown || ar_cpus_count(&bits.some) == cpus, job);
    return true;
}
