/* The table for programs: JSON, one object per line.  All numbers are integers, since the program's
 * locale may write others with a comma. */
#include "report/json.h"
#include "report/table.h"
#include "report/watchdog.h"

static void
print_field(FILE *to, const char *name, const char *text)
{
    fprintf(to, "\"%s\": ", name);
    ar_json_string(to, text);
    fputs(", ", to);
}

static void
print_number(FILE *to, const char *name, uint64_t number, bool known)
{
    if (known)
        fprintf(to, "\"%s\": %llu, ", name, (unsigned long long)number);
    else
        fprintf(to, "\"%s\": null, ", name);
}

static void
print_extreme(FILE *to, const char *name, const struct ar_extreme *extreme, bool known)
{
    if (known)
        fprintf(to, "\"%s\": {\"rank\": %d, \"mean_ns\": %llu}, ", name, extreme->rank,
                (unsigned long long)extreme->ns);
    else
        fprintf(to, "\"%s\": null, ", name);
}

/* [bytes, calls, ns] of each. */
static void
print_sizes(FILE *to, const struct ar_counts *c)
{
    fputs("\"sizes\": [", to);
    for (int i = 0; i < AR_SIZES_MOST && c->sizes[i].calls > 0; i++)
        fprintf(to, "%s[%llu, %llu, %llu]", i ? ", " : "", (unsigned long long)c->sizes[i].bytes,
                (unsigned long long)c->sizes[i].calls, (unsigned long long)c->sizes[i].ns);
    fputs("], ", to);
}

static void
print_row(FILE *to, const struct ar_row *row)
{
    const struct ar_row_key *const key = &row->key;
    const struct ar_counts *c = &row->counts;
    const bool timed = c->least_ns != UINT64_MAX;
    const char *comma = "";
    fputc('{', to);
    print_field(to, "call", ar_entry_names[key->entry]);
    print_field(to, "comm", key->comm);
    print_number(to, "comm_size", (uint64_t)key->nranks, key->nranks > 0);
    print_number(to, "nodes", (uint64_t)key->nodes, key->nodes > 0);
    print_field(to, "type", key->type);
    print_field(to, "op", key->op);
    print_number(to, "bytes_from", ar_size_bin_first(key->bin), true);
    print_number(to, "bytes_to", ar_size_bin_last(key->bin), true);
    print_field(to, "requested", key->requested);
    print_field(to, "ran", key->ran);
    print_field(to, "reason", key->reason);
    print_number(to, "ranks", (uint64_t)row->ranks, true);
    print_number(to, "calls", c->calls, true);
    print_number(to, "bytes", c->bytes, true);
    print_number(to, "setup_ns", c->setup_ns, timed);
    print_number(to, "ns", c->ns, timed);
    print_number(to, "wait_ns", c->wait_ns, timed && !ar_row_is_native(row));
    print_number(to, "own_ns", ar_row_own_ns(row), timed);
    print_number(to, "streamed", c->streamed, true);
    print_number(to, "min_ns", c->least_ns, timed);
    print_number(to, "median_ns", ar_row_quantile(row, 0.5), timed);
    print_number(to, "p99_ns", ar_row_quantile(row, 0.99), timed);
    print_number(to, "max_ns", c->most_ns, timed);
    print_number(to, "running_ns", row->running_ns, row->running_ns > 0);
    print_extreme(to, "quickest", &row->quickest, timed);
    print_extreme(to, "slowest", &row->slowest, timed);
    fputs("\"histogram\": [", to);
    for (unsigned i = 0; i < AR_HISTOGRAM_BUCKETS; i++) {
        if (c->times.count[i] == 0)
            continue;
        fprintf(to, "%s[%llu, %llu]", comma, (unsigned long long)ar_histogram_ns(i),
                (unsigned long long)c->times.count[i]);
        comma = ", ";
    }
    fputs("], ", to);
    print_sizes(to, c);
    fprintf(to, "\"in_place\": %s, \"shares_cores\": %s}\n",
            key->place == AR_PLACE_UNKNOWN ? "null"
            : key->place == AR_IN_PLACE    ? "true"
                                           : "false",
            key->nodes == 0     ? "null"
            : row->shares_cores ? "true"
                                : "false");
}

static void
print_site(FILE *to, const struct ar_site_row *row)
{
    char text[AR_SITE_TEXT];
    fputc('{', to);
    print_field(to, "site", ar_site_print(text, &row->site));
    print_field(to, "entry", ar_site_entry(&row->site));
    print_field(to, "module", row->site.module);
    print_field(to, "build_id", row->site.build_id);
    print_number(to, "offset", row->site.offset, true);
    print_number(to, "calls", row->calls, true);
    print_number(to, "bytes", row->bytes, true);
    print_number(to, "ns", row->ns, true);
    print_number(to, "wait_ns", row->wait_ns, true);
    fprintf(to, "\"ranks\": %d}\n", row->ranks);
}

static void
print_rank(FILE *to, const struct ar_rank_row *row)
{
    const bool compared = row->compared > 0;
    fprintf(to, "{\"rank\": %d, ", row->rank);
    print_field(to, "host", row->host);
    print_field(to, "cpus", row->cpus);
    print_number(to, "calls", row->calls, true);
    print_number(to, "bytes", row->bytes, true);
    print_number(to, "setup_ns", row->setup_ns, true);
    print_number(to, "ns", row->ns, true);
    print_number(to, "wait_ns", row->wait_ns, true);
    print_number(to, "first", row->first, compared);
    print_number(to, "last", row->last, compared);
    print_number(to, "late", row->late, compared);
    fprintf(to, "\"compared\": %llu}\n", (unsigned long long)row->compared);
}

void
ar_table_write_json(FILE *to, const struct ar_table *table, const struct ar_run *run)
{
    struct ar_alarm alarms[AR_ALARMS_TOLD];
    fputs("{\"format\": 1, ", to);
    print_field(to, "liballreduce", run->version);
    print_field(to, "mpi", run->family);
    print_field(to, "program", run->program);
    print_field(to, "when", run->when);
    print_number(to, "world", (uint64_t)run->nranks, run->nranks > 0);
    print_number(to, "rank", (uint64_t)run->rank, run->rank >= 0);
    print_number(to, "lost", table->lost, true);
    print_number(to, "elapsed_ns", run->elapsed_ns, true);
    print_number(to, "ranks", (uint64_t)run->ranks, true);
    print_field(to, "library", run->library);
    print_field(to, "command", run->command);
    fprintf(to, "\"hosts\": %d}\n", ar_rank_rows_hosts(&table->ranks));
    for (size_t i = 0; i < table->nrows; i++)
        print_row(to, &table->rows[i]);
    for (size_t i = 0; i < table->sites.n; i++)
        print_site(to, &table->sites.rows[i]);
    for (size_t i = 0; i < table->ranks.n; i++)
        print_rank(to, &table->ranks.rows[i]);
    const size_t n = ar_watchdog_look(table, alarms, AR_ALARMS_TOLD);
    for (size_t i = 0; i < n; i++) {
        char text[AR_ALARM_TEXT];
        fputs("{\"watchdog\": ", to);
        ar_json_string(to, ar_alarm_print(&alarms[i], text, sizeof text));
        fputs("}\n", to);
    }
}
