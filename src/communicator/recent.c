#include "communicator/recent.h"

void
ar_recent_add(struct ar_recents *recents, const struct ar_recent *call)
{
    const struct ar_reduction *const r = &call->reduction;
    if (!ar_recent_find(recents, r->op, r->type, call->count))
        recents->last = (recents->last + 1) % AR_RECENT_CALLS;
    recents->call[recents->last] = *call;
}

void
ar_recent_forget(struct ar_recents *recents, const struct ar_decision *decision)
{
    for (unsigned i = 0; i < AR_RECENT_CALLS; i++)
        if (!decision || recents->call[i].decision == decision)
            recents->call[i].decision = NULL;
}
