/* The page of a report: its facts, as data for src/page/report.js. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/page.h"
#include "cli/report.h"
#include "report/json.h"
#include "report/watchdog.h"

struct shown {
    const struct ar_facts *facts;
    size_t n;
    const struct ar_pair *pairs;
    size_t npairs;
    const struct ar_table *all;
};

static bool
print_text(const void *what)
{
    const struct shown *const shown = what;
    if (shown->n == 2)
        ar_report_print_pair(shown->facts, shown->pairs, shown->npairs);
    else
        ar_report_print(shown->facts);
    ar_report_print_alarms(shown->all);
    return true;
}

static void
put_alarms(struct ar_json *json, const struct ar_table *all)
{
    struct ar_alarm alarms[AR_ALARMS_TOLD];
    const size_t n = ar_watchdog_look(all, alarms, AR_ALARMS_TOLD);
    ar_json_begin(json, "alarms", '[');
    for (size_t i = 0; i < n; i++) {
        char text[AR_ALARM_TEXT];
        ar_json_put_text(json, NULL, ar_alarm_print(&alarms[i], text, sizeof text));
    }
    ar_json_end(json, ']');
}

/* --- two runs --- */

static void
put_side(struct ar_json *json, const struct ar_row *row, bool is_mixed)
{
    ar_json_begin(json, NULL, '{');
    ar_json_put_text(json, "ran", row->counts.calls > 0 ? row->key.ran : "-");
    ar_json_put(json, "is_mixed", "%d", is_mixed);
    if (row->counts.calls > 0 && row->counts.least_ns != UINT64_MAX)
        ar_json_put(json, "own_ns", "%llu", (unsigned long long)ar_row_own_ns(row));
    ar_json_end(json, '}');
}

static void
put_pairs(struct ar_json *json, const struct shown *shown)
{
    ar_json_begin(json, "pairs", '[');
    for (size_t i = 0; i < shown->npairs; i++) {
        const struct ar_pair *const pair = &shown->pairs[i];
        const struct ar_row_key *const key = &pair->rows[0].key;
        char size[AR_ROW_SIZE_TEXT];
        ar_json_begin(json, NULL, '{');
        ar_json_put_text(json, "comm", key->comm);
        ar_json_put(json, "comm_size", "%d", key->nranks);
        ar_json_put_text(json, "type", key->type);
        ar_json_put_text(json, "op", key->op);
        ar_json_put_text(json, "size", ar_pair_size_print(pair, size));
        ar_json_begin(json, "sides", '[');
        for (int side = 0; side < 2; side++)
            put_side(json, &pair->rows[side], pair->is_mixed[side]);
        ar_json_end(json, ']');
        ar_json_put(json, "ratio", "%.9g", ar_pair_ratio(pair));
        ar_json_end(json, '}');
    }
    ar_json_end(json, ']');
}

/* --- one run --- */

/* The statistics as their file has them: objects of the run, of the calls, of sites, and of the
 * ranks that were late most often.  False without memory. */
static bool
put_statistics(struct ar_json *json, const struct ar_read_run *run)
{
    struct ar_rank_row picked[AR_RANKS_TOLD];
    struct ar_table table = run->table;
    char *lines = NULL, *rest;
    size_t length;
    FILE *const memory = open_memstream(&lines, &length);
    table.ranks.rows = picked;
    table.ranks.n = ar_rank_rows_pick(&run->table.ranks, picked, AR_RANKS_TOLD);
    if (memory)
        ar_table_write_json(memory, &table,
                            &(struct ar_run){.version = run->version,
                                             .family = run->family,
                                             .program = run->program,
                                             .library = run->library,
                                             .command = run->command,
                                             .when = run->when,
                                             .elapsed_ns = run->elapsed_ns,
                                             .nranks = run->world,
                                             .ranks = run->ranks,
                                             .rank = -1});
    const bool is_done = memory && fclose(memory) == 0;
    ar_json_begin(json, "statistics", '[');
    for (char *line = is_done ? strtok_r(lines, "\n", &rest) : NULL; line;
         line = strtok_r(NULL, "\n", &rest))
        ar_json_put(json, NULL, "%s", line);
    ar_json_end(json, ']');
    free(lines);
    return is_done;
}

