/* What is told of a decision, and copies of it for one call. */
#include <stdio.h>
#include <stdlib.h>

#include "communicator/decide.h"
#include "communicator/ways.h"

static const char reason_staged[] = "device memory, staged";

void
ar_decision_print(const struct ar_decision *d, char ran[AR_CHOICE_TEXT])
{
    if (d->runner == AR_RUN_EXACT)
        snprintf(ran, AR_CHOICE_TEXT, "exact sum");
    else if (d->runner == AR_RUN_NATIVE)
        snprintf(ran, AR_CHOICE_TEXT, "native");
    else
        ar_choice_print(&d->choice, ran, AR_CHOICE_TEXT);
}

void
ar_decision_label(struct ar_communicator *c, struct ar_decision *d)
{
    char requested[AR_CHOICE_TEXT] = "auto", ran[AR_CHOICE_TEXT];
    if (d->clause)
        ar_choice_print(d->clause, requested, sizeof requested);
    ar_decision_print(d, ran);
    d->label =
        ar_recorder_label(c->records.recorder, AR_ENTRY_ALLREDUCE, NULL, requested, ran, d->reason);
}

struct ar_record *
ar_decision_record(struct ar_communicator *c, struct ar_decision *d, const struct ar_reduction *r,
                   enum ar_place place)
{
    const struct ar_record_key key = {
        .label = d->label,
        .type = r->named ? r->type : ar_record_type(r->type),
        .op = r->named ? r->op : ar_record_op(r->op),
        .bin = ar_size_bin(d->key.count * d->key.size),
        .nranks = c->nranks,
        .place = place,
    };
    if (!d->record || d->record->key.type != key.type || d->record->key.op != key.op ||
        d->record->key.place != place)
        d->record = ar_recorder_find(c->records.recorder, &key);
    return d->record;
}

struct ar_decision *
ar_decision_copy(struct ar_communicator *c, const struct ar_decision *d)
{
    if (!c->choice.told)
        c->choice.told = malloc(sizeof *c->choice.told);
    if (!c->choice.told)
        return NULL;
    *c->choice.told = *d;
    c->choice.told->record = NULL;
    return c->choice.told;
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
    if (c->records.recorder)
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
                            (c->memory.in_place->missed || c->memory.in_place->yielded);
    if (!was_missed || d->reason == reason_staged || d->reason == ar_reason_derived)
        return d;
    const char *const reason = c->memory.in_place->missed ? ar_reason_unmapped : ar_reason_yielded;
    struct ar_decision *const told = ar_decision_tell(c, d, reason, AR_COPY_SLOTS);
    return told ? told : d;
}
