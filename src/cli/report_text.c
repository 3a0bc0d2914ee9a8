/* The report as text. */
#include <config.h>

#include <math.h>
#include <stdio.h>

#include "cli/report.h"
#include "report/columns.h"
#include "report/watchdog.h"
#include "select/number.h"

/* --- one run --- */

static void
print_run(const struct ar_read_run *run)
{
    const int ranks = run->ranks / run->runs;
    printf("%s: %s with liballreduce %s (%s), %d rank%s, %s\n", run->path, run->program,
           run->version, run->family, ranks, ar_plural((size_t)ranks), run->when);
    if (*run->library) {
        const int hosts = ar_rank_rows_hosts(&run->table.ranks);
        printf("%s; %d host%s; %s\n", run->library, hosts, ar_plural((size_t)hosts), run->command);
    }
    if (run->runs > 1)
        printf("with %d more run%s, whose calls are added\n", run->runs - 1,
               ar_plural((size_t)run->runs - 1));
    else if (run->files > 1)
        printf("the sum of %d files of single ranks\n", run->files);
    if (run->table.lost > 0)
        printf("%llu more call%s could not be recorded: the program ran out of memory\n",
               (unsigned long long)run->table.lost, ar_plural(run->table.lost));
}

static void
state_fact(struct ar_columns *c, const void *facts, size_t i)
{
    const struct ar_fact *const f = &((const struct ar_facts *)facts)->facts[i];
    const struct ar_row *const row = f->row;
    const bool timed = f->cause != AR_CAUSE_UNTIMED;
    const double calls = (double)row->counts.calls / (row->ranks ? row->ranks : 1);
    char share[16], late[16] = "-", size[AR_ROW_SIZE_TEXT], comm[AR_COMM_COLUMN], why[128];
    char ran[AR_CHOICE_TEXT + AR_WHY_TEXT + 4];
    snprintf(share, sizeof share, "%.1f %%", 100 * f->share);
    snprintf(ran, sizeof ran, "%s (%s)", row->key.ran, ar_row_why(row, why));
    if (timed && row->counts.ns > 0)
        snprintf(late, sizeof late, "%.0f %%", 100 * f->late_ns / (double)row->counts.ns);
    ar_column_shown(c, "share", "  share", share);
    ar_column_real(c, "part", AR_NUMBER, NULL, f->share);
    ar_column_count(c, "calls", AR_NUMBER, "    calls", (uint64_t)llrint(calls));
    ar_column_count(c, "ranks", AR_NUMBER, "ranks", (uint64_t)row->key.nranks);
    ar_column_text(c, "comm", "communicator", ar_name_fit(comm, sizeof comm, row->key.comm));
    ar_column_shown(c, "size", "   size", ar_row_size_print(row, size));
    ar_column_real(c, "bytes", AR_BYTES, NULL, f->bytes);
    ar_column_text(c, "type", "type", row->key.type);
    ar_column_text(c, "op", "op", row->key.op);
    ar_column_text(c, "ran", "ran (why)", ran);
    ar_column_real(c, "median", AR_US, " median us",
                   timed ? (double)ar_row_quantile(row, 0.5) * 1e-3 : NAN);
    ar_column_real(c, "own", AR_US, "    own us", timed ? f->own_ns * 1e-3 : NAN);
    ar_column_shown(c, "late", "  late", late);
    ar_column_real(c, "late_us", AR_US, NULL,
                   timed ? 1e-3 * f->late_ns / (double)row->counts.calls : NAN);
    ar_column_real(c, "bound", AR_NUMBER, "x bound",
                   f->bound_ns > 0 ? f->own_ns / f->bound_ns : NAN);
    ar_column_text(c, "cause", "what took the time", ar_fact_explain(f, why, sizeof why));
}

/* With an empty line before the first one. */
static void
tell(void *is_first, const char *text)
{
    printf("%s%s\n", *(bool *)is_first ? "\n" : "", text);
    *(bool *)is_first = false;
}

void
ar_report_print_alarms(const struct ar_table *table)
{
    struct ar_alarm alarms[AR_ALARMS_TOLD];
    const size_t n = ar_watchdog_look(table, alarms, AR_ALARMS_TOLD);
    for (size_t i = 0; i < n; i++) {
        char text[AR_ALARM_TEXT];
        printf("%swatchdog: %s\n", i ? "" : "\n", ar_alarm_print(&alarms[i], text, sizeof text));
    }
}

