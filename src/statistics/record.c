#include "statistics/record.h"

#include <stdlib.h>
#include <string.h>

#include "reduce/named.h"

struct ar_recorder *
ar_recorder_create(void)
{
    struct ar_recorder *const recorder = calloc(1, sizeof *recorder);
    if (recorder)
        recorder->comm = MPI_COMM_NULL;
    return recorder;
}

void
ar_recorder_destroy(struct ar_recorder *recorder)
{
    if (!recorder)
        return;
    for (struct ar_record *r = atomic_load(&recorder->first), *next; r; r = next) {
        next = atomic_load(&r->next);
        free(r);
    }
    for (struct ar_call_label *label = recorder->labels, *next; label; label = next) {
        next = label->next;
        free(label);
    }
    for (int i = 0; i < AR_CALLERS_MOST; i++)
        free(atomic_load(&recorder->sites[i]));
    free(recorder);
}

const struct ar_call_label *
ar_recorder_label(struct ar_recorder *recorder, enum ar_entry entry, const char *comm,
                  const char *requested, const char *ran, const char *reason)
{
    struct ar_call_label *label = recorder->labels;
    while (label &&
           (label->entry != entry || label->comm != comm || strcmp(label->reason, reason) != 0 ||
            strcmp(label->requested, requested) != 0 || strcmp(label->ran, ran) != 0))
        label = label->next;
    if (label)
        return label;
    label = calloc(1, sizeof *label);
    if (!label)
        return NULL;
    label->next = recorder->labels;
    label->entry = entry;
    label->comm = comm;
    snprintf(label->requested, sizeof label->requested, "%s", requested);
    snprintf(label->ran, sizeof label->ran, "%s", ran);
    snprintf(label->reason, sizeof label->reason, "%s", reason);
    recorder->labels = label;
    return label;
}

/* Looks names up now, since later MPI may have ended. */
void
ar_record_names(char type_name[AR_NAME_TEXT], char op_name[AR_NAME_TEXT], MPI_Datatype type,
                MPI_Op op)
{
    char name[MPI_MAX_OBJECT_NAME] = "derived";
    int length;
    enum ar_op which;
    const bool predefined = op != MPI_OP_NULL && ar_op_find(&which, op) == AR_OP_PREDEFINED;
    if (type != MPI_DATATYPE_NULL)
        PMPI_Type_get_name(type, name, &length);
    snprintf(type_name, AR_NAME_TEXT, "%.*s", AR_NAME_TEXT - 1, name);
    snprintf(op_name, AR_NAME_TEXT, "%s", predefined ? ar_op_name(which) : "user");
}

struct ar_record *
ar_recorder_find(struct ar_recorder *recorder, const struct ar_record_key *key)
{
    struct ar_record *const first = atomic_load_explicit(&recorder->first, memory_order_relaxed);
    for (struct ar_record *r = first; r; r = atomic_load_explicit(&r->next, memory_order_relaxed))
        if (r->key.label == key->label && r->key.type == key->type && r->key.op == key->op &&
            r->key.bin == key->bin && r->key.nranks == key->nranks && r->key.place == key->place)
            return r;
    struct ar_record *const new = key->label ? malloc(sizeof *new) : NULL;
    if (!new) {
        ar_record_bump(&recorder->lost, 1);
        return NULL;
    }
    new->key = *key;
    new->type[0] = new->op[0] = '\0';
    if (key->nranks > 0)
        ar_record_names(new->type, new->op, key->type, key->op);
    new->last_bytes = UINT64_MAX;
    ar_counts_init(&new->counts);
    atomic_init(&new->next, first);
    /* Pairs with the acquire in ar_recorder_collect. */
    atomic_store_explicit(&recorder->first, new, memory_order_release);
    return new;
}

struct ar_record *
ar_recorder_find_native(struct ar_recorder *recorder, const struct ar_call_label *label, int nranks,
                        MPI_Datatype type, MPI_Op op, enum ar_place place, uint64_t count,
                        uint64_t *bytes)
{
    int size = 0;
    if (nranks > 0)
        PMPI_Type_size(type, &size);
    *bytes = count * (uint64_t)size;
    const struct ar_record_key key = {
        .label = label,
        .type = nranks > 0 ? ar_record_type(type) : MPI_DATATYPE_NULL,
        .op = nranks > 0 ? ar_record_op(op) : MPI_OP_NULL,
        .bin = ar_size_bin(*bytes),
        .nranks = nranks,
        .place = place,
    };
    return ar_recorder_find(recorder, &key);
}

MPI_Datatype
ar_record_type(MPI_Datatype type)
{
    return ar_named_find(type) ? type : MPI_DATATYPE_NULL;
}

MPI_Op
ar_record_op(MPI_Op op)
{
    enum ar_op which;
    return ar_op_find(&which, op) == AR_OP_PREDEFINED ? op : MPI_OP_NULL;
}

