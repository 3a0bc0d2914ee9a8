/* Advice that follows from statistics: sentences, each without its full stop. */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/report.h"
#include "report/timed.h"
#include "select/number.h"

/* Advice is for what costs something: this part of all time in allreduces. */
#define WORTH_ADVICE 0.05
#define ADVICES_TOLD (AR_ADVICES_MOST - 1) /* of a kind; of late ranks there is one */

/* --- what the program may do --- */

/* Is one rank late to two thirds of its calls?  By chance even one of two hardly is. */
static bool
describe_late(const struct ar_facts *facts, char *text, size_t room)
{
    const struct ar_rank_rows *const ranks = &facts->run->table.ranks;
    const struct ar_rank_row *latest = NULL;
    char time[AR_NUMBER_TEXT];
    struct ar_text t;
    for (size_t i = 0; i < ranks->n; i++) {
        const struct ar_rank_row *const row = &ranks->rows[i];
        if (3 * row->late > 2 * row->compared &&
            (!latest || row->late * latest->compared > latest->late * row->compared))
            latest = row;
    }
    if (!latest || facts->late_ns < WORTH_ADVICE * facts->total_ns)
        return false;
    ar_text_init(&t, text, room);
    ar_text_add(&t, "Rank %d on %s came late to %.0f %% of its calls", latest->rank, latest->host,
                100.0 * (double)latest->late / (double)latest->compared);
    if (latest->late_ns > 0) /* files of older versions do not tell */
        ar_text_add(
            &t, ", by %s on average",
            ar_time_print((double)latest->late_ns / (double)latest->late, time, sizeof time));
    return true;
}

/* The own time of calls with so many bytes on as many ranks in this run, or of those with the next
 * more; *found: how many.  0: there are none. */
static double
find_time(const struct ar_facts *facts, int nranks, double bytes, double *found)
{
    const struct ar_row *best = NULL;
    *found = INFINITY;
    for (size_t i = 0; i < facts->run->table.nrows; i++) {
        const struct ar_row *const row = &facts->run->table.rows[i];
        const double mean = (double)row->counts.bytes / (double)row->counts.calls;
        if (row->key.nranks != nranks || mean < bytes || !ar_row_is_plain(row) ||
            ar_row_own_ns(row) == 0)
            continue;
        if (mean < *found || (mean == *found && row->counts.calls > best->counts.calls)) {
            best = row;
            *found = mean;
        }
    }
    return best ? (double)ar_row_own_ns(best) : 0;
}

/* Would one call in place of a run of calls from the i-th site save much?  What is waited for late
 * ranks would not be saved. */
static bool
describe_runs(const struct ar_facts *facts, size_t i, char *text, size_t room)
{
    const struct ar_site_row *const row = &facts->run->table.sites.rows[i];
    const struct ar_call_runs *const all = &row->runs;
    char *const *const lines = facts->run->lines.lines;
    char site[AR_SITE_TEXT], times[2][AR_NUMBER_TEXT];
    const char *const line = lines && lines[i] ? lines[i] : ar_site_print(site, &row->site);
    const char *const function = strstr(line, " (");
    double found;
    struct ar_text t;
    if (all->runs == 0 || all->calls <= all->runs || !*row->site.module)
        return false;
    const double runs = (double)all->runs, calls = (double)all->calls / runs;
    const double bytes = (double)all->bytes / runs;
    const double each = find_time(facts, row->runs_nranks, bytes / calls, &found);
    const double run = (double)all->ns / runs, takes = each > 0 ? fmin(run, calls * each) : run;
    const double one = find_time(facts, row->runs_nranks, bytes, &found);
    /* Where the time of one call is not known, that of one of these counts, if they are short. */
    const double saves = takes - (one > 0 ? one : takes / calls);
    if (one == 0 && bytes / calls > AR_BRIEF_BYTES)
        return false;
    if (saves * runs < WORTH_ADVICE * facts->total_ns)
        return false;
    ar_time_print(one, times[0], sizeof times[0]);
    ar_time_print(takes, times[1], sizeof times[1]);
    ar_text_init(&t, text, room);
    ar_text_add(&t, "%.*s makes runs of %s%.0f calls of %.0f byte%s in a row",
                function ? (int)(function - line) : -1, line,
                all->calls % all->runs || all->bytes % all->calls ? "about " : "", calls,
                bytes / calls, ar_plural((size_t)(bytes / calls)));
    if (one > 0)
        ar_text_add(&t, ": one call of %.0f bytes would take %s%s instead of %s", bytes,
                    found > bytes ? "at most " : "", times[0], times[1]);
    else
        ar_text_add(&t, ", which take %s: one call of %.0f bytes would do", times[1], bytes);
    ar_text_add(&t, ", if no result is needed before the last");
    return true;
}

unsigned
ar_facts_advise_program(const struct ar_facts *facts, ar_tell_fn *tell, void *to)
{
    char text[AR_FACTS_TEXT];
    int told = 0;
    const bool is_late = describe_late(facts, text, sizeof text);
    if (is_late)
        tell(to, text);
    for (size_t i = 0; i < facts->run->table.sites.n && told < ADVICES_TOLD; i++)
        if (describe_runs(facts, i, text, sizeof text)) {
            tell(to, text);
            told++;
        }
    return (is_late ? AR_ADVICE_LATE : 0) | (told > 0 ? AR_ADVICE_MERGE : 0);
}

/* --- other algorithms --- */

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

/* What else was faster in this run, or how to find out.  False, and no text: there is nothing to be
 * said. */
static bool
advise_algorithm(const struct ar_facts *facts, const struct ar_fact *fact, char *text, size_t room)
{
    const struct ar_row *const row = fact->row;
    char what[256], size[AR_SIZE_TEXT], time[AR_NUMBER_TEXT], saved[AR_NUMBER_TEXT];
    if (fact->cause != AR_CAUSE_ALGORITHM || fact->share < WORTH_ADVICE || !ar_row_is_plain(row))
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

void
ar_facts_advise(const struct ar_facts *facts, ar_tell_fn *tell, void *to)
{
    char text[AR_FACTS_TEXT];
    int told = 0;
    ar_facts_advise_program(facts, tell, to);
    for (size_t i = 0; i < facts->n && told < ADVICES_TOLD; i++)
        if (advise_algorithm(facts, &facts->facts[i], text, sizeof text)) {
            tell(to, text);
            told++;
        }
}
