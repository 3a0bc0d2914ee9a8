#include "record/record.h"

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
        free(r->taken);
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

static struct ar_record *
look_up(const struct ar_recorder *recorder, const struct ar_record_key *key)
{
    struct ar_record *r = atomic_load_explicit(&recorder->first, memory_order_relaxed);
    while (r &&
           !(r->key.label == key->label && r->key.type == key->type && r->key.op == key->op &&
             r->key.bin == key->bin && r->key.nranks == key->nranks && r->key.place == key->place))
        r = atomic_load_explicit(&r->next, memory_order_relaxed);
    return r;
}

struct ar_record *
ar_recorder_find_named(struct ar_recorder *recorder, const struct ar_record_key *key,
                       const char *type_name, const char *op_name)
{
    struct ar_record *const known = look_up(recorder, key);
    struct ar_record *const new = !known && key->label ? malloc(sizeof *new) : NULL;
    if (known)
        return known;
    if (!new) {
        ar_record_bump(&recorder->lost, 1);
        return NULL;
    }
    new->key = *key;
    snprintf(new->type, sizeof new->type, "%s", type_name);
    snprintf(new->op, sizeof new->op, "%s", op_name);
    new->taken = NULL;
    new->last_bytes = UINT64_MAX;
    ar_counts_init(&new->counts);
    atomic_init(&new->next, atomic_load_explicit(&recorder->first, memory_order_relaxed));
    /* Pairs with the acquire in ar_recorder_collect. */
    atomic_store_explicit(&recorder->first, new, memory_order_release);
    return new;
}

struct ar_record *
ar_recorder_find(struct ar_recorder *recorder, const struct ar_record_key *key)
{
    char type_name[AR_NAME_TEXT] = "", op_name[AR_NAME_TEXT] = "";
    struct ar_record *const known = look_up(recorder, key);
    if (!known && key->nranks > 0)
        ar_record_names(type_name, op_name, key->type, key->op);
    return known ? known : ar_recorder_find_named(recorder, key, type_name, op_name);
}

