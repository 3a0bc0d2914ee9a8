/* The last calls on a communicator whose decisions still stand.  Most programs make the same few
 * calls in turn, with predefined handles, which never change their meaning: such a call resolves
 * and looks up nothing.  Ranks may name the type of a call in different ways, and then have
 * different recent calls.  So whoever changes what a look-up would find, which plan or which
 * search, forgets all of them. */
#ifndef AR_RECENT_H
#define AR_RECENT_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "reduce/reduce.h"

struct ar_decision;

#define AR_RECENT_CALLS 4

struct ar_recent {
    size_t count;
    struct ar_reduction reduction;
    struct ar_decision *decision; /* NULL: no call */
};

/* All zero: none. */
struct ar_recents {
    struct ar_recent call[AR_RECENT_CALLS];
    unsigned last;
};

static inline bool
ar_recent_is(const struct ar_recent *call, MPI_Op op, MPI_Datatype type, size_t count)
{
    return call->decision && call->reduction.type == type && call->reduction.op == op &&
           call->count == count;
}

/* A call like this one; NULL: there is none.  Looks first at the last one, so that calls which are
 * all alike cost no more. */
static inline struct ar_recent *
ar_recent_find(struct ar_recents *recents, MPI_Op op, MPI_Datatype type, size_t count)
{
    if (ar_recent_is(&recents->call[recents->last], op, type, count))
        return &recents->call[recents->last];
    for (unsigned i = 0; i < AR_RECENT_CALLS; i++)
        if (ar_recent_is(&recents->call[i], op, type, count)) {
            recents->last = i;
            return &recents->call[i];
        }
    return NULL;
}

/* Adds a call, in place of one like it or of the next after the last that was found. */
void ar_recent_add(struct ar_recents *recents, const struct ar_recent *call);

/* Those of this decision; NULL: all. */
void ar_recent_forget(struct ar_recents *recents, const struct ar_decision *decision);

#endif