void
ar_recorder_note_site(struct ar_recorder *recorder, const struct ar_caller *caller,
                      enum ar_entry entry, uint64_t bytes, uint64_t ns)
{
    if (!caller->address)
        return;
    const int number = ar_caller_find(caller, entry);
    struct ar_site_counts *c = atomic_load_explicit(&recorder->sites[number], memory_order_relaxed);
    if (!c) {
        c = calloc(1, sizeof *c);
        /* Pairs with the acquire in collect_sites. */
        atomic_store_explicit(&recorder->sites[number], c, memory_order_release);
    }
    if (!c)
        return;
    ar_record_bump(&c->calls, 1);
    ar_record_bump(&c->bytes, bytes);
    ar_record_bump(&c->ns, ns);
    ar_record_bump(&c->wait_ns, ar_clock_ns(recorder->waited_ticks));
}

static void
fill_row(struct ar_row *row, const struct ar_record *record, const char *name)
{
    const struct ar_call_label *label = record->key.label;
    const uint64_t *const numbers = (const uint64_t *)&record->counts;
    memset(row, 0, sizeof *row);
    row->key.entry = label->entry;
    row->key.nranks = record->key.nranks;
    row->key.bin = record->key.bin;
    row->key.place = record->key.place;
    snprintf(row->key.comm, sizeof row->key.comm, "%s", label->comm ? label->comm : name);
    snprintf(row->key.type, sizeof row->key.type, "%s", record->type);
    snprintf(row->key.op, sizeof row->key.op, "%s", record->op);
    snprintf(row->key.requested, sizeof row->key.requested, "%s", label->requested);
    snprintf(row->key.ran, sizeof row->key.ran, "%s", label->ran);
    snprintf(row->key.reason, sizeof row->key.reason, "%s", label->reason);
    /* The numbers may change meanwhile, so they are copied one by one, in order.  Pairs with the
     * release in ar_record_note. */
    for (size_t i = 0; i < sizeof row->counts / sizeof *numbers; i++)
        ((uint64_t *)&row->counts)[i] = __atomic_load_n(&numbers[i], __ATOMIC_ACQUIRE);
}

static void
collect_sites(const struct ar_recorder *recorder, struct ar_site_rows *rows)
{
    for (int i = 0; i < AR_CALLERS_MOST; i++) {
        /* Pairs with the release in ar_recorder_note_site. */
        const struct ar_site_counts *const c =
            atomic_load_explicit(&recorder->sites[i], memory_order_acquire);
        if (!c || __atomic_load_n(&c->calls, __ATOMIC_RELAXED) == 0)
            continue;
        const struct ar_site_row row = {
            .site = *ar_caller_site(i),
            .calls = __atomic_load_n(&c->calls, __ATOMIC_RELAXED),
            .bytes = __atomic_load_n(&c->bytes, __ATOMIC_RELAXED),
            .ns = __atomic_load_n(&c->ns, __ATOMIC_RELAXED),
            .wait_ns = __atomic_load_n(&c->wait_ns, __ATOMIC_RELAXED),
        };
        ar_site_rows_add(rows, &row);
    }
}

void
ar_recorder_collect(const struct ar_recorder *recorder, const char *name, struct ar_table *table)
{
    struct ar_row row;
    /* Pairs with the release in ar_record_begin. */
    const struct ar_record *running =
        atomic_load_explicit(&recorder->running, memory_order_acquire);
    const uint64_t started = __atomic_load_n(&recorder->started_ticks, __ATOMIC_RELAXED);
    /* Pairs with the release in ar_recorder_find. */
    const struct ar_record *r = atomic_load_explicit(&recorder->first, memory_order_acquire);
    for (; r; r = atomic_load_explicit(&r->next, memory_order_relaxed)) {
        fill_row(&row, r, name);
        if (r == running)
            row.running_ns = ar_clock_ns(ar_clock_since(started));
        if (row.counts.calls > 0 || r == running)
            ar_table_add(table, &row);
    }
    collect_sites(recorder, &table->sites);
    table->lost += __atomic_load_n(&recorder->lost, __ATOMIC_RELAXED);
}

/* Where a call was lost here, those behind it are not the other ranks' of the same number. */
void
ar_recorder_collect_arrivals(const struct ar_recorder *recorder, int rank,
                             struct ar_arrivals_list *list)
{
    struct ar_arrivals arrivals;
    if (recorder->id == 0 || recorder->times.calls == 0 || recorder->lost > 0)
        return;
    ar_arrivals_init(&arrivals, recorder->id, recorder->nranks, rank, &recorder->times);
    ar_arrivals_add(list, &arrivals);
}

void
ar_recorder_reset(struct ar_recorder *recorder)
{
    struct ar_record *r = atomic_load_explicit(&recorder->first, memory_order_relaxed);
    for (; r; r = atomic_load_explicit(&r->next, memory_order_relaxed)) {
        ar_counts_init(&r->counts);
        r->last_bytes = UINT64_MAX;
    }
    for (int i = 0; i < AR_CALLERS_MOST; i++) {
        struct ar_site_counts *const c = atomic_load(&recorder->sites[i]);
        if (c)
            *c = (struct ar_site_counts){0};
    }
    recorder->lost = 0;
    recorder->times = (struct ar_call_times){.calls = 0};
}
