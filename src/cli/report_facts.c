/* What follows from statistics. */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report.h"
#include "report/timed.h"
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

/* The bound of rows on so many ranks follows from the best of them. */
static void
set_bounds(struct ar_fact *facts, size_t n, double bytes_per_ns)
{
    double best = 0, shortest = 0;
    for (size_t i = 0; i < n; i++) {
        best = facts[i].bus > best ? facts[i].bus : best;
        if (facts[i].bytes <= AR_BRIEF_BYTES && facts[i].own_ns > 0 &&
            (shortest == 0 || facts[i].own_ns < shortest))
            shortest = facts[i].own_ns;
    }
    const double rate = bytes_per_ns > 0 ? bytes_per_ns : best;
    for (size_t i = 0; i < n && facts->row->key.nranks > 1; i++) {
        if (facts[i].own_ns <= 0)
            continue;
        facts[i].bound_ns =
            rate > 0 ? least_sent(facts->row->key.nranks) * facts[i].bytes / rate : 0;
        if (facts[i].bound_ns < shortest)
            facts[i].bound_ns = shortest;
    }
}

/* Times are known to 1/16 each, so a smaller gain may be noise.  The few calls of a trial say
 * less than the trial's own result. */
#define WORTH_IT 0.88

/* The first of the samples that is no trial and did not run ran; NULL: none. */
static const struct ar_timed *
find_quickest(const struct ar_timed *samples, size_t n, const char *ran)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(samples[i].row->key.reason, "tuning") != 0 &&
            strcmp(samples[i].row->key.ran, ran) != 0)
            return &samples[i];
    return NULL;
}

/* facts: in the order of the table's rows.  False without memory. */
static bool
find_better(struct ar_fact *facts, const struct ar_table *table)
{
    size_t n;
    struct ar_timed *const samples = ar_timed_make(&n, table);
    for (size_t first = 0, end; samples && first < n; first = end) {
        end = ar_timed_end(samples, n, first);
        const struct ar_timed *const quickest = find_quickest(&samples[first], end - first, "");
        const struct ar_timed *const other =
            quickest ? find_quickest(quickest, (size_t)(samples + end - quickest),
                                     quickest->row->key.ran)
                     : NULL;
        for (size_t i = first; i < end; i++) {
            struct ar_fact *const f = &facts[samples[i].row - table->rows];
            const bool is_same = quickest && strcmp(quickest->row->key.ran, f->row->key.ran) == 0;
            const struct ar_timed *const better = is_same ? other : quickest;
            if (!better || (double)better->own_ns >= WORTH_IT * f->own_ns)
                continue;
            f->better = better->row;
            f->saves_ns = (f->own_ns - (double)better->own_ns) * (double)f->row->counts.calls;
        }
    }
    free(samples);
    return samples;
}

static int
by_ranks(const void *a, const void *b)
{
    const int x = ((const struct ar_fact *)a)->row->key.nranks;
    const int y = ((const struct ar_fact *)b)->row->key.nranks;
    return (x > y) - (x < y);
}

