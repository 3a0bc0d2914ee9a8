/* Whether ranks share cores: how many ranks may run on how many CPUs. */
#ifndef AR_CROWD_H
#define AR_CROWD_H

#include <stdbool.h>

#include "execute/group.h"

/* The whole job on this node, if a communicator has only a few of its ranks. */
struct ar_job {
    int ranks; /* 0: the communicator has all of them, or the launcher does not say */
    int cpus;  /* to which its ranks could be bound: those of this rank's cgroup */
};

/* The job beside so many ranks of a communicator on this node.  Thread-safe. */
struct ar_job ar_job_beside(int members);

/* So many ranks may run on so many CPUs. */
struct ar_crowd {
    int ranks, cpus;
};

/* The CPUs of the host, at the first call. */
int ar_online_cpus(void);

/* With more ranks than CPUs, the rank for which another one waits may need that rank's core. */
static inline bool
ar_crowd_shares(struct ar_crowd crowd)
{
    return crowd.ranks > crowd.cpus;
}

/* What may run on the CPUs of the circle's ranks, which are all on one node, within their limits of
 * CPU time.  Collective over the circle, and the result is the same on all ranks if job is.
 * False, alike on all ranks, if one of them has failed, or if MPI fails.  It takes no memory, which
 * a single rank could lack. */
bool ar_crowd_find(struct ar_crowd *crowd, const struct ar_circle *circle, struct ar_job job,
                   bool failed);

#endif
