/* The tables for people. */
#include <stdlib.h>
#include <string.h>

#include "report/table.h"
#include "select/number.h"

/* --- all that was counted --- */

static int
widest(const struct ar_table *table, size_t text_offset, const char *title)
{
    size_t width = strlen(title);
    for (size_t i = 0; i < table->nrows; i++) {
        const size_t length = strlen((const char *)&table->rows[i].key + text_offset);
        width = length > width ? length : width;
    }
    return (int)width;
}

/* Widths of the columns that hold names. */
struct widths {
    int type, op, ran, requested, comm;
};

static void
print_time(FILE *to, int width, double time, bool known)
{
    char text[AR_NUMBER_TEXT];
    fprintf(to, " %*s", width, known ? ar_number_print(time, text, sizeof text) : "-");
}

static void
print_us(FILE *to, uint64_t ns, bool known)
{
    print_time(to, 10, (double)ns * 1e-3, known);
}

static const char *
or_dash(const char *text)
{
    return *text ? text : "-";
}

static void
print_row(FILE *to, const struct ar_row *row, const struct widths *w)
{
    const struct ar_counts *c = &row->counts;
    const bool timed = c->least_ns != UINT64_MAX;
    char size[AR_ROW_SIZE_TEXT], nranks[16] = "-", comm[AR_COMM_COLUMN], time[AR_NUMBER_TEXT];
    char why[AR_WHY_TEXT];
    if (row->key.nranks > 0)
        snprintf(nranks, sizeof nranks, "%d", row->key.nranks);
    fprintf(to, "%10llu", (unsigned long long)c->calls);
    print_time(to, 12, (double)c->ns * 1e-6, timed);
    print_time(to, 12, (double)c->wait_ns * 1e-6, timed && !ar_row_is_native(row));
    print_time(to, 10, (double)c->setup_ns * 1e-6, timed);
    print_us(to, c->least_ns, timed);
    print_us(to, ar_row_quantile(row, 0.5), timed);
    print_us(to, ar_row_quantile(row, 0.99), timed);
    print_us(to, c->most_ns, timed);
    fprintf(to, " %6s %7s  %-*s %-*s  %-*s  %-*s  %-*s  %s%s%s", nranks,
            ar_row_size_print(row, size), w->type, or_dash(row->key.type), w->op,
            or_dash(row->key.op), w->ran, row->key.ran, w->requested, or_dash(row->key.requested),
            w->comm, or_dash(ar_name_fit(comm, sizeof comm, row->key.comm)), ar_row_why(row, why),
            row->key.entry == AR_ENTRY_ALLREDUCE ? "" : ": ",
            row->key.entry == AR_ENTRY_ALLREDUCE ? "" : ar_entry_names[row->key.entry]);
    if (row->running_ns > 0)
        fprintf(to, " (a call under way for %s)",
                ar_time_print((double)row->running_ns, time, sizeof time));
    fputc('\n', to);
}

void
ar_table_write_text(FILE *to, const struct ar_table *table, const struct ar_run *run)
{
    const int comm = widest(table, offsetof(struct ar_row_key, comm), "communicator");
    const struct widths w = {
        widest(table, offsetof(struct ar_row_key, type), "type"),
        widest(table, offsetof(struct ar_row_key, op), "op"),
        widest(table, offsetof(struct ar_row_key, ran), "ran"),
        widest(table, offsetof(struct ar_row_key, requested), "requested"),
        comm < AR_COMM_COLUMN ? comm : AR_COMM_COLUMN - 1,
    };
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
    fprintf(to,
            "%10s %12s %12s %10s %10s %10s %10s %10s %6s %7s  %-*s %-*s  %-*s  %-*s  %-*s  why\n",
            "calls", "ms", "wait", "setup", "min", "median", "p99", "max", "comm", "size", w.type,
            "type", w.op, "op", w.ran, "ran", w.requested, "requested", w.comm, "communicator");
    for (size_t i = 0; i < table->nrows; i++)
        print_row(to, &table->rows[i], &w);
    if (table->lost > 0)
        fprintf(to, "%10llu more call%s could not be recorded: out of memory\n",
                (unsigned long long)table->lost, ar_plural(table->lost));
    ar_site_rows_write_text(to, &table->sites, NULL);
    ar_rank_rows_write_text(to, &table->ranks);
}

/* --- sites --- */

#define WAIT_IS_OF_OURS                                                                            \
    "wait is that in algorithms of liballreduce: that of native calls is not known"

