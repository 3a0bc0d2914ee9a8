/* What follows from statistics. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report.h"
#include "select/number.h"

/* --- a row --- */

/* Fractions of bytes of a message that a rank sends in any allreduce without
 * waste. */
static double
least_sent(int nranks)
{
    return nranks > 1 ? 2.0 * (nranks - 1) / nranks : 0;
}

/* All that does not depend on other rows. */
static struct ar_fact
look_at(const struct ar_row *row)
{
    const struct ar_counts *c = &row->counts;
    struct ar_fact f = {.row = row, .own_ns = (double)ar_row_own_ns(row)};
    f.late_ns = (double)c->ns - f.own_ns * (double)c->calls;
    if (!ar_row_is_native(row) && f.late_ns > (double)c->wait_ns)
        f.late_ns = (double)c->wait_ns;
    if (f.late_ns < 0 || row->key.nranks < 2)
        f.late_ns = 0;
    f.bytes = c->calls ? (double)c->bytes / (double)c->calls : 0;
    if (f.own_ns > 0)
        f.bus = least_sent(row->key.nranks) * f.bytes / f.own_ns;
    f.cause = c->least_ns == UINT64_MAX       ? AR_CAUSE_UNTIMED
              : c->setup_ns > c->ns           ? AR_CAUSE_SETUP
              : 2 * f.late_ns > (double)c->ns ? AR_CAUSE_LATE
                                              : AR_CAUSE_ALGORITHM;
    return f;
}

/* --- rows beside each other --- */

const char *
ar_row_why_fixed(const struct ar_row *row)
{
    if (row->key.nranks < 2)
        return row->key.nranks ? "a communicator of one rank" : "left to MPI, and not examined";
    if (strcmp(row->key.reason, "intercommunicator") == 0)
        return "an intercommunicator";
    if (strncmp(row->key.reason, "device memory", strlen("device memory")) == 0)
        return "device memory";
    return NULL;
}

/* On whatever communicator of that size.  Derived types and ops of the program's own may be others
 * under one name. */
static bool
same_calls(const struct ar_row_key *a, const struct ar_row_key *b)
{
    return strcmp(a->type, "derived") != 0 && strcmp(a->op, "user") != 0 && a->entry == b->entry &&
           a->nranks == b->nranks && a->bin == b->bin && strcmp(a->type, b->type) == 0 &&
           strcmp(a->op, b->op) == 0;
}

static void
set_bound(const struct ar_facts *facts, struct ar_fact *f, double bytes_per_ns)
{
    const int nranks = f->row->key.nranks;
    double best = 0, shortest = 0;
    if (nranks < 2 || f->own_ns <= 0)
        return;
    for (size_t i = 0; i < facts->n; i++) {
        const struct ar_fact *other = &facts->facts[i];
        if (other->row->key.nranks != nranks)
            continue;
        best = other->bus > best ? other->bus : best;
        if (other->own_ns > 0 && (shortest == 0 || other->own_ns < shortest))
            shortest = other->own_ns;
    }
    const double rate = bytes_per_ns > 0 ? bytes_per_ns : best;
    f->bound_ns = rate > 0 ? least_sent(nranks) * f->bytes / rate : 0;
    if (f->bound_ns < shortest)
        f->bound_ns = shortest;
}

/* Times are known to 1/16 each, so a smaller gain may be noise.  The few calls of a trial say
 * less than the trial's own result. */
#define WORTH_IT 0.88

static void
find_better(const struct ar_facts *facts, struct ar_fact *f)
{
    double best = WORTH_IT * f->own_ns;
    if (ar_row_why_fixed(f->row))
        return;
    for (size_t i = 0; i < facts->n; i++) {
        const struct ar_fact *other = &facts->facts[i];
        if (other->own_ns <= 0 || other->own_ns >= best || ar_row_why_fixed(other->row) ||
            strcmp(other->row->key.reason, "tuning") == 0 ||
            !same_calls(&other->row->key, &f->row->key) ||
            strcmp(other->row->key.ran, f->row->key.ran) == 0)
            continue;
        best = other->own_ns;
        f->better = other->row;
        f->saves_ns = (f->own_ns - best) * (double)f->row->counts.calls;
    }
}

static int
larger_first(const void *a, const void *b)
{
    const double x = ((const struct ar_fact *)a)->share, y = ((const struct ar_fact *)b)->share;
    return (x < y) - (x > y);
}

