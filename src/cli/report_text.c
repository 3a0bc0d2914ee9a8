/* The report as text. */
#include <config.h>

#include <stdio.h>
#include <string.h>

#include "cli/report.h"
#include "report/watchdog.h"
#include "select/number.h"

/* --- one run --- */

static void
print_run(const struct ar_read_run *run)
{
    printf("%s: %s with liballreduce %s (%s), %d rank%s, %s\n", run->path, run->program,
           run->version, run->family, run->ranks, ar_plural((size_t)run->ranks), run->when);
    if (*run->library) {
        const int hosts = ar_rank_rows_hosts(&run->table.ranks);
        printf("%s; %d host%s; %s\n", run->library, hosts, ar_plural((size_t)hosts), run->command);
    }
    if (run->files > 1)
        printf("the sum of %d files of single ranks\n", run->files);
    if (run->table.lost > 0)
        printf("%llu more call%s could not be recorded: the program ran out of memory\n",
               (unsigned long long)run->table.lost, ar_plural(run->table.lost));
}

/* Of the columns that hold names. */
struct widths {
    int type, op, ran;
    int comm; /* 0: no communicator has a name */
};

static void
widen(int *width, size_t length)
{
    if ((size_t)*width < length)
        *width = (int)length;
}

/* In so many columns, or "-" where the value is not known. */
static void
print_known(int width, double value, bool known)
{
    char text[AR_NUMBER_TEXT];
    printf(" %*s", width, known ? ar_number_print(value, text, sizeof text) : "-");
}

static void
print_fact(const struct ar_fact *f, const struct widths *w)
{
    const struct ar_row *row = f->row;
    const bool timed = f->cause != AR_CAUSE_UNTIMED;
    char size[AR_ROW_SIZE_TEXT], ran[AR_CHOICE_TEXT + AR_WHY_TEXT + 4], why[128];
    char comm[AR_COMM_COLUMN];
    snprintf(ran, sizeof ran, "%s (%s)", row->key.ran, ar_row_why(row, why));
    printf("%5.1f %% %9.0f %5d %-*s%7s  %-*s %-*s  %-*s", 100 * f->share,
           (double)row->counts.calls / (row->ranks ? row->ranks : 1), row->key.nranks, w->comm,
           *row->key.comm || w->comm == 0 ? ar_name_fit(comm, sizeof comm, row->key.comm) : "-",
           ar_row_size_print(row, size), w->type, *row->key.type ? row->key.type : "-", w->op,
           *row->key.op ? row->key.op : "-", w->ran, ran);
    print_known(10, (double)ar_row_quantile(row, 0.5) * 1e-3, timed);
    print_known(10, f->own_ns * 1e-3, timed);
    if (timed && row->counts.ns > 0)
        printf(" %4.0f %%", 100 * f->late_ns / (double)row->counts.ns);
    else
        printf(" %6s", "-");
    print_known(7, f->bound_ns > 0 ? f->own_ns / f->bound_ns : 0, f->bound_ns > 0);
    printf("  %s\n", ar_fact_explain(f, why, sizeof why));
}