void
ar_site_rows_write_text(FILE *to, const struct ar_site_rows *rows, char *const *lines)
{
    if (rows->n > 0)
        fprintf(to, "\n%10s %8s %12s %12s %6s  %-18s  called from\n", "calls", "bytes", "ms",
                "wait", "ranks", "call");
    for (size_t i = 0; i < rows->n; i++) {
        const struct ar_site_row *const row = &rows->rows[i];
        char text[AR_SITE_TEXT], bytes[AR_NUMBER_TEXT];
        fprintf(to, "%10llu %8s", (unsigned long long)row->calls,
                ar_bytes_print((double)row->bytes, bytes, sizeof bytes));
        print_time(to, 12, (double)row->ns * 1e-6, true);
        print_time(to, 12, (double)row->wait_ns * 1e-6, true);
        fprintf(to, " %6d  %-18s  %s", row->ranks, ar_site_entry(&row->site),
                ar_site_print(text, &row->site));
        fprintf(to, lines && lines[i] ? "  %s\n" : "\n", lines ? lines[i] : "");
    }
    if (rows->n > 0)
        fprintf(to, "calls to wait are sums over all ranks; " WAIT_IS_OF_OURS "\n");
}

/* --- ranks --- */

char *
ar_rank_share_print(char *text, size_t room, uint64_t calls, const struct ar_rank_row *row)
{
    if (row->compared > 0)
        snprintf(text, room, "%.0f", 100.0 * (double)calls / (double)row->compared);
    else
        snprintf(text, room, "-");
    return text;
}

static void
print_rank(FILE *to, const struct ar_rank_row *row, int host, int cpus)
{
    const uint64_t counts[] = {row->first, row->last, row->late};
    char share[16];
    fprintf(to, "%8d  %-*s  %-*s %10llu", row->rank, host, or_dash(row->host), cpus,
            or_dash(row->cpus), (unsigned long long)row->calls);
    print_time(to, 12, (double)row->ns * 1e-6, true);
    print_time(to, 12, (double)row->wait_ns * 1e-6, true);
    print_time(to, 10, (double)row->setup_ns * 1e-6, true);
    for (int i = 0; i < 3; i++)
        fprintf(to, " %7s", ar_rank_share_print(share, sizeof share, counts[i], row));
    fputc('\n', to);
}

void
ar_rank_rows_write_text(FILE *to, const struct ar_rank_rows *rows)
{
    struct ar_rank_row picked[AR_RANKS_TOLD];
    const size_t n = ar_rank_rows_pick(rows, picked, AR_RANKS_TOLD);
    size_t host = strlen("host"), cpus = strlen("CPUs");
    if (n == 0)
        return;
    for (size_t i = 0; i < n; i++) {
        host = strlen(picked[i].host) > host ? strlen(picked[i].host) : host;
        cpus = strlen(picked[i].cpus) > cpus ? strlen(picked[i].cpus) : cpus;
    }
    fprintf(to, "\n%8s  %-*s  %-*s %10s %12s %12s %10s %7s %7s %7s\n", "rank", (int)host, "host",
            (int)cpus, "CPUs", "calls", "ms", "wait", "setup", "first %", "last %", "late %");
    for (size_t i = 0; i < n; i++)
        print_rank(to, &picked[i], (int)host, (int)cpus);
    if (n < rows->n)
        fprintf(to, "%zu more rank%s, which were late no more often\n", rows->n - n,
                ar_plural(rows->n - n));
    fprintf(to, "first, last: the percentage of its calls to which the rank came before or after "
                "all others; late: it came last, and the first rank was in the call for at least "
                "twice its time; " WAIT_IS_OF_OURS "\n");
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
    if (sums.nrows > 0) {
        fprintf(to, "liballreduce: %s\n", title);
        fprintf(to, "liballreduce: %10s %14s %12s  %-32s %s\n", "calls", "bytes", "ms", "ran",
                "why");
    }
    for (size_t i = 0; i < sums.nrows; i++) {
        const struct ar_row *const row = &sums.rows[i];
        char ms[AR_NUMBER_TEXT], bytes[AR_NUMBER_TEXT];
        fprintf(to, "liballreduce: %10llu %14s %12s  %-32s %s\n",
                (unsigned long long)row->counts.calls,
                ar_bytes_print((double)row->counts.bytes, bytes, sizeof bytes),
                ar_number_print((double)row->counts.ns * 1e-6, ms, sizeof ms), row->key.ran,
                row->key.reason);
    }
    print_setup(to, table);
    ar_table_fini(&sums);
}