bool
ar_facts_make(struct ar_facts *facts, const struct ar_read_run *run, double bytes_per_ns)
{
    const size_t n = run->table.nrows;
    *facts = (struct ar_facts){.run = run, .facts = calloc(n + 1, sizeof *facts->facts), .n = n};
    if (!facts->facts)
        return false;
    for (size_t i = 0; i < n; i++) {
        const struct ar_fact f = look_at(&run->table.rows[i]);
        facts->facts[i] = f;
        facts->late_ns += f.late_ns;
        facts->setup_ns += (double)f.row->counts.setup_ns;
        facts->own_ns += (double)f.row->counts.ns - f.late_ns;
    }
    facts->total_ns = facts->late_ns + facts->setup_ns + facts->own_ns;
    for (size_t i = 0; i < n; i++) {
        struct ar_fact *f = &facts->facts[i];
        if (facts->total_ns > 0)
            f->share = (double)(f->row->counts.ns + f->row->counts.setup_ns) / facts->total_ns;
        set_bound(facts, f, bytes_per_ns);
        find_better(facts, f);
    }
    qsort(facts->facts, n, sizeof *facts->facts, larger_first);
    return true;
}

void
ar_facts_fini(struct ar_facts *facts)
{
    free(facts->facts);
}

double
ar_facts_seconds(const struct ar_facts *facts, double ns)
{
    return facts->run->ranks > 0 ? ns * 1e-9 / facts->run->ranks : 0;
}

/* --- words --- */

char *
ar_row_describe(const struct ar_row *row, char *text, size_t room)
{
    char size[AR_SIZE_TEXT], comm[AR_COMM_COLUMN];
    uint64_t bytes = ar_size_bin_first(row->key.bin);
    const bool is_one = ar_row_size(&bytes, row);
    if (row->key.nranks == 0)
        snprintf(text, room, "%s", ar_entry_names[row->key.entry]);
    else
        snprintf(text, room, "%s %s %s %s on %d ranks%s%s", row->key.type, row->key.op,
                 is_one ? "of" : "from", ar_size_print(bytes, size, sizeof size), row->key.nranks,
                 *row->key.comm ? " of " : "", ar_name_fit(comm, sizeof comm, row->key.comm));
    return text;
}

bool
ar_ran_read(struct ar_choice *choice, const char *ran)
{
    struct ar_rules *rules = NULL; /* for gcc -O3 -flto */
    struct ar_problem problem;
    if (ar_rules_parse(&rules, ran, &problem))
        return false;
    const bool is_one = rules->nclauses == 1 && rules->clauses[0].choice.kind != AR_CHOICE_AUTO;
    if (is_one)
        *choice = rules->clauses[0].choice;
    ar_rules_destroy(rules);
    return is_one;
}

char *
ar_fact_explain(const struct ar_fact *fact, char *text, size_t room)
{
    const struct ar_row *row = fact->row;
    switch (fact->cause) {
    case AR_CAUSE_UNTIMED:
        snprintf(text, room, "%s, not timed", ar_entry_names[row->key.entry]);
        break;
    case AR_CAUSE_SETUP:
        snprintf(text, room, "set-up in first calls");
        break;
    case AR_CAUSE_LATE:
        if (row->ranks > 1 && 2 * row->quickest.ns < row->slowest.ns)
            snprintf(text, room, "late ranks, mainly rank %d", row->quickest.rank);
        else
            snprintf(text, room, "late ranks, different ones in turn");
        break;
    case AR_CAUSE_ALGORITHM:
        snprintf(text, room, "the algorithm");
        break;
    }
    return text;
}

/* --- a run --- */

char *
ar_facts_verdict(const struct ar_facts *facts, char *text, size_t room)
{
    static const char *const parts[] = {"the algorithms' own time", "waiting for late ranks",
                                        "set-up in first calls"};
    const double ns[] = {facts->own_ns, facts->late_ns, facts->setup_ns};
    const double elapsed = (double)facts->run->elapsed_ns * 1e-9;
    char row[256], why[128];
    int most = 0;
    for (int i = 1; i < 3; i++)
        most = ns[i] > ns[most] ? i : most;
    if (facts->n == 0 || facts->total_ns <= 0 || elapsed <= 0) {
        snprintf(text, room, "No time was measured in allreduces.");
        return text;
    }
    const struct ar_fact *const first = &facts->facts[0];
    snprintf(text, room,
             "Allreduces took %.1f %% of the run; the largest part of that, %.0f %%, was %s. Most "
             "time went into %s (%.0f %%): %s.",
             100 * ar_facts_seconds(facts, facts->total_ns) / elapsed,
             100 * ns[most] / facts->total_ns, parts[most],
             ar_row_describe(first->row, row, sizeof row), 100 * first->share,
             ar_fact_explain(first, why, sizeof why));
    return text;
}

