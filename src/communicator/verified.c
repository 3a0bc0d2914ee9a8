#include "communicator/verified.h"

#include <stdatomic.h>

#include "report/report.h"

static atomic_ulong counts[AR_VERIFIED_KINDS];

unsigned long
ar_verified_count(enum ar_verified kind)
{
    return atomic_fetch_add_explicit(&counts[kind], 1, memory_order_relaxed);
}

void
ar_verified_say(void)
{
    const unsigned long right = atomic_load(&counts[AR_VERIFIED_RIGHT]);
    const unsigned long by_ranks = atomic_load(&counts[AR_VERIFIED_BY_RANKS]);
    ar_say("ALLREDUCE_VERIFY: %lu calls agree with the native allreduce, %lu between the ranks "
           "alone, %lu are wrong, %lu could not be compared",
           right, by_ranks, atomic_load(&counts[AR_VERIFIED_WRONG]),
           atomic_load(&counts[AR_VERIFIED_NOT]));
}
