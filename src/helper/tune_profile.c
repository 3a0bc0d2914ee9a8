#include "config.h"

#include "helper/tune.h"

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "helper/job.h"

#define COVERED 0.99 /* of the time: what makes up the rest is not replayed */

/* --- rows --- */

/* Calls that may be replayed. */
struct item {
    struct ar_profiled calls;
    const struct ar_row *row; /* from which they come */
    const char *why_not;      /* why they cannot be, a static text; NULL: they can */
};

/* Fills calls from a row, except for their sizes.  NULL, or a static text that says why they cannot
 * be replayed. */
static const char *
take(struct ar_profiled *calls, const struct ar_row *row)
{
    const struct ar_row_key *const key = &row->key;
    char why[AR_PROBLEM_TEXT];
    struct ar_text none;
    struct ar_choice ran;
    memset(calls, 0, sizeof *calls);
    ar_text_init(&none, why, sizeof why);
    if (key->entry != AR_ENTRY_ALLREDUCE)
        return "not MPI_Allreduce";
    if (ar_row_why_fixed(row))
        return ar_row_why_fixed(row);
    if (!ar_type_find(&calls->type, key->type, &none) || !ar_named_at(calls->type))
        return "a derived type, or one that is unknown here";
    if (!ar_op_by_name(&calls->op, key->op, &none) ||
        !(ar_named_at(calls->type)->ops & 1U << calls->op))
        return "a user-defined op, or one that is unknown here";
    if (!ar_ran_read(&ran, row->key.ran))
        return "rules cannot name what ran";
    calls->nranks = key->nranks;
    calls->bin = key->bin;
    calls->place = key->place;
    calls->was_named = strcmp(key->requested, "auto") != 0;
    memcpy(calls->ran, key->ran, sizeof calls->ran);
    return NULL;
}

static struct item
item_of(const struct item *whole, double ncalls, double ns, double bytes, int ranks)
{
    struct item item = *whole;
    item.calls.calls = ncalls / ranks;
    item.calls.seconds = ns * 1e-9 / ranks;
    item.calls.total_bytes = bytes / ranks;
    return item;
}

/* Adds the row's calls to *n items: one for each size that the statistics tell, and one for all
 * other calls. */
static void
split(struct item *items, size_t *n, const struct ar_row *row, int ranks)
{
    const struct ar_counts *const c = &row->counts;
    double calls = (double)c->calls, ns = (double)c->ns, bytes = (double)c->bytes;
    struct item whole = {.row = row};
    uint64_t one;
    whole.why_not = take(&whole.calls, row);
    for (int i = 0; i < AR_SIZES_MOST && c->sizes[i].calls > 0 && !whole.why_not; i++) {
        const struct ar_size_counts *const size = &c->sizes[i];
        const double all = (double)size->calls * (double)size->bytes;
        items[(*n)++] = item_of(&whole, (double)size->calls, (double)size->ns, all, ranks);
        calls -= (double)size->calls;
        ns -= (double)size->ns;
        bytes -= all;
    }
    whole.calls.is_mean = !ar_row_size(&one, row);
    if (calls >= 1 && bytes > 0)
        items[(*n)++] = item_of(&whole, calls, fmax(ns, 0), bytes, ranks);
}

static enum ar_type_class
class_of(const struct ar_profiled *calls)
{
    return ar_named_at(calls->type)->geometry.type_class;
}

static bool
are_alike_but_for_size(const struct ar_profiled *a, const struct ar_profiled *b)
{
    return a->nranks == b->nranks && a->bin == b->bin && a->op == b->op &&
           class_of(a) == class_of(b);
}

/* Would the same rule serve both? */
static bool
are_alike(const struct ar_profiled *a, const struct ar_profiled *b)
{
    return are_alike_but_for_size(a, b) && a->place == b->place &&
           (ar_profiled_bytes(a) == ar_profiled_bytes(b) || (a->is_mean && b->is_mean));
}

/* --- the profile, on rank 0 --- */

