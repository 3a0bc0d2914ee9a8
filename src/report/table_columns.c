/* The columns of the tables, and what is written of them.  All numbers for programs are integers,
 * since the program's locale may write others with a comma. */
#include <string.h>

#include "report/columns.h"
#include "report/json.h"
#include "report/table.h"
#include "report/watchdog.h"
#include "select/number.h"

/* --- kinds of calls --- */

static uint64_t
unless_none(int number)
{
    return number > 0 ? (uint64_t)number : AR_UNKNOWN;
}

static void
write_extreme(FILE *to, const struct ar_extreme *extreme, bool known)
{
    if (to && known)
        fprintf(to, "{\"rank\": %d, \"mean_ns\": %llu}", extreme->rank,
                (unsigned long long)extreme->ns);
    else if (to)
        fputs("null", to);
}

static void
write_histogram(FILE *to, const struct ar_histogram *times)
{
    const char *comma = "[";
    for (unsigned i = 0; i < AR_HISTOGRAM_BUCKETS && to; i++) {
        if (times->count[i] == 0)
            continue;
        fprintf(to, "%s[%llu, %llu]", comma, (unsigned long long)ar_histogram_ns(i),
                (unsigned long long)times->count[i]);
        comma = ", ";
    }
    if (to)
        fputs(*comma == '[' ? "[]" : "]", to);
}

/* [bytes, calls, ns] of each. */
static void
write_sizes(FILE *to, const struct ar_size_counts sizes[AR_SIZES_MOST])
{
    if (!to)
        return;
    fputc('[', to);
    for (int i = 0; i < AR_SIZES_MOST && sizes[i].calls > 0; i++)
        fprintf(to, "%s[%llu, %llu, %llu]", i ? ", " : "", (unsigned long long)sizes[i].bytes,
                (unsigned long long)sizes[i].calls, (unsigned long long)sizes[i].ns);
    fputc(']', to);
}

/* The reason, what was called unless that is MPI_Allreduce, and how long a call has lasted. */
#define WHY_ALL_TEXT (AR_WHY_TEXT + 100)
static char *
print_why(const struct ar_row *row, char text[WHY_ALL_TEXT])
{
    char why[AR_WHY_TEXT], time[AR_NUMBER_TEXT];
    const bool is_other = row->key.entry != AR_ENTRY_ALLREDUCE;
    const int length =
        snprintf(text, WHY_ALL_TEXT, "%s%s%s", ar_row_why(row, why), is_other ? ": " : "",
                 is_other ? ar_entry_names[row->key.entry] : "");
    if (row->running_ns > 0)
        snprintf(text + length, WHY_ALL_TEXT - (size_t)length, " (a call under way for %s)",
                 ar_time_print((double)row->running_ns, time, sizeof time));
    return text;
}