void
ar_report_print(const struct ar_facts *facts)
{
    bool has_names = false, is_first = true;
    char text[AR_FACTS_TEXT];
    for (size_t i = 0; i < facts->n; i++)
        has_names |= *facts->facts[i].row->key.comm != '\0';
    print_run(facts->run);
    printf("\n%s\n", ar_facts_verdict(facts, text, sizeof text));
    printf("%s\n\n", ar_facts_times(facts, text, sizeof text));
    ar_columns_write((struct ar_columns){
        .to = stdout,
        .row = state_fact,
        .table = facts,
        .n = facts->n,
        .view = has_names ? "share calls ranks comm size type op ran median own late bound cause"
                          : "share calls ranks size type op ran median own late bound cause",
        .empty = "-"});
    if (facts->n < facts->run->table.nrows)
        printf("%zu more kinds of calls\n", facts->run->table.nrows - facts->n);
    printf(
        "\ncalls: the number on one rank; size: the bytes of each message, and 16+ is from 16 to "
        "below twice as many, of several sizes; own: the estimated time of a call when no rank is "
        "late; late: waiting for late ranks\nx bound: own divided by the bound, which is the best "
        "rate of calls on as many ranks in this file, or --bandwidth\n");
    ar_site_rows_write_text(stdout, &facts->run->table.sites, facts->run->lines.lines);
    if (facts->run->lines.reasons)
        fputs(facts->run->lines.reasons, stdout);
    ar_rank_rows_write_text(stdout, &facts->run->table.ranks);
    ar_facts_advise(facts, tell, &is_first);
}

/* --- two runs --- */

static void
state_pair(struct ar_columns *c, const void *pairs, size_t i)
{
    const struct ar_pair *const pair = &((const struct ar_pair *)pairs)[i];
    const struct ar_row_key *const key = &pair->rows[0].key;
    static const char *const names[][4] = {{"a_ran", "A ran", "a_own", "    own us"},
                                           {"b_ran", "B ran", "b_own", "    own us"}};
    const double ratio = ar_pair_ratio(pair);
    char size[AR_ROW_SIZE_TEXT], comm[AR_COMM_COLUMN], ran[AR_CHOICE_TEXT + 8];
    ar_column_count(c, "ranks", AR_NUMBER, "ranks", (uint64_t)key->nranks);
    ar_column_shown(c, "size", "   size", ar_pair_size_print(pair, size));
    ar_column_count(c, "bytes_from", AR_BYTES, NULL, ar_size_bin_first(key->bin));
    ar_column_count(c, "bytes_to", AR_BYTES, NULL, ar_size_bin_last(key->bin));
    ar_column_text(c, "type", "type", *key->type ? key->type : "-");
    ar_column_text(c, "op", "op", *key->op ? key->op : "-");
    for (int side = 0; side < 2; side++) {
        const struct ar_row *const row = &pair->rows[side];
        const bool timed = row->counts.calls > 0 && row->counts.least_ns != UINT64_MAX;
        snprintf(ran, sizeof ran, "%s%s", row->counts.calls > 0 ? row->key.ran : "-",
                 pair->is_mixed[side] ? ", ..." : "");
        ar_column_text(c, names[side][0], names[side][1], ran);
        ar_column_real(c, names[side][2], AR_US, names[side][3],
                       timed ? (double)ar_row_own_ns(row) * 1e-3 : NAN);
    }
    ar_column_real(c, "ratio", AR_NUMBER, "      A/B", ratio > 0 ? ratio : NAN);
    ar_column_text(c, "comm", "communicator", ar_name_fit(comm, sizeof comm, key->comm));
}

void
ar_report_print_pair(const struct ar_facts facts[2], const struct ar_pair *pairs, size_t n)
{
    char text[AR_FACTS_TEXT];
    printf("%s\n\n", ar_pair_verdict(facts, text, sizeof text));
    for (int side = 0; side < 2; side++) {
        printf("%c: ", 'A' + side);
        print_run(facts[side].run);
    }
    printf("\ntimes, average of the ranks\n  %14s %14s %14s %14s\n", "in allreduces", "algorithms",
           "late ranks", "set-up");
    for (int side = 0; side < 2; side++) {
        const struct ar_facts *const f = &facts[side];
        char time[AR_NUMBER_TEXT];
        const double parts[] = {f->total_ns, f->own_ns, f->late_ns, f->setup_ns};
        printf("%c", 'A' + side);
        for (int i = 0; i < 4; i++)
            printf(" %14s", ar_time_print(1e9 * ar_facts_seconds(f, parts[i]), time, sizeof time));
        printf("\n");
    }
    bool has_names = false;
    for (size_t i = 0; i < n; i++)
        has_names |= *pairs[i].rows[0].key.comm != '\0';
    printf("\n");
    ar_columns_write((struct ar_columns){
        .to = stdout,
        .row = state_pair,
        .table = pairs,
        .n = n,
        .view = has_names ? "ranks size type op a_ran a_own b_ran b_own ratio comm"
                          : "ranks size type op a_ran a_own b_ran b_own ratio"});
    printf("\nown: the estimated time of a call when no rank is late; A/B above 1: B is faster; -: "
           "not "
           "known, or the sizes or the nodes are unlike\n");
}

/* --- for programs --- */

void
ar_report_print_csv(const struct ar_facts *facts, const struct ar_pair *pairs, size_t npairs)
{
    ar_columns_write((struct ar_columns){.to = stdout,
                                         .format = AR_COLUMNS_CSV,
                                         .row = pairs ? state_pair : state_fact,
                                         .table = pairs ? (const void *)pairs : facts,
                                         .n = pairs ? npairs : facts->n});
}
