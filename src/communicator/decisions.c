#include "communicator/decisions.h"

#include <stdio.h>
#include <stdlib.h>

#include "algorithms/grouping.h"
#include "communicator/decide.h"
#include "communicator/ways.h"
#include "execute/node_plan.h"

/* Bound of all plans of one communicator; a single plan may be larger. */
#define PLAN_BYTES_MAX ((size_t)16 << 20)

/* --- recent calls --- */

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

/* --- kinds of calls --- */

bool
ar_decisions_see(struct ar_decisions *ds, size_t bytes)
{
    const unsigned octave = 63U - (unsigned)__builtin_clzll(bytes);
    const unsigned eighth = (octave < 3 ? bytes << (3 - octave) : bytes >> (octave - 3)) & 7;
    const bool is_first = !(ds->seen[octave] >> eighth & 1);
    ds->seen[octave] |= (uint8_t)(1U << eighth);
    return is_first;
}

/* As Misra & Gries find what occurs most (Science of Computer Programming 2, 1982, 143-152): a call
 * of a known kind counts it up.  A call of a kind that has no place counts all others of its set
 * down; a later one may take the place of one that has come to 0.  A kind that has come
 * AR_OFTEN_CALLS times is lifted by as many, once, and counted no further. */
bool
ar_often_note(struct ar_often *often, uint64_t kind)
{
    uint64_t *const set = often->kind[(kind >> 32) % AR_OFTEN_SETS], *free = NULL;
    for (int i = 0; i < AR_OFTEN_WAYS; i++) {
        const uint64_t calls = set[i] & 0xff;
        if (calls > 0 && (set[i] ^ kind) >> 8 == 0) {
            if (calls < AR_OFTEN_CALLS)
                set[i] += calls == AR_OFTEN_CALLS - 1 ? 1 + AR_OFTEN_CALLS : 1;
            return calls >= AR_OFTEN_CALLS;
        }
        free = calls == 0 ? &set[i] : free;
    }
    if (free)
        *free = kind >> 8 << 8 | 1;
    for (int i = 0; !free && i < AR_OFTEN_WAYS; i++)
        set[i]--;
    return false;
}

/* --- the memory --- */

static bool
same_key(const struct ar_decision_key *a, const struct ar_decision_key *b)
{
    return a->count == b->count && a->size == b->size && a->true_extent == b->true_extent &&
           a->extent == b->extent && a->true_lb == b->true_lb && a->commutative == b->commutative &&
           a->named == b->named && a->basic == b->basic && a->op == b->op && a->type == b->type &&
           a->place == b->place && a->pick == b->pick && a->keeps == b->keeps &&
           a->for_devices == b->for_devices;
}

static size_t
chain_of(const struct ar_decision_key *key)
{
    return (ar_call_hash(key->count, key->size, key->pick) >> 32) % AR_DECISION_CHAINS;
}

static size_t
plan_bytes(const struct ar_decision *d)
{
    return d->plan        ? ar_plan_memory_bytes(d->plan)
           : d->node_plan ? ar_node_plan_memory_bytes(d->node_plan)
                          : 0;
}

void
ar_decision_destroy(struct ar_decision *d)
{
    if (!d)
        return;
    ar_plan_destroy(d->plan);
    ar_node_plan_destroy(d->node_plan);
    free(d);
}

/* Drops the decision to which the link points. */
static void
drop(struct ar_decisions *ds, struct ar_decision **link)
{
    struct ar_decision *const d = *link;
    *link = d->next;
    ds->plan_bytes -= plan_bytes(d);
    ar_recent_forget(&ds->recents, d);
    if (ds->ran == d)
        ds->ran = NULL;
    ar_decision_destroy(d);
}

static void
drop_all(struct ar_decisions *ds, const struct ar_decision *but)
{
    for (int i = 0; i < AR_DECISION_CHAINS; i++)
        for (struct ar_decision **link = &ds->chains[i]; *link;) {
            if (*link == but)
                link = &(*link)->next;
            else
                drop(ds, link);
        }
}

void
ar_decisions_clear(struct ar_decisions *ds)
{
    drop_all(ds, NULL);
}

struct ar_decision *
ar_decisions_find(const struct ar_decisions *ds, const struct ar_decision_key *key)
{
    struct ar_decision *d = ds->chains[chain_of(key)];
    while (d && !same_key(&d->key, key))
        d = d->next;
    return d;
}

