/* Plans that are lent to shorter calls.  Where ranks share memory the plan of a rank has a part of
 * each other rank's schedule, and takes longer to make than a call takes (make bench-counts).  A
 * program whose counts vary from call to call would make a plan for each.  But elements do not
 * depend on each other, so that a plan serves a shorter vector, too: it ends early. */
#include "algorithms/grouping.h"
#include "communicator/decide.h"
#include "execute/node_plan.h"

#define FEW_BYTES  ((size_t)2048)     /* each rank combines all of them, or nearly */
#define MOST_BYTES ((size_t)16 << 20) /* longer calls take much longer than their plans */

/* A tiny vector borrows no plan: its data are in the line of a flag, and a longer plan would not
 * keep them there.  Of a long vector each rank combines a share, and the last ranks would idle if
 * the plan were much too long.  So there are eight lengths for each power of two, and two if the
 * vector is short. */
size_t
ar_lending_count(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes <= AR_TINY_BYTES || bytes > MOST_BYTES)
        return count;
    const unsigned steps = bytes <= FEW_BYTES ? 1 : 3; /* as powers of two */
    const unsigned octave = 63U - (unsigned)__builtin_clzll(count);
    const size_t step = octave > steps ? (size_t)1 << (octave - steps) : 1;
    return (count + step - 1) / step * step;
}

/* Does auto decide on the call, and by the same clause on a longer one? */
static bool
is_autos(const struct ar_config *config, const struct ar_request *request, size_t longer)
{
    const struct ar_choice *const clause = ar_config_clause(config, request);
    struct ar_request other = *request;
    other.bytes = longer;
    return (!clause || clause->kind == AR_CHOICE_AUTO) &&
           clause == ar_config_clause(config, &other);
}

/* At most MOST_BYTES, so that there is a bit for it. */
static uint32_t
bit_of(const struct ar_decision_key *key)
{
    return UINT32_C(1) << ar_size_bin(key->count * key->size);
}

/* Forgets the recent calls about which a look-up would ask the table (c->choice.often). */
static void
forget_lendable(struct ar_recents *recents)
{
    for (unsigned i = 0; i < AR_RECENT_CALLS; i++) {
        struct ar_recent *const call = &recents->call[i];
        if (ar_lending_count(call->count, call->reduction.size) != call->count)
            call->decision = NULL;
    }
}

size_t
ar_lending_find(struct ar_communicator *c, MPI_Comm comm, const struct ar_reduction *r,
                const struct ar_decision_key *key, int *error)
{
    struct ar_request request;
    const bool may_borrow = !key->pick && !key->for_devices && key->size > 0 &&
                            c->config->determinism == AR_DETERMINISM_NONE &&
                            c->config->tune != AR_TUNE_ONLINE;
    const size_t longer = may_borrow ? ar_lending_count(key->count, key->size) : key->count;
    if (longer == key->count || c->choice.lends_none & bit_of(key))
        return key->count;
    *error = ar_request_describe(c, comm, &request, r, key->count, key->place);
    if (*error || !ar_config_may_cut(c->config, &request) ||
        !is_autos(c->config, &request, longer * key->size) ||
        ar_often_note(&c->choice.often, ar_call_hash(key->count, key->size, 0)))
        return key->count;
    /* The table has changed.  Now all ranks ask it again, whatever handles they have used. */
    forget_lendable(&c->choice.recents);
    return longer;
}

/* In groups of unequal size a plan may not be able to end early, on some ranks. */
bool
ar_decision_lends(const struct ar_decision *d)
{
    const struct ar_grouping *const grouping = d->choice.params.grouping;
    return d->reason == ar_reason_first ||
           (d->runner == AR_RUN_MEMORY && (!grouping || ar_grouping_is_even(grouping)));
}

struct ar_decision *
ar_decision_lend(struct ar_communicator *c, const struct ar_decision *d, size_t count, int *error)
{
    const bool is_broken =
        d->node_plan && !d->node_plan->can_end_early; /* it is proved not to be */
    struct ar_decision *const told = is_broken ? NULL : ar_decision_copy(c, d);
    *error = told ? MPI_SUCCESS : is_broken ? MPI_ERR_INTERN : MPI_ERR_NO_MEM;
    if (told)
        told->key.count = count;
    return told;
}

void
ar_decision_keep_own(struct ar_communicator *c, const struct ar_decision_key *key)
{
    c->choice.lends_none |= bit_of(key);
}
