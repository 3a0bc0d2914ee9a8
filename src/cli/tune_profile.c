#include "config.h"

#include "cli/tune_profile.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/operand.h"

#define COVERED 0.99 /* of the time: what makes up the rest is not replayed */

/* --- rows --- */

/* Fills calls from a row, or tells why its calls cannot be replayed: NULL, or a static text. */
static const char *
take(struct ar_profiled *calls, const struct ar_row *row, int ranks)
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
        return "a type that is derived, or unknown here";
    if (!ar_op_by_name(&calls->op, key->op, &none) ||
        !(ar_named_at(calls->type)->ops & 1U << calls->op))
        return "an op of the program's own, or unknown here";
    if (!ar_ran_read(&ran, row->key.ran))
        return "rules cannot name what ran";
    calls->nranks = key->nranks;
    calls->bin = key->bin;
    calls->place = key->place;
    calls->was_named = strcmp(key->requested, "auto") != 0;
    calls->calls = (double)row->counts.calls / ranks;
    calls->seconds = (double)row->counts.ns * 1e-9 / ranks;
    calls->total_bytes = (double)row->counts.bytes / ranks;
    memcpy(calls->ran, key->ran, sizeof calls->ran);
    return NULL;
}

static enum ar_type_class
class_of(const struct ar_profiled *calls)
{
    return ar_named_at(calls->type)->geometry.type_class;
}

/* Would the same rule serve both? */
static bool
are_alike(const struct ar_profiled *a, const struct ar_profiled *b)
{
    return a->nranks == b->nranks && a->bin == b->bin && a->op == b->op && a->place == b->place &&
           class_of(a) == class_of(b);
}

/* --- the profile, on rank 0 --- */

static void
leave_out(FILE *to, const struct ar_row *row, int ranks, const char *why)
{
    char what[256], time[AR_NUMBER_TEXT];
    fprintf(to, "not replayed: %s of %s: %s\n",
            ar_time_print((double)row->counts.ns / ranks, time, sizeof time),
            ar_row_describe(row, what, sizeof what), why);
}

/* Adds the calls to those that are like them, or as new ones; returns why not, a static text. */
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
    } else if (strcmp(mine->ran, calls->ran) != 0) {
        return "rules cannot tell these calls from others of more time, which ran otherwise";
    } else {
        mine->calls += calls->calls;
        mine->seconds += calls->seconds;
        mine->total_bytes += calls->total_bytes;
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
    return x->bin < y->bin ? -1 : x->bin > y->bin;
}

/* The rows come with the longest time first. */
static void
select_calls(struct ar_profile *profile, const struct ar_facts *facts, FILE *left_out)
{
    const struct ar_read_run *const run = facts->run;
    double covered = 0, rest = 0;
    size_t nrest = 0;
    for (size_t i = 0; i < run->table.nrows; i++) {
        const struct ar_row *const row = &run->table.rows[i];
        const double seconds = (double)row->counts.ns * 1e-9 / run->ranks;
        struct ar_profiled calls;
        profile->all_calls += (double)row->counts.calls / run->ranks;
        if (covered >= COVERED * profile->seconds) {
            rest += seconds;
            nrest++;
            continue;
        }
        covered += seconds;
        const char *why = take(&calls, row, run->ranks);
        why = why ? why : add(profile, &calls);
        if (why)
            leave_out(left_out, row, run->ranks, why);
    }
    char time[AR_NUMBER_TEXT];
    if (nrest > 0)
        fprintf(left_out, "not replayed: %s of the %zu row%s that took least\n",
                ar_time_print(rest * 1e9, time, sizeof time), nrest, ar_plural(nrest));
}

/* False, having said why. */
static bool
make(struct ar_profile *profile, const struct ar_read_run *run)
{
    struct ar_facts facts;
    size_t length;
    profile->calls = calloc(run->table.nrows + 1, sizeof *profile->calls);
    FILE *const left_out = open_memstream(&profile->left_out, &length);
    const bool has_room = profile->calls && left_out && ar_facts_make(&facts, run, 0);
    if (has_room && run->ranks > 0) {
        profile->seconds = ar_facts_seconds(&facts, facts.total_ns - facts.setup_ns);
        profile->late = ar_facts_seconds(&facts, facts.late_ns);
        snprintf(profile->program, sizeof profile->program, "%s", run->program);
        select_calls(profile, &facts, left_out);
        qsort(profile->calls, profile->n, sizeof *profile->calls, in_groups);
    }
    if (has_room)
        ar_facts_fini(&facts);
    else
        fprintf(stderr, "allreduce tune: out of memory\n");
    if (left_out)
        fclose(left_out);
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
            "allreduce tune: --from: %s has calls on %d ranks, and here are %d: start it with "
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

bool
ar_profiled_together(const struct ar_profiled *a, const struct ar_profiled *b)
{
    return a->nranks == b->nranks && a->type == b->type && a->op == b->op;
}