static void
advise(const struct ar_facts *facts)
{
    int given = 0;
    char text[AR_ADVICE_TEXT];
    for (size_t i = 0; i < facts->n && given < AR_ADVICES_TOLD; i++)
        if (ar_fact_advise(facts, &facts->facts[i], text, sizeof text))
            printf("%s%s\n", given++ ? "" : "\n", text);
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
    struct widths w = {strlen("type"), strlen("op"), strlen("ran (why)"), 0};
    char comm[AR_COMM_COLUMN], text[AR_FACTS_TEXT], why[AR_WHY_TEXT];
    for (size_t i = 0; i < facts->n; i++) {
        const struct ar_row_key *key = &facts->facts[i].row->key;
        widen(&w.comm, strlen(ar_name_fit(comm, sizeof comm, key->comm)));
        widen(&w.type, strlen(key->type));
        widen(&w.op, strlen(key->op));
        widen(&w.ran,
              strlen(key->ran) + strlen(ar_row_why(facts->facts[i].row, why)) + strlen(" ()"));
    }
    print_run(facts->run);
    printf("\n%s\n", ar_facts_verdict(facts, text, sizeof text));
    printf("%s\n\n", ar_facts_times(facts, text, sizeof text));
    if (w.comm > 0)
        widen(&w.comm, strlen("communicator"));
    printf("%7s %9s %5s %-*s%7s  %-*s %-*s  %-*s %10s %10s %6s %7s  %s\n", "share", "calls",
           "ranks", w.comm, w.comm > 0 ? "communicator" : "", "size", w.type, "type", w.op, "op",
           w.ran, "ran (why)", "median us", "own us", "late", "x bound", "what took the time");
    for (size_t i = 0; i < facts->n; i++)
        print_fact(&facts->facts[i], &w);
    printf(
        "\ncalls: the number on one rank; size: the bytes of each message, and 16+ is from 16 to "
        "below twice as many, of several sizes; own: the estimated time of a call when no rank is "
        "late; late: waiting for late ranks\nx bound: own divided by the bound, which is the best "
        "rate of calls on as many ranks in this file, or --bandwidth\n");
    ar_site_rows_write_text(stdout, &facts->run->table.sites, facts->run->lines.lines);
    if (facts->run->lines.reasons)
        fputs(facts->run->lines.reasons, stdout);
    ar_rank_rows_write_text(stdout, &facts->run->table.ranks);
    advise(facts);
}

/* --- two runs --- */

static void
print_side(const struct ar_row *row, bool is_mixed, int width)
{
    char ran[AR_CHOICE_TEXT + 8];
    if (row->counts.calls == 0) {
        printf("  %-*s %10s", width, "-", "");
        return;
    }
    snprintf(ran, sizeof ran, "%s%s", row->key.ran, is_mixed ? ", ..." : "");
    printf("  %-*s", width, ran);
    print_known(10, (double)ar_row_own_ns(row) * 1e-3, row->counts.least_ns != UINT64_MAX);
}

void
ar_report_print_pair(const struct ar_facts facts[2], const struct ar_pair *pairs, size_t n)
{
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
    int ran[2] = {strlen("A ran"), strlen("B ran")};
    for (size_t i = 0; i < n; i++) {
        has_names |= *pairs[i].rows[0].key.comm != '\0';
        for (int side = 0; side < 2; side++)
            widen(&ran[side], strlen(pairs[i].rows[side].key.ran) +
                                  (pairs[i].is_mixed[side] ? strlen(", ...") : 0));
    }
    printf("\n%5s %7s  %-20s %-10s  %-*s %10s  %-*s %10s %9s%s\n", "ranks", "size", "type", "op",
           ran[0], "A ran", "own us", ran[1], "B ran", "own us", "A/B",
           has_names ? "  communicator" : "");
    for (size_t i = 0; i < n; i++) {
        const struct ar_row *a = &pairs[i].rows[0], *b = &pairs[i].rows[1];
        const double ratio = ar_pair_ratio(&pairs[i]);
        char size[AR_ROW_SIZE_TEXT], comm[AR_COMM_COLUMN];
        printf("%5d %7s  %-20s %-10s", a->key.nranks, ar_pair_size_print(&pairs[i], size),
               *a->key.type ? a->key.type : "-", *a->key.op ? a->key.op : "-");
        print_side(a, pairs[i].is_mixed[0], ran[0]);
        print_side(b, pairs[i].is_mixed[1], ran[1]);
        print_known(9, ratio, ratio > 0);
        printf("%s%s\n", *a->key.comm ? "  " : "", ar_name_fit(comm, sizeof comm, a->key.comm));
    }
    printf("\nown: the estimated time of a call when no rank is late; A/B above 1: B is faster; -: "
           "not "
           "known, or the sizes or the nodes are unlike\n");
}