struct ar_record_key
ar_record_native_key(int nranks, MPI_Datatype type, MPI_Op op, enum ar_place place, uint64_t count,
                     uint64_t *bytes)
{
    int size = 0;
    if (nranks > 0)
        PMPI_Type_size(type, &size);
    *bytes = count * (uint64_t)size;
    return (struct ar_record_key){
        .type = nranks > 0 ? ar_record_type(type) : MPI_DATATYPE_NULL,
        .op = nranks > 0 ? ar_record_op(op) : MPI_OP_NULL,
        .bin = ar_size_bin(*bytes),
        .nranks = nranks,
        .place = place,
    };
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

/* Whose the process's last call was. */
static _Atomic(const struct ar_recorder *) latest;

/* Counts the call in a run if it follows its like; the first call of a run is counted with the
 * second one.  The order of calls in different threads is of no concern. */
static void
note_run(struct ar_recorder *recorder, struct ar_call_runs *runs, const struct ar_record_key *key,
         int site, uint64_t bytes, uint64_t ns)
{
    struct ar_last_call *const last = &recorder->last;
    const uint64_t begun_ns = ar_clock_ns(recorder->started_ticks);
    const bool is_latest = atomic_load_explicit(&latest, memory_order_relaxed) == recorder;
    const bool is_like = last->site == site && last->bytes == bytes && last->type == key->type &&
                         last->op == key->op && key->type != MPI_DATATYPE_NULL &&
                         key->op != MPI_OP_NULL;
    const bool is_in_run =
        is_latest && is_like && ns > 0 && begun_ns - last->ended_ns < AR_RUN_GAP_NS;
    const bool is_second = is_in_run && !last->is_in_run;
    if (!is_latest)
        atomic_store_explicit(&latest, recorder, memory_order_relaxed);
    if (is_second)
        ar_record_bump(&runs->runs, 1);
    if (is_in_run) {
        ar_record_bump(&runs->calls, is_second ? 2 : 1);
        ar_record_bump(&runs->bytes, is_second ? 2 * bytes : bytes);
        ar_record_bump(&runs->ns, is_second ? last->ns + ns : ns);
    }
    *last = (struct ar_last_call){key->type, key->op, bytes, ns, begun_ns + ns, site, is_in_run};
}

void
ar_recorder_note_site(struct ar_recorder *recorder, const struct ar_record *record,
                      const struct ar_caller *caller, uint64_t bytes, uint64_t ns)
{
    if (!caller->address)
        return;
    const int number = ar_caller_find(caller, record->key.label->entry);
    struct ar_recorded_site *site =
        atomic_load_explicit(&recorder->sites[number], memory_order_relaxed);
    const bool is_new = !site;
    if (!site) {
        site = calloc(1, sizeof *site);
        /* Pairs with the acquire in fill_site. */
        atomic_store_explicit(&recorder->sites[number], site, memory_order_release);
    }
    if (!site)
        return;
    struct ar_site_counts *const c = &site->counts;
    ar_record_bump(&c->calls, 1);
    ar_record_bump(&c->bytes, bytes);
    ar_record_bump(&c->ns, ns);
    ar_record_bump(&c->wait_ns, ar_clock_ns(recorder->waited_ticks));
    note_run(recorder, &c->runs, &record->key, number, bytes, ns);
    if (is_new) /* to find the place takes long, but is no pause of the program's */
        recorder->last.ended_ns = ar_clock_ns(ar_clock_ticks());
}

/* --- for the table --- */

static void
fill_row(struct ar_row *row, const struct ar_recorder *recorder, const struct ar_record *record,
         const char *name)
{
    const struct ar_call_label *label = record->key.label;
    const uint64_t *const numbers = (const uint64_t *)&record->counts;
    memset(row, 0, sizeof *row);
    row->key.entry = label->entry;
    row->key.nranks = record->key.nranks;
    row->key.nodes = atomic_load_explicit(&recorder->nodes, memory_order_relaxed);
    row->shares_cores = atomic_load_explicit(&recorder->shares_cores, memory_order_relaxed);
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

/* Removes the sizes that have no calls left, since the first one without calls ends the list. */
static void
subtract_sizes(struct ar_size_counts sizes[AR_SIZES_MOST], const struct ar_size_counts *taken)
{
    int n = 0;
    for (int i = 0; i < AR_SIZES_MOST; i++) {
        const struct ar_size_counts left = {.calls = sizes[i].calls - taken[i].calls,
                                            .bytes = sizes[i].bytes,
                                            .ns = sizes[i].ns - taken[i].ns};
        if (left.calls > 0)
            sizes[n++] = left;
    }
    memset(&sizes[n], 0, (size_t)(AR_SIZES_MOST - n) * sizeof *sizes);
}

static void
subtract(struct ar_counts *counts, const struct ar_counts *taken)
{
    counts->calls -= taken->calls;
    counts->bytes -= taken->bytes;
    counts->ns -= taken->ns;
    counts->wait_ns -= taken->wait_ns;
    counts->setup_ns -= taken->setup_ns;
    counts->streamed -= taken->streamed;
    for (int i = 0; i < AR_HISTOGRAM_BUCKETS; i++)
        counts->times.count[i] -= taken->times.count[i];
    subtract_sizes(counts->sizes, taken->sizes);
}

static uint64_t
load(const uint64_t *n)
{
    return __atomic_load_n(n, __ATOMIC_RELAXED);
}

static struct ar_call_runs
subtract_runs(const struct ar_call_runs *all, const struct ar_call_runs *taken)
{
    return (struct ar_call_runs){all->runs - taken->runs, all->calls - taken->calls,
                                 all->bytes - taken->bytes, all->ns - taken->ns};
}

/* What is left of the calls from the site of that number; *counts: all of them.  False: nothing. */
static bool
fill_site(struct ar_site_row *row, struct ar_site_counts *counts,
          const struct ar_recorder *recorder, int number)
{
    /* Pairs with the release in ar_recorder_note_site. */
    const struct ar_recorded_site *const s =
        atomic_load_explicit(&recorder->sites[number], memory_order_acquire);
    if (!s)
        return false;
    const struct ar_site_counts *const now = &s->counts, *const taken = &s->taken;
    *counts = (struct ar_site_counts){load(&now->calls),
                                      load(&now->bytes),
                                      load(&now->ns),
                                      load(&now->wait_ns),
                                      {load(&now->runs.runs), load(&now->runs.calls),
                                       load(&now->runs.bytes), load(&now->runs.ns)}};
    *row = (struct ar_site_row){.site = *ar_caller_site(number),
                                .calls = counts->calls - taken->calls,
                                .bytes = counts->bytes - taken->bytes,
                                .ns = counts->ns - taken->ns,
                                .wait_ns = counts->wait_ns - taken->wait_ns,
                                .runs = subtract_runs(&counts->runs, &taken->runs)};
    row->runs_nranks = row->runs.runs > 0 ? recorder->nranks : 0;
    if (row->wait_ns == 0) /* native calls add nothing */
        row->wait_ns = UINT64_MAX;
    return row->calls > 0;
}

void
ar_recorder_collect(const struct ar_recorder *recorder, const char *name, struct ar_table *table)
{
    static struct ar_row row; /* too large for a small stack; of the one thread that is here */
    struct ar_site_row site;
    struct ar_site_counts counts;
    /* Pairs with the release in ar_record_begin. */
    const struct ar_record *running =
        atomic_load_explicit(&recorder->running, memory_order_acquire);
    const uint64_t started = __atomic_load_n(&recorder->started_ticks, __ATOMIC_RELAXED);
    /* Pairs with the release in ar_recorder_find. */
    const struct ar_record *r = atomic_load_explicit(&recorder->first, memory_order_acquire);
    for (; r; r = atomic_load_explicit(&r->next, memory_order_relaxed)) {
        fill_row(&row, recorder, r, name);
        if (r->taken)
            subtract(&row.counts, r->taken);
        if (r == running)
            row.running_ns = ar_clock_ns(ar_clock_since(started));
        if (row.counts.calls > 0 || r == running)
            ar_table_add(table, &row);
    }
    for (int i = 0; i < AR_CALLERS_MOST; i++)
        if (fill_site(&site, &counts, recorder, i))
            ar_site_rows_add(&table->sites, &site);
    table->lost += __atomic_load_n(&recorder->lost, __ATOMIC_RELAXED) - recorder->lost_taken;
}

static void
take_record(const struct ar_recorder *recorder, struct ar_record *record, const char *name,
            struct ar_table *table)
{
    static struct ar_row row; /* too large for a small stack; of the one thread that is here */
    static struct ar_counts counts;
    if (!record->taken)
        record->taken = calloc(1, sizeof *record->taken);
    if (!record->taken)
        return;
    fill_row(&row, recorder, record, name);
    counts = row.counts;
    subtract(&row.counts, record->taken);
    if (row.counts.calls == 0)
        return;
    ar_table_add(table, &row);
    *record->taken = counts;
}

void
ar_recorder_take(struct ar_recorder *recorder, const char *name, struct ar_table *table)
{
    struct ar_site_row site;
    struct ar_site_counts counts;
    const uint64_t lost = __atomic_load_n(&recorder->lost, __ATOMIC_RELAXED);
    /* Pairs with the release in ar_recorder_find. */
    struct ar_record *r = atomic_load_explicit(&recorder->first, memory_order_acquire);
    for (; r; r = atomic_load_explicit(&r->next, memory_order_relaxed))
        take_record(recorder, r, name, table);
    for (int i = 0; i < AR_CALLERS_MOST; i++)
        if (fill_site(&site, &counts, recorder, i)) {
            ar_site_rows_add(&table->sites, &site);
            atomic_load(&recorder->sites[i])->taken = counts;
        }
    table->lost += lost - recorder->lost_taken;
    recorder->lost_taken = lost;
}

/* Once a call was lost here, later ones no longer have the same numbers as on the other ranks. */
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