static void
leave_out(FILE *to, const struct item *item, const char *why)
{
    char what[256], time[AR_NUMBER_TEXT];
    fprintf(to, "not replayed: %s of %s: %s\n",
            ar_time_print(item->calls.seconds * 1e9, time, sizeof time),
            ar_row_describe(item->row, what, sizeof what), why);
}

/* Adds the calls to those that are like them, or as new ones; returns why not, a static text.
 * What auto ran may have changed in between: then what took more time, and so came first, counts.
 */
static const char *
add(struct ar_profile *profile, const struct ar_profiled *calls)
{
    size_t i = 0;
    while (i < profile->n && !are_alike(&profile->calls[i], calls))
        i++;
    struct ar_profiled *const mine = &profile->calls[i];
    if (i == profile->n) {
        profile->n++;
        *mine = *calls;
    } else if (strcmp(mine->ran, calls->ran) != 0 && (mine->was_named || calls->was_named)) {
        return "rules cannot distinguish these calls from others that took more time and ran "
               "differently";
    } else {
        mine->calls += calls->calls;
        mine->seconds += calls->seconds;
        mine->total_bytes += calls->total_bytes;
        mine->is_mean |= calls->is_mean;
    }
    profile->nranks = calls->nranks > profile->nranks ? calls->nranks : profile->nranks;
    return NULL;
}

static int
in_groups(const void *a, const void *b)
{
    const struct ar_profiled *const x = a, *const y = b;
    if (x->nranks != y->nranks)
        return x->nranks < y->nranks ? 1 : -1;
    if (x->type != y->type)
        return x->type < y->type ? -1 : 1;
    if (x->op != y->op)
        return x->op < y->op ? -1 : 1;
    const size_t p = ar_profiled_bytes(x), q = ar_profiled_bytes(y);
    return p < q ? -1 : p > q;
}

static int
longer_first(const void *a, const void *b)
{
    const double x = ((const struct item *)a)->calls.seconds;
    const double y = ((const struct item *)b)->calls.seconds;
    return (x < y) - (x > y);
}

/* Selects those that make up most of the time; items has room for all. */
static void
select_calls(struct ar_profile *profile, const struct ar_read_run *run, struct item *items,
             FILE *left_out)
{
    double covered = 0, rest = 0;
    size_t n = 0, nrest = 0;
    for (size_t i = 0; i < run->table.nrows; i++) {
        const struct ar_row *const row = &run->table.rows[i];
        if (row->key.entry == AR_ENTRY_ALLREDUCE)
            profile->all_calls += (double)row->counts.calls / run->ranks;
        split(items, &n, row, run->ranks);
    }
    qsort(items, n, sizeof *items, longer_first);
    for (size_t i = 0; i < n; i++) {
        if (covered >= COVERED * profile->seconds) {
            rest += items[i].calls.seconds;
            nrest++;
            continue;
        }
        covered += items[i].calls.seconds;
        const char *why = items[i].why_not;
        why = why ? why : add(profile, &items[i].calls);
        if (why)
            leave_out(left_out, &items[i], why);
    }
    char time[AR_NUMBER_TEXT];
    if (nrest > 0)
        fprintf(left_out, "not replayed: %s of the %zu kind%s of calls that took the least time\n",
                ar_time_print(rest * 1e9, time, sizeof time), nrest, ar_plural(nrest));
}