static void
state_row(struct ar_columns *c, const void *table, size_t i)
{
    const struct ar_row *const row = &((const struct ar_table *)table)->rows[i];
    const struct ar_row_key *const key = &row->key;
    const struct ar_counts *const n = &row->counts;
    const bool timed = n->least_ns != UINT64_MAX;
    const bool waits = timed && !ar_row_is_native(row);
    char size[AR_ROW_SIZE_TEXT], comm[AR_COMM_COLUMN], why[WHY_ALL_TEXT];
    ar_column_text(c, "call", NULL, ar_entry_names[key->entry]);
    ar_column_text(c, "comm", NULL, key->comm);
    ar_column_words(c, "communicator", "communicator", ar_name_fit(comm, sizeof comm, key->comm));
    ar_column_count(c, "comm_size", AR_NUMBER, "  comm", unless_none(key->nranks));
    ar_column_count(c, "nodes", AR_NUMBER, NULL, unless_none(key->nodes));
    ar_column_text(c, "type", "type", key->type);
    ar_column_text(c, "op", "op", key->op);
    ar_column_shown(c, "size", "   size", ar_row_size_print(row, size));
    ar_column_count(c, "bytes_from", AR_BYTES, NULL, ar_size_bin_first(key->bin));
    ar_column_count(c, "bytes_to", AR_BYTES, NULL, ar_size_bin_last(key->bin));
    ar_column_text(c, "requested", "requested", key->requested);
    ar_column_text(c, "ran", "ran", key->ran);
    ar_column_text(c, "reason", "why", key->reason);
    ar_column_words(c, "why", "why", print_why(row, why));
    ar_column_count(c, "ranks", AR_NUMBER, NULL, (uint64_t)row->ranks);
    ar_column_count(c, "calls", AR_NUMBER, "     calls", n->calls);
    ar_column_count(c, "bytes", AR_BYTES, "         bytes", n->bytes);
    ar_column_count(c, "setup_ns", AR_NS_MS, "     setup", timed ? n->setup_ns : AR_UNKNOWN);
    ar_column_count(c, "ns", AR_NS_MS, "          ms", timed ? n->ns : AR_UNKNOWN);
    ar_column_count(c, "wait_ns", AR_NS_MS, "        wait", waits ? n->wait_ns : AR_UNKNOWN);
    ar_column_count(c, "own_ns", AR_NS_US, NULL, timed ? ar_row_own_ns(row) : AR_UNKNOWN);
    ar_column_count(c, "streamed", AR_NUMBER, NULL, n->streamed);
    ar_column_count(c, "min_ns", AR_NS_US, "       min", n->least_ns);
    ar_column_count(c, "median_ns", AR_NS_US, "    median",
                    timed ? ar_row_quantile(row, 0.5) : AR_UNKNOWN);
    ar_column_count(c, "p99_ns", AR_NS_US, "       p99",
                    timed ? ar_row_quantile(row, 0.99) : AR_UNKNOWN);
    ar_column_count(c, "max_ns", AR_NS_US, "       max", timed ? n->most_ns : AR_UNKNOWN);
    ar_column_count(c, "running_ns", AR_NS_US, NULL,
                    row->running_ns > 0 ? row->running_ns : AR_UNKNOWN);
    write_extreme(ar_column_json(c, "quickest"), &row->quickest, timed);
    write_extreme(ar_column_json(c, "slowest"), &row->slowest, timed);
    write_histogram(ar_column_json(c, "histogram"), &n->times);
    write_sizes(ar_column_json(c, "sizes"), n->sizes);
    ar_column_flag(c, "in_place", key->place == AR_PLACE_UNKNOWN ? -1 : key->place == AR_IN_PLACE);
    ar_column_flag(c, "shares_cores", key->nodes == 0 ? -1 : row->shares_cores);
}

/* --- sites --- */

struct sites {
    const struct ar_site_row *rows;
    char *const *lines;
};

static void
state_site(struct ar_columns *c, const void *table, size_t i)
{
    const struct sites *const sites = table;
    const struct ar_site_row *const row = &sites->rows[i];
    char text[AR_SITE_TEXT];
    ar_column_text(c, "site", "called from", ar_site_print(text, &row->site));
    ar_column_words(c, "line", "", sites->lines && sites->lines[i] ? sites->lines[i] : "");
    ar_column_text(c, "entry", "call", ar_site_entry(&row->site));
    ar_column_text(c, "module", NULL, row->site.module);
    ar_column_text(c, "build_id", NULL, row->site.build_id);
    ar_column_count(c, "offset", AR_BYTES, NULL, row->site.offset);
    ar_column_count(c, "calls", AR_NUMBER, "     calls", row->calls);
    ar_column_count(c, "bytes", AR_BYTES, "   bytes", row->bytes);
    ar_column_count(c, "ns", AR_NS_MS, "          ms", row->ns);
    ar_column_count(c, "wait_ns", AR_NS_MS, "        wait", row->wait_ns);
    ar_column_count(c, "ranks", AR_NUMBER, " ranks", (uint64_t)row->ranks);
    ar_column_count(c, "runs", AR_NUMBER, NULL, row->runs.runs);
    ar_column_count(c, "runs_calls", AR_NUMBER, NULL, row->runs.calls);
    ar_column_count(c, "runs_bytes", AR_BYTES, NULL, row->runs.bytes);
    ar_column_count(c, "runs_ns", AR_NS_MS, NULL, row->runs.ns);
    ar_column_count(c, "runs_comm_size", AR_NUMBER, NULL, unless_none(row->runs_nranks));
}

#define WAIT_IS_OF_OURS                                                                            \
    "wait is that in algorithms of liballreduce: that of native calls is not known"

void
ar_site_rows_write_text(FILE *to, const struct ar_site_rows *rows, char *const *lines)
{
    const struct sites sites = {rows->rows, lines};
    if (rows->n == 0)
        return;
    fputc('\n', to);
    ar_columns_write((struct ar_columns){.to = to,
                                         .row = state_site,
                                         .table = &sites,
                                         .n = rows->n,
                                         .view = "calls bytes ns wait_ns ranks entry site line"});
    fputs("calls to wait are sums over all ranks; " WAIT_IS_OF_OURS "\n", to);
}

/* --- ranks --- */

/* The share of the row's compared calls that these calls are: a whole number of percent, or "-"
 * where none were compared. */
