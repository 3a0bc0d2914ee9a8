#include "execute/wait.h"

/* About 0.1 ms of polls: longer than any message between ranks that run, far
 * shorter than a scheduler's slice. */
#define SPINS_BEFORE_YIELD 2000

struct ar_wait
ar_wait_make(enum ar_wait_policy policy, int ranks, int cpus)
{
    if (policy == AR_WAIT_SPIN)
        return (struct ar_wait){AR_WAIT_FOREVER};
    if (policy == AR_WAIT_YIELD || ranks > cpus)
        return (struct ar_wait){0};
    return (struct ar_wait){SPINS_BEFORE_YIELD};
}