/* False, having said why. */
static bool
make(struct ar_profile *profile, const struct ar_read_run *run)
{
    struct ar_facts facts;
    size_t length;
    const size_t most = run->table.nrows * (AR_SIZES_MOST + 1) + 1;
    struct item *const items = calloc(most, sizeof *items);
    profile->calls = calloc(most, sizeof *profile->calls);
    FILE *const left_out = open_memstream(&profile->left_out, &length);
    const bool has_room = items && profile->calls && left_out && ar_facts_make(&facts, run, 0);
    if (has_room && run->ranks > 0) {
        profile->seconds = ar_facts_seconds(&facts, facts.total_ns - facts.setup_ns);
        profile->late = ar_facts_seconds(&facts, facts.late_ns);
        snprintf(profile->program, sizeof profile->program, "%s", run->program);
        select_calls(profile, run, items, left_out);
        qsort(profile->calls, profile->n, sizeof *profile->calls, in_groups);
    }
    if (has_room)
        ar_facts_fini(&facts);
    else
        fprintf(stderr, "allreduce tune: out of memory\n");
    if (left_out)
        fclose(left_out);
    free(items);
    if (has_room && profile->seconds <= 0)
        fprintf(stderr, "allreduce tune: --from: %s has no calls of MPI_Allreduce with a time\n",
                run->path);
    return has_room && profile->seconds > 0;
}

static int
make_from_file(struct ar_profile *profile, const char *path, int nranks)
{
    struct ar_read_run run;
    const int status = ar_run_read(&run, "tune", path);
    if (status)
        return status;
    const bool is_made = make(profile, &run);
    ar_run_fini(&run);
    if (!is_made)
        return AR_EXIT_FAILED;
    if (profile->nranks <= nranks)
        return AR_EXIT_DONE;
    fprintf(stderr,
            "allreduce tune: --from: %s has calls on %d ranks, but this job has %d: start it with "
            "mpiexec -n %d\n",
            path, profile->nranks, nranks, profile->nranks);
    return AR_EXIT_USAGE;
}

/* --- on all ranks --- */

int
ar_profile_read(struct ar_profile *profile, const char *path)
{
    int rank, nranks, status = AR_EXIT_DONE;
    *profile = (struct ar_profile){.calls = NULL};
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    if (rank == 0)
        status = make_from_file(profile, path, nranks);
    MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (status)
        return status;
    unsigned long n = profile->n;
    MPI_Bcast(&n, 1, MPI_UNSIGNED_LONG, 0, MPI_COMM_WORLD);
    profile->n = n;
    if (rank != 0)
        profile->calls = ar_cli_need_memory(calloc(n + 1, sizeof *profile->calls));
    MPI_Bcast(profile->calls, (int)(n * sizeof *profile->calls), MPI_BYTE, 0, MPI_COMM_WORLD);
    return AR_EXIT_DONE;
}

void
ar_profile_fini(struct ar_profile *profile)
{
    free(profile->calls);
    free(profile->left_out);
}

size_t
ar_profiled_bytes(const struct ar_profiled *calls)
{
    const size_t element = ar_named_at(calls->type)->geometry.size;
    const size_t count = (size_t)(calls->total_bytes / calls->calls / (double)element + 0.5);
    return (count ? count : 1) * element;
}

void
ar_profile_range(const struct ar_profile *profile, size_t i, size_t *first, size_t *last)
{
    const struct ar_profiled *const mine = &profile->calls[i];
    const size_t bytes = ar_profiled_bytes(mine);
    bool is_largest = true;
    *first = ar_size_bin_first(mine->bin);
    for (size_t k = 0; k < profile->n; k++) {
        const size_t other = ar_profiled_bytes(&profile->calls[k]);
        if (!are_alike_but_for_size(&profile->calls[k], mine))
            continue;
        if (other < bytes && other >= *first)
            *first = other + 1;
        is_largest &= other <= bytes;
    }
    *last = is_largest ? ar_size_bin_last(mine->bin) : bytes;
}

bool
ar_profile_has_twin(const struct ar_profile *profile, size_t i)
{
    const struct ar_profiled *const mine = &profile->calls[i];
    for (size_t k = 0; k < profile->n; k++)
        if (k != i && are_alike_but_for_size(&profile->calls[k], mine) &&
            ar_profiled_bytes(&profile->calls[k]) == ar_profiled_bytes(mine))
            return true;
    return false;
}

bool
ar_profiled_together(const struct ar_profiled *a, const struct ar_profiled *b)
{
    return a->nranks == b->nranks && a->type == b->type && a->op == b->op;
}