static char *
print_share(char *text, size_t room, uint64_t calls, const struct ar_rank_row *row)
{
    if (row->compared > 0)
        snprintf(text, room, "%.0f", 100.0 * (double)calls / (double)row->compared);
    else
        snprintf(text, room, "-");
    return text;
}

static void
state_rank(struct ar_columns *c, const void *table, size_t i)
{
    const struct ar_rank_row *const row = &((const struct ar_rank_row *)table)[i];
    const bool compared = row->compared > 0;
    char share[16];
    ar_column_count(c, "rank", AR_NUMBER, "    rank", (uint64_t)row->rank);
    ar_column_text(c, "host", "host", row->host);
    ar_column_text(c, "cpus", "CPUs", row->cpus);
    ar_column_count(c, "calls", AR_NUMBER, "     calls", row->calls);
    ar_column_count(c, "bytes", AR_BYTES, NULL, row->bytes);
    ar_column_count(c, "setup_ns", AR_NS_MS, "     setup", row->setup_ns);
    ar_column_count(c, "ns", AR_NS_MS, "          ms", row->ns);
    ar_column_count(c, "wait_ns", AR_NS_MS, "        wait", row->wait_ns);
    ar_column_count(c, "first", AR_NUMBER, NULL, compared ? row->first : AR_UNKNOWN);
    ar_column_count(c, "last", AR_NUMBER, NULL, compared ? row->last : AR_UNKNOWN);
    ar_column_count(c, "late", AR_NUMBER, NULL, compared ? row->late : AR_UNKNOWN);
    ar_column_count(c, "compared", AR_NUMBER, NULL, row->compared);
    ar_column_count(c, "late_ns", AR_NS_US, NULL, compared ? row->late_ns : AR_UNKNOWN);
    ar_column_shown(c, "first%", "first %", print_share(share, sizeof share, row->first, row));
    ar_column_shown(c, "last%", " last %", print_share(share, sizeof share, row->last, row));
    ar_column_shown(c, "late%", " late %", print_share(share, sizeof share, row->late, row));
}

void
ar_rank_rows_write_text(FILE *to, const struct ar_rank_rows *rows)
{
    struct ar_rank_row picked[AR_RANKS_TOLD];
    const size_t n = ar_rank_rows_pick(rows, picked, AR_RANKS_TOLD);
    if (n == 0)
        return;
    fputc('\n', to);
    ar_columns_write(
        (struct ar_columns){.to = to,
                            .row = state_rank,
                            .table = picked,
                            .n = n,
                            .view = "rank host cpus calls ns wait_ns setup_ns first% last% late%",
                            .empty = "-"});
    if (n < rows->n)
        fprintf(to, "%zu more rank%s, which were late no more often\n", rows->n - n,
                ar_plural(rows->n - n));
    fprintf(to, "first, last: the percentage of its calls to which the rank came before or after "
                "all others; late: it came last, and the first rank was in the call for at least "
                "twice its time; " WAIT_IS_OF_OURS "\n");
}

/* --- all for people --- */

void
ar_table_write_text(FILE *to, const struct ar_table *table, const struct ar_run *run)
{
    char elapsed[AR_NUMBER_TEXT], program[256], command[1024];
    fprintf(to, "liballreduce %s (%s): %s, ", run->version, run->family,
            ar_name_fit(program, sizeof program, run->program));
    if (run->rank >= 0)
        fprintf(to, "rank %d alone", run->rank);
    else
        fprintf(to, "%d rank%s", run->ranks, ar_plural((size_t)run->ranks));
    fprintf(to, ", %s, %s since the first allreduce\n", run->when,
            ar_time_print((double)run->elapsed_ns, elapsed, sizeof elapsed));
    const int hosts = ar_rank_rows_hosts(&table->ranks);
    fprintf(to, "%s; %d host%s; %s\n", run->library, hosts, ar_plural((size_t)hosts),
            ar_name_fit(command, sizeof command, run->command));
    fprintf(to,
            "calls, ms, wait and setup are sums over all ranks, the last two in ms, too; wait is "
            "the part of ms in which a rank only waited for others\nmin to max are of one call on "
            "one rank, in us (median and p99 to 1/16); comm is the size of the communicator; size "
            "is the bytes of each message, and 16+ is from 16 to below twice as many, of several "
            "sizes\n\n");
    ar_columns_write((struct ar_columns){
        .to = to,
        .row = state_row,
        .table = table,
        .n = table->nrows,
        .view = "calls ns wait_ns setup_ns min_ns median_ns p99_ns max_ns comm_size size type op "
                "ran requested communicator why",
        .empty = "-"});
    if (table->lost > 0)
        fprintf(to, "%10llu more call%s could not be recorded: out of memory\n",
                (unsigned long long)table->lost, ar_plural(table->lost));
    ar_site_rows_write_text(to, &table->sites, NULL);
    ar_rank_rows_write_text(to, &table->ranks);
}

