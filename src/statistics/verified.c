#include "statistics/verified.h"

#include <stdatomic.h>

#include "report/report.h"
#include "select/words.h"

static atomic_ulong counts[AR_VERIFIED_KINDS];

unsigned long
ar_verified_count(enum ar_verified kind)
{
    return atomic_fetch_add_explicit(&counts[kind], 1, memory_order_relaxed);
}

void
ar_verified_say(void)
{
    const unsigned long users = atomic_load(&counts[AR_VERIFIED_USERS]);
    const unsigned long unlike = atomic_load(&counts[AR_VERIFIED_UNLIKE]);
    char doubts[256];
    struct ar_text text;
    ar_text_init(&text, doubts, sizeof doubts);
    /* These are told although no result of ours is known to be wrong. */
    if (users > 0)
        ar_text_add(&text,
                    ", %lu of the program's own ops differ from the native allreduce (rounding may "
                    "be why)",
                    users);
    if (unlike > 0)
        ar_text_add(&text, ", %lu were not alike on all ranks", unlike);
    ar_say("ALLREDUCE_VERIFY: %lu calls agree with the native allreduce, %lu between the ranks "
           "alone, %lu are wrong, %lu could not be compared%s",
           atomic_load(&counts[AR_VERIFIED_RIGHT]), atomic_load(&counts[AR_VERIFIED_BY_RANKS]),
           atomic_load(&counts[AR_VERIFIED_WRONG]), atomic_load(&counts[AR_VERIFIED_NOT]), doubts);
}
