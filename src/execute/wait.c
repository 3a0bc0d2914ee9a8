#include "execute/wait.h"

/* Some 20 us of polls: longer than a message between ranks that run, and far
 * shorter than a scheduler's slice, which is what spinning costs where somebody
 * else, another job perhaps, has the awaited rank's core.  Where nobody has,
 * yielding costs next to nothing. */
#define SPINS_BEFORE_YIELD 200

struct ar_wait
ar_wait_make(enum ar_wait_policy policy, int ranks, int cpus)
{
    if (policy == AR_WAIT_SPIN)
        return (struct ar_wait){AR_WAIT_FOREVER};
    if (policy == AR_WAIT_YIELD || ranks > cpus)
        return (struct ar_wait){0};
    return (struct ar_wait){SPINS_BEFORE_YIELD};
}