/* What follows from rows of the statistics. */
static void
put_facts(struct ar_json *json, const struct ar_facts *facts)
{
    ar_json_begin(json, "facts", '[');
    for (size_t i = 0; i < facts->n; i++) {
        const struct ar_fact *const f = &facts->facts[i];
        char cause[128], why[AR_WHY_TEXT], size[AR_ROW_SIZE_TEXT];
        ar_json_begin(json, NULL, '{');
        ar_json_put(json, "row", "%td", f->row - facts->run->table.rows);
        ar_json_put(json, "share", "%.9g", f->share);
        ar_json_put(json, "late_ns", "%.9g", f->late_ns);
        ar_json_put(json, "bound_ns", "%.9g", f->bound_ns);
        ar_json_put_text(json, "size", ar_row_size_print(f->row, size));
        ar_json_put_text(json, "why", ar_row_why(f->row, why));
        ar_json_put_text(json, "cause", ar_fact_explain(f, cause, sizeof cause));
        ar_json_end(json, '}');
    }
    ar_json_end(json, ']');
}

static void
put_advice(void *json, const char *text)
{
    ar_json_put_text(json, NULL, text);
}

static void
put_verdict(struct ar_json *json, const struct ar_facts *facts)
{
    char text[AR_FACTS_TEXT];
    ar_json_put_text(json, "verdict", ar_facts_verdict(facts, text, sizeof text));
    ar_json_begin(json, "advice", '[');
    ar_facts_advise(facts, put_advice, json);
    ar_json_end(json, ']');
}

/* Where the sites are in the source: "" where that is not known. */
static void
put_lines(struct ar_json *json, const struct ar_read_run *run)
{
    char *const *const lines = run->lines.lines;
    ar_json_begin(json, "lines", '[');
    for (size_t i = 0; i < run->table.sites.n; i++)
        ar_json_put_text(json, NULL, lines && lines[i] ? lines[i] : "");
    ar_json_end(json, ']');
    ar_json_put_text(json, "no_lines", run->lines.reasons ? run->lines.reasons : "");
}

/* False without memory. */
static bool
put_run(struct ar_json *json, const struct ar_facts *facts)
{
    const struct ar_rank_rows *const ranks = &facts->run->table.ranks;
    ar_json_begin(json, NULL, '{');
    ar_json_put_text(json, "path", facts->run->path);
    ar_json_put(json, "hosts", "%d", ar_rank_rows_hosts(ranks));
    ar_json_put(json, "nranks", "%zu", ranks->n);
    ar_json_put(json, "total_ns", "%.9g", facts->total_ns);
    ar_json_put(json, "own_ns", "%.9g", facts->own_ns);
    ar_json_put(json, "late_ns", "%.9g", facts->late_ns);
    ar_json_put(json, "setup_ns", "%.9g", facts->setup_ns);
    put_verdict(json, facts);
    put_facts(json, facts);
    put_lines(json, facts->run);
    const bool is_done = put_statistics(json, facts->run);
    ar_json_end(json, '}');
    return is_done;
}

static bool
print_document(const void *what)
{
    const struct shown *const shown = what;
    struct ar_json json = {.to = stdout};
    bool is_done = true;
    char text[AR_FACTS_TEXT];
    ar_json_begin(&json, NULL, '{');
    ar_json_put(&json, "format", "%d", 1);
    if (shown->n == 2)
        ar_json_put_text(&json, "verdict", ar_pair_verdict(shown->facts, text, sizeof text));
    put_alarms(&json, shown->all);
    put_pairs(&json, shown);
    ar_json_begin(&json, "runs", '[');
    for (size_t i = 0; i < shown->n; i++)
        is_done &= put_run(&json, &shown->facts[i]);
    ar_json_end(&json, ']');
    ar_json_end(&json, '}');
    return is_done;
}

int
ar_report_print_json(const struct ar_facts *facts, size_t n, const struct ar_pair *pairs,
                     size_t npairs, const struct ar_table *all)
{
    const bool is_done = print_document(&(struct shown){facts, n, pairs, npairs, all});
    putchar('\n');
    return is_done ? AR_EXIT_DONE : AR_EXIT_FAILED;
}

int
ar_report_write_html(const char *path, const struct ar_facts *facts, size_t n,
                     const struct ar_pair *pairs, size_t npairs, const struct ar_table *all)
{
    const struct shown shown = {facts, n, pairs, npairs, all};
    return ar_page_write(path, "report.js", print_text, print_document, &shown);
}