void
ar_decisions_keep(struct ar_decisions *ds, struct ar_decision *d)
{
    struct ar_decision **const chain = &ds->chains[chain_of(&d->key)];
    const size_t bytes = plan_bytes(d);
    int n = 0;
    if (ds->plan_bytes + bytes > PLAN_BYTES_MAX)
        drop_all(ds, ds->ran);
    for (struct ar_decision **link = chain; *link;) {
        const bool is_old = ++n >= AR_DECISION_WAYS && *link != ds->ran;
        if (is_old || same_key(&(*link)->key, &d->key))
            drop(ds, link);
        else
            link = &(*link)->next;
    }
    d->next = *chain;
    *chain = d;
    ds->plan_bytes += bytes;
}

/* --- plans that are lent ---
 *
 * Where ranks share memory the plan of a rank has a part of each other rank's schedule, and takes
 * longer to make than a call takes (make bench-counts).  A program whose counts vary from call to
 * call would make a plan for each.  But elements do not depend on each other, so that a plan serves
 * a shorter vector, too: it ends early. */

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

/* Forgets the recent calls about which a look-up would ask the table of what comes often. */
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
    if (longer == key->count)
        return key->count;
    *error = ar_request_describe(c, comm, &request, r, key->count, key->place);
    if (*error || !ar_config_may_cut(c->config, &request) ||
        !is_autos(c->config, &request, longer * key->size) ||
        ar_often_note(&c->choice.often, ar_call_hash(key->count, key->size, 0)))
        return key->count;
    forget_lendable(&c->choice.recents); /* the table has changed */
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

/* --- what is told --- */

struct ar_choice
ar_decision_choice(const struct ar_decision *d, const char *told)
{
    struct ar_choice choice = d->choice;
    if (told == ar_reason_unmapped || told == ar_reason_yielded)
        choice.params.copy = AR_COPY_SLOTS;
    return choice;
}

void
ar_decision_print(const struct ar_decision *d, const char *told, char ran[AR_CHOICE_TEXT])
{
    const struct ar_choice choice = ar_decision_choice(d, told);
    if (d->runner == AR_RUN_EXACT)
        snprintf(ran, AR_CHOICE_TEXT, "exact sum");
    else if (d->runner == AR_RUN_NATIVE)
        snprintf(ran, AR_CHOICE_TEXT, "native");
    else
        ar_choice_print(&choice, ran, AR_CHOICE_TEXT);
}

const struct ar_call_label *
ar_decision_label(struct ar_communicator *c, const struct ar_decision *d, const char *told)
{
    char requested[AR_CHOICE_TEXT] = "auto", ran[AR_CHOICE_TEXT];
    if (d->clause)
        ar_choice_print(d->clause, requested, sizeof requested);
    ar_decision_print(d, told, ran);
    return ar_recorder_label(c->records.recorder, AR_ENTRY_ALLREDUCE, NULL, requested, ran,
                             told ? told : d->reason);
}

struct ar_record *
ar_decision_record(struct ar_communicator *c, struct ar_decision *d, const char *told,
                   const struct ar_reduction *r, size_t count, enum ar_place place)
{
    const struct ar_record_key key = {
        .label = told ? ar_decision_label(c, d, told) : d->label,
        .type = r->named ? r->type : ar_record_type(r->type),
        .op = r->named ? r->op : ar_record_op(r->op),
        .bin = ar_size_bin(count * d->key.size),
        .nranks = c->nranks,
        .place = place,
    };
    const struct ar_record_key *const last = d->record ? &d->record->key : NULL;
    if (!told && last && last->bin == key.bin && last->type == key.type && last->op == key.op &&
        last->place == place)
        return d->record;
    struct ar_record *const record = ar_recorder_find(c->records.recorder, &key);
    d->record = told ? d->record : record;
    return record;
}

const char *
ar_decision_missed(const struct ar_communicator *c, const struct ar_decision *d, const char *told)
{
    if (told || d->runner != AR_RUN_MEMORY || d->choice.params.copy != AR_COPY_IN_PLACE ||
        d->reason == ar_reason_derived)
        return told;
    return c->memory.in_place->missed    ? ar_reason_unmapped
           : c->memory.in_place->yielded ? ar_reason_yielded
                                         : NULL;
}