char *
ar_facts_times(const struct ar_facts *facts, char *text, size_t room)
{
    const double elapsed = (double)facts->run->elapsed_ns * 1e-9;
    const double in = ar_facts_seconds(facts, facts->total_ns);
    const double seconds[] = {elapsed, in, ar_facts_seconds(facts, facts->own_ns),
                              ar_facts_seconds(facts, facts->late_ns),
                              ar_facts_seconds(facts, facts->setup_ns)};
    char times[5][AR_NUMBER_TEXT];
    for (int i = 0; i < 5; i++)
        ar_time_print(seconds[i] * 1e9, times[i], sizeof times[i]);
    snprintf(text, room,
             "%s from the first allreduce to the end, of which a rank spent on average\n%s (%.1f "
             "%%) in allreduces: %s in the algorithms, %s waiting for late ranks, %s on set-up",
             times[0], times[1], elapsed > 0 ? 100 * in / elapsed : 0, times[2], times[3],
             times[4]);
    return text;
}

/* The message size that took most of the row's time, as far as the statistics tell. */
static uint64_t
main_size(const struct ar_row *row)
{
    const struct ar_size_counts *const sizes = row->counts.sizes;
    int most = 0;
    for (int i = 1; i < AR_SIZES_MOST; i++)
        if (sizes[i].ns > sizes[most].ns)
            most = i;
    return sizes[most].calls > 0 ? sizes[most].bytes : ar_size_bin_first(row->key.bin);
}

/* Advice is for what costs something. */
#define WORTH_ADVICE 0.05

bool
ar_fact_advise(const struct ar_facts *facts, const struct ar_fact *fact, char *text, size_t room)
{
    const struct ar_row *const row = fact->row;
    char what[256], size[AR_SIZE_TEXT], time[AR_NUMBER_TEXT], saved[AR_NUMBER_TEXT];
    if (fact->cause != AR_CAUSE_ALGORITHM || fact->share < WORTH_ADVICE || row->key.nranks < 2)
        return false;
    ar_row_describe(row, what, sizeof what);
    if (fact->better)
        snprintf(text, room, "%s: %s took %s in this run, which would save %s per rank", what,
                 fact->better->key.ran,
                 ar_time_print((double)ar_row_own_ns(fact->better), time, sizeof time),
                 ar_time_print(ar_facts_seconds(facts, fact->saves_ns) * 1e9, saved, sizeof saved));
    else
        snprintf(text, room, "%s: to compare algorithms: mpiexec -n %d allreduce bench --sizes %s",
                 what, row->key.nranks, ar_size_print(main_size(row), size, sizeof size));
    return true;
}

/* --- two runs --- */

static int
longer_first(const void *a, const void *b)
{
    const struct ar_pair *x = a, *y = b;
    const uint64_t s = x->rows[0].counts.ns + x->rows[1].counts.ns;
    const uint64_t t = y->rows[0].counts.ns + y->rows[1].counts.ns;
    return (s < t) - (s > t);
}

char *
ar_pair_size_print(const struct ar_pair *pair, char text[AR_ROW_SIZE_TEXT])
{
    struct ar_row both = pair->rows[0];
    ar_counts_add(&both.counts, &pair->rows[1].counts);
    return ar_row_size_print(&both, text);
}

struct ar_pair *
ar_pairs_make(const struct ar_read_run runs[2], size_t *n)
{
    struct ar_pair *pairs = calloc(runs[0].table.nrows + runs[1].table.nrows + 1, sizeof *pairs);
    *n = 0;
    for (int side = 0; pairs && side < 2; side++)
        for (size_t i = 0; i < runs[side].table.nrows; i++) {
            const struct ar_row *row = &runs[side].table.rows[i];
            struct ar_pair *pair = pairs;
            while (pair < pairs + *n && (!same_calls(&pair->rows[0].key, &row->key) ||
                                         strcmp(pair->rows[0].key.comm, row->key.comm) != 0))
                pair++;
            if (pair == pairs + *n) {
                ++*n;
                pair->rows[0].key = pair->rows[1].key = row->key;
                ar_counts_init(&pair->rows[0].counts);
                ar_counts_init(&pair->rows[1].counts);
            }
            /* Rows come with the longest time first: what ran there names the pair's
             * side. */
            struct ar_row *const mine = &pair->rows[side];
            if (mine->counts.calls == 0)
                mine->key = row->key;
            else if (strcmp(mine->key.ran, row->key.ran) != 0)
                pair->is_mixed[side] = true;
            ar_counts_add(&mine->counts, &row->counts);
        }
    if (pairs)
        qsort(pairs, *n, sizeof *pairs, longer_first);
    return pairs;
}