static int
larger_first(const void *a, const void *b)
{
    const struct ar_fact *const x = a, *const y = b;
    if (x->share != y->share)
        return x->share < y->share ? 1 : -1;
    return (x->row > y->row) - (x->row < y->row);
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
    for (size_t i = 0; i < n && facts->total_ns > 0; i++) {
        struct ar_fact *f = &facts->facts[i];
        f->share = (double)(f->row->counts.ns + f->row->counts.setup_ns) / facts->total_ns;
    }
    if (!find_better(facts->facts, &run->table))
        return false;
    qsort(facts->facts, n, sizeof *facts->facts, by_ranks);
    for (size_t first = 0, end; first < n; first = end) {
        end = first;
        while (end < n && by_ranks(&facts->facts[end], &facts->facts[first]) == 0)
            end++;
        set_bounds(&facts->facts[first], end - first, bytes_per_ns);
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

/* Times are told apart from 5 % of the longer one on. */
#define SAME 0.05

char *
ar_pair_verdict(const struct ar_facts facts[2], char *text, size_t room)
{
    const struct ar_read_run *const a = facts[0].run, *const b = facts[1].run;
    const double in_a = ar_facts_seconds(&facts[0], facts[0].total_ns);
    const double in_b = ar_facts_seconds(&facts[1], facts[1].total_ns);
    const double waits = ar_facts_seconds(&facts[1], facts[1].late_ns) -
                         ar_facts_seconds(&facts[0], facts[0].late_ns);
    double least = INFINITY, most = 0;
    char ratios[3][AR_NUMBER_TEXT], time[AR_NUMBER_TEXT];
    struct ar_text t;
    ar_text_init(&t, text, room);
    if (in_a <= 0 || in_b <= 0) {
        ar_text_add(&t, "No time was measured in allreduces of %s.", in_a <= 0 ? "A" : "B");
        return text;
    }
    for (int i = 0; i < a->runs; i++)
        for (int k = 0; k < b->runs; k++) {
            least = fmin(least, b->seconds[k] / a->seconds[i]);
            most = fmax(most, b->seconds[k] / a->seconds[i]);
        }
    ar_text_add(&t, "B spends %s of A's time in allreduces",
                ar_number_print(in_b / in_a, ratios[0], sizeof ratios[0]));
    if (a->runs > 1 || b->runs > 1)
        ar_text_add(&t, " (single runs: %s to %s)",
                    ar_number_print(least, ratios[1], sizeof ratios[1]),
                    ar_number_print(most, ratios[2], sizeof ratios[2]));
    if (fabs(in_b - in_a) < SAME * in_a)
        ar_text_add(&t, ", which is the same; ");
    else
        ar_text_add(&t, ", %s %s per rank; ",
                    ar_time_print(fabs(in_b - in_a) * 1e9, time, sizeof time),
                    in_b < in_a ? "less" : "more");
    if (fabs(waits) < SAME * fmax(in_a, in_b))
        ar_text_add(&t, "the waiting for late ranks is the same.");
    else
        ar_text_add(&t, "it waits %s %s for late ranks.",
                    ar_time_print(fabs(waits) * 1e9, time, sizeof time),
                    waits < 0 ? "less" : "longer");
    if (a->runs == 1 || b->runs == 1)
        ar_text_add(&t, " How much runs differ by chance is not known: give several of each, as in "
                        "A1 A2 A3 -- B1 B2 B3.");
    else if (least <= 1 && most >= 1)
        ar_text_add(&t, " Runs of the same differ by as much, so this may be chance.");
    return text;
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

/* A row of one of the two runs. */
struct side_row {
    const struct ar_row *row;
    int side;
    bool has_one_size;
    uint64_t bytes; /* of each message, where they have one size */
};

/* On communicators of one name and size.  Ops of the program's own are taken for the same. */
static int
compare_calls(const struct side_row *a, const struct side_row *b)
{
    const struct ar_row_key *const x = &a->row->key, *const y = &b->row->key;
    const int64_t numbers[][2] = {{x->entry, y->entry},
                                  {x->nranks, y->nranks},
                                  {x->bin, y->bin},
                                  {a->has_one_size, b->has_one_size}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i][0] != numbers[i][1])
            return numbers[i][0] < numbers[i][1] ? -1 : 1;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? -1 : 1;
    const int types = strcmp(x->type, y->type), ops = types ? types : strcmp(x->op, y->op);
    return ops ? ops : strcmp(x->comm, y->comm);
}

/* Of one side the longest time first, as the table has them. */
static int
compare_sides(const void *left, const void *right)
{
    const struct side_row *const a = left, *const b = right;
    const int order = compare_calls(a, b);
    if (order || a->side != b->side)
        return order ? order : a->side - b->side;
    return (a->row > b->row) - (a->row < b->row);
}

/* The rows come with the longest time first: what ran there names the side. */
static void
add_to_pair(struct ar_pair *pair, const struct side_row *from)
{
    struct ar_row *const mine = &pair->rows[from->side];
    const int nodes = mine->key.nodes;
    if (mine->counts.calls == 0)
        mine->key = from->row->key;
    else if (strcmp(mine->key.ran, from->row->key.ran) != 0)
        pair->is_mixed[from->side] = true;
    if (mine->counts.calls > 0 && nodes != from->row->key.nodes)
        mine->key.nodes = -1;
    ar_counts_add(&mine->counts, &from->row->counts);
}

struct ar_pair *
ar_pairs_make(const struct ar_read_run runs[2], size_t *n)
{
    const size_t nrows = runs[0].table.nrows + runs[1].table.nrows;
    struct ar_pair *const pairs = calloc(nrows + 1, sizeof *pairs);
    struct side_row *const rows = calloc(nrows + 1, sizeof *rows);
    *n = 0;
    if (!pairs || !rows) {
        free(pairs);
        free(rows);
        return NULL;
    }
    for (size_t i = 0; i < nrows; i++) {
        const int side = i >= runs[0].table.nrows;
        rows[i].row = &runs[side].table.rows[side ? i - runs[0].table.nrows : i];
        rows[i].side = side;
        rows[i].has_one_size = ar_row_size(&rows[i].bytes, rows[i].row);
    }
    qsort(rows, nrows, sizeof *rows, compare_sides);
    for (size_t i = 0; i < nrows; i++) {
        if (i == 0 || compare_calls(&rows[i - 1], &rows[i]) != 0) {
            struct ar_pair *const pair = &pairs[(*n)++];
            pair->rows[0].key = pair->rows[1].key = rows[i].row->key;
            ar_counts_init(&pair->rows[0].counts);
            ar_counts_init(&pair->rows[1].counts);
        }
        add_to_pair(&pairs[*n - 1], &rows[i]);
    }
    free(rows);
    qsort(pairs, *n, sizeof *pairs, longer_first);
    return pairs;
}

/* Are the sizes the same, each for the same part of the calls, to one in a hundred? */
static bool
have_same_sizes(const struct ar_counts *a, const struct ar_counts *b)
{
    uint64_t known = 0;
    for (int i = 0; i < AR_SIZES_MOST && a->sizes[i].calls > 0; i++) {
        double other = 0;
        for (int k = 0; k < AR_SIZES_MOST; k++)
            if (b->sizes[k].calls > 0 && b->sizes[k].bytes == a->sizes[i].bytes)
                other = (double)b->sizes[k].calls / (double)b->calls;
        if (fabs((double)a->sizes[i].calls / (double)a->calls - other) > 0.01)
            return false;
        known += a->sizes[i].calls;
    }
    return known == a->calls;
}

double
ar_pair_ratio(const struct ar_pair *pair)
{
    const struct ar_row *const a = &pair->rows[0], *const b = &pair->rows[1];
    const double x = (double)ar_row_own_ns(a), y = (double)ar_row_own_ns(b);
    const bool have_same_nodes =
        a->key.nodes == b->key.nodes || a->key.nodes == 0 || b->key.nodes == 0;
    if (x <= 0 || y <= 0 || !have_same_nodes || !have_same_sizes(&a->counts, &b->counts))
        return 0;
    return x / y;
}
