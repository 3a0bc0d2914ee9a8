/* Copies of a decision, for one call. */
#include <stdlib.h>

#include "communicator/copy.h"
#include "communicator/decide.h"

static const char reason_staged[] = "device memory, staged";

struct ar_decision *
ar_decision_copy(struct ar_communicator *c, const struct ar_decision *d)
{
    if (!c->told)
        c->told = malloc(sizeof *c->told);
    if (!c->told)
        return NULL;
    *c->told = *d;
    c->told->record = NULL;
    return c->told;
}

struct ar_decision *
ar_decision_tell(struct ar_communicator *c, const struct ar_decision *d, const char *reason,
                 enum ar_copy way)
{
    struct ar_decision *const told = ar_decision_copy(c, d);
    if (!told)
        return NULL;
    told->reason = reason;
    told->choice.params.copy = way;
    if (c->recorder)
        ar_decision_label(c, told);
    return told;
}

struct ar_decision *
ar_decision_staged(struct ar_communicator *c, const struct ar_decision *d)
{
    return ar_decision_tell(c, d, reason_staged, d->choice.params.copy);
}

struct ar_decision *
ar_decision_missed(struct ar_communicator *c, struct ar_decision *d)
{
    const bool was_missed = d->runner == AR_RUN_MEMORY &&
                            d->choice.params.copy == AR_COPY_IN_PLACE &&
                            (c->in_place->missed || c->in_place->yielded);
    if (!was_missed || d->reason == reason_staged || d->reason == ar_reason_derived)
        return d;
    const char *const reason = c->in_place->missed ? ar_reason_unmapped : ar_reason_yielded;
    struct ar_decision *const told = ar_decision_tell(c, d, reason, AR_COPY_SLOTS);
    return told ? told : d;
}