/* --- all for programs --- */

struct told {
    const struct ar_table *table;
    const struct ar_run *run;
};

static void
state_run(struct ar_columns *c, const void *told, size_t i)
{
    const struct ar_table *const table = ((const struct told *)told)->table;
    const struct ar_run *const run = ((const struct told *)told)->run;
    (void)i;
    ar_column_count(c, "format", AR_NUMBER, NULL, 1);
    ar_column_text(c, "liballreduce", NULL, run->version);
    ar_column_text(c, "mpi", NULL, run->family);
    ar_column_text(c, "program", NULL, run->program);
    ar_column_text(c, "when", NULL, run->when);
    ar_column_count(c, "world", AR_NUMBER, NULL, unless_none(run->nranks));
    ar_column_count(c, "rank", AR_NUMBER, NULL, run->rank < 0 ? AR_UNKNOWN : (uint64_t)run->rank);
    ar_column_count(c, "lost", AR_NUMBER, NULL, table->lost);
    ar_column_count(c, "elapsed_ns", AR_NS_MS, NULL, run->elapsed_ns);
    ar_column_count(c, "ranks", AR_NUMBER, NULL, (uint64_t)run->ranks);
    ar_column_text(c, "library", NULL, run->library);
    ar_column_text(c, "command", NULL, run->command);
    ar_column_count(c, "hosts", AR_NUMBER, NULL, (uint64_t)ar_rank_rows_hosts(&table->ranks));
}

static void
state_alarm(struct ar_columns *c, const void *alarms, size_t i)
{
    char text[AR_ALARM_TEXT];
    ar_column_text(c, "watchdog", NULL,
                   ar_alarm_print(&((const struct ar_alarm *)alarms)[i], text, sizeof text));
}

void
ar_table_write_json(FILE *to, const struct ar_table *table, const struct ar_run *run)
{
    struct ar_alarm alarms[AR_ALARMS_TOLD];
    const struct told told = {table, run};
    const struct sites sites = {table->sites.rows, NULL};
    const struct ar_columns parts[] = {
        {.row = state_run, .table = &told, .n = 1},
        {.row = state_row, .table = table, .n = table->nrows},
        {.row = state_site, .table = &sites, .n = table->sites.n},
        {.row = state_rank, .table = table->ranks.rows, .n = table->ranks.n},
        {.row = state_alarm, .table = alarms, .n = ar_watchdog_look(table, alarms, AR_ALARMS_TOLD)},
    };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        struct ar_columns part = parts[i];
        part.to = to;
        part.format = AR_COLUMNS_JSON_LINES;
        ar_columns_write(part);
    }
}

/* --- in brief --- */

#define SETUP_NS UINT64_C(10000000) /* of a table, from which on it is told */

/* What the times of calls leave out. */
static void
print_setup(FILE *to, const struct ar_table *table)
{
    uint64_t setup_ns = 0, ns = 0;
    char ms[AR_NUMBER_TEXT];
    for (size_t i = 0; i < table->nrows; i++) {
        setup_ns += table->rows[i].counts.setup_ns;
        ns += table->rows[i].counts.ns;
    }
    if (setup_ns < SETUP_NS || setup_ns < ns / 10) /* or little beside the calls */
        return;
    ar_number_print((double)setup_ns * 1e-6, ms, sizeof ms);
    fprintf(
        to,
        "liballreduce: set-up took another %s ms in first calls, with waiting for ranks there\n",
        ms);
}

void
ar_table_write_brief(FILE *to, const struct ar_table *table, const char *title)
{
    struct ar_table sums = {0}; /* by what ran and why */
    for (size_t i = 0; i < table->nrows; i++) {
        const struct ar_row_key *const key = &table->rows[i].key;
        struct ar_row part = {.counts = table->rows[i].counts};
        memcpy(part.key.ran, key->ran, sizeof part.key.ran);
        memcpy(part.key.reason, key->reason, sizeof part.key.reason);
        ar_table_add(&sums, &part);
    }
    ar_table_sort(&sums);
    if (sums.nrows > 0)
        fprintf(to, "liballreduce: %s\n", title);
    ar_columns_write((struct ar_columns){.to = to,
                                         .row = state_row,
                                         .table = &sums,
                                         .n = sums.nrows,
                                         .view = "calls bytes ns ran reason",
                                         .prefix = "liballreduce: "});
    print_setup(to, table);
    ar_table_fini(&sums);
}
