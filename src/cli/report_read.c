/* Reads what ALLREDUCE_STATS wrote. */
#include <config.h>

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/json_text.h"
#include "cli/report.h"
#include "config/input.h"

static int
complain(const struct ar_read_run *run, const char *path, int line, const char *what)
{
    if (line > 0)
        fprintf(stderr, "allreduce %s: %s: line %d: %s\n", run->command_name, path, line, what);
    else
        fprintf(stderr, "allreduce %s: %s: %s\n", run->command_name, path, what);
    return AR_EXIT_FAILED;
}

/* --- one line --- */

/* 0 where it is null. */
static uint64_t
number(const json_t *object, const char *name)
{
    const json_int_t value = json_integer_value(json_object_get(object, name));
    return value < 0 ? 0 : (uint64_t)value;
}

static bool
is_known(const json_t *object, const char *name)
{
    return json_is_integer(json_object_get(object, name));
}

/* Older files do not tell. */
static enum ar_place
place_of(const json_t *in_place)
{
    return !json_is_boolean(in_place) ? AR_PLACE_UNKNOWN
           : json_is_true(in_place)   ? AR_IN_PLACE
                                      : AR_OUT_OF_PLACE;
}

static bool
take_key(struct ar_row_key *key, const json_t *line)
{
    const char *const call = json_string_value(json_object_get(line, "call"));
    int entry = 0;
    while (call && entry < AR_ENTRIES && strcmp(call, ar_entry_names[entry]) != 0)
        entry++;
    if (!call || entry == AR_ENTRIES)
        return false;
    key->entry = (enum ar_entry)entry;
    key->nranks = (int)number(line, "comm_size");
    key->bin = ar_size_bin(number(line, "bytes_from"));
    ar_json_text(key->comm, sizeof key->comm, line, "comm");
    ar_json_text(key->type, sizeof key->type, line, "type");
    ar_json_text(key->op, sizeof key->op, line, "op");
    ar_json_text(key->requested, sizeof key->requested, line, "requested");
    ar_json_text(key->ran, sizeof key->ran, line, "ran");
    ar_json_text(key->reason, sizeof key->reason, line, "reason");
    key->place = place_of(json_object_get(line, "in_place"));
    return true;
}

static bool
take_histogram(struct ar_histogram *h, const json_t *pairs)
{
    size_t i;
    const json_t *pair;
    json_array_foreach(pairs, i, pair)
    {
        const json_t *const ns = json_array_get(pair, 0), *const calls = json_array_get(pair, 1);
        if (!json_is_integer(ns) || !json_is_integer(calls) || json_integer_value(ns) < 0)
            return false;
        h->count[ar_histogram_bucket((uint64_t)json_integer_value(ns))] +=
            (uint64_t)json_integer_value(calls);
    }
    return json_is_array(pairs);
}

/* Files of older versions have none. */
static bool
take_sizes(struct ar_row *row, const json_t *sizes)
{
    size_t i;
    const json_t *size;
    json_array_foreach(sizes, i, size)
    {
        uint64_t numbers[3]; /* bytes, calls, ns */
        for (size_t k = 0; k < 3; k++) {
            const json_t *const number = json_array_get(size, k);
            if (!json_is_integer(number) || json_integer_value(number) < 0)
                return false;
            numbers[k] = (uint64_t)json_integer_value(number);
        }
        if (numbers[1] == 0 || ar_size_bin(numbers[0]) != row->key.bin)
            return false;
        struct ar_size_counts *const mine = ar_size_find(row->counts.sizes, numbers[0]);
        if (mine)
            *mine = (struct ar_size_counts){numbers[1], numbers[0], numbers[2]};
    }
    return true;
}

static void
take_extreme(struct ar_extreme *extreme, const json_t *object)
{
    extreme->rank = (int)number(object, "rank");
    extreme->ns = number(object, "mean_ns");
}

/* False if the line is not a row. */
static bool
take_row(struct ar_row *row, const json_t *line)
{
    struct ar_counts *c = &row->counts;
    memset(row, 0, sizeof *row);
    ar_counts_init(c);
    if (!take_key(&row->key, line) || !is_known(line, "calls") ||
        !take_histogram(&c->times, json_object_get(line, "histogram")) ||
        !take_sizes(row, json_object_get(line, "sizes")))
        return false;
    c->calls = number(line, "calls");
    c->bytes = number(line, "bytes");
    c->ns = number(line, "ns");
    c->wait_ns = number(line, "wait_ns");
    c->setup_ns = number(line, "setup_ns");
    c->streamed = number(line, "streamed");
    if (is_known(line, "min_ns"))
        c->least_ns = number(line, "min_ns");
    c->most_ns = number(line, "max_ns");
    row->running_ns = number(line, "running_ns");
    row->ranks = (int)number(line, "ranks");
    take_extreme(&row->quickest, json_object_get(line, "quickest"));
    take_extreme(&row->slowest, json_object_get(line, "slowest"));
    return true;
}

/* False if the line is not a rank's row, or has no room. */
static bool
take_rank(struct ar_rank_rows *rows, const json_t *line)
{
    struct ar_rank_row row = {.rank = (int)number(line, "rank")};
    if (!is_known(line, "rank") || !is_known(line, "calls"))
        return false;
    ar_json_text(row.host, sizeof row.host, line, "host");
    ar_json_text(row.cpus, sizeof row.cpus, line, "cpus");
    row.calls = number(line, "calls");
    row.bytes = number(line, "bytes");
    row.setup_ns = number(line, "setup_ns");
    row.ns = number(line, "ns");
    row.wait_ns = number(line, "wait_ns");
    row.compared = number(line, "compared");
    row.first = number(line, "first");
    row.last = number(line, "last");
    row.late = number(line, "late");
    return ar_rank_rows_add(rows, &row) != NULL;
}

/* False if the line is not a site's row, or has no room. */
static bool
take_site(struct ar_site_rows *rows, const json_t *line)
{
    const char *const entry = json_string_value(json_object_get(line, "entry"));
    struct ar_site_row row = {.site = {.offset = number(line, "offset")}};
    int i = 0;
    while (entry && i < AR_ENTRIES && strcmp(entry, ar_entry_names[i]) != 0)
        i++;
    if (!entry || !is_known(line, "calls"))
        return false;
    row.site.entry = (enum ar_entry)i;
    ar_json_text(row.site.module, sizeof row.site.module, line, "module");
    ar_json_text(row.site.build_id, sizeof row.site.build_id, line, "build_id");
    row.calls = number(line, "calls");
    row.bytes = number(line, "bytes");
    row.ns = number(line, "ns");
    row.wait_ns = number(line, "wait_ns");
    row.ranks = (int)number(line, "ranks");
    return ar_site_rows_add(rows, &row) != NULL;
}

static bool
take_head(struct ar_read_run *run, const json_t *line)
{
    const uint64_t elapsed = number(line, "elapsed_ns");
    if (number(line, "format") != 1 || !is_known(line, "ranks"))
        return false;
    ar_json_text(run->program, sizeof run->program, line, "program");
    ar_json_text(run->version, sizeof run->version, line, "liballreduce");
    ar_json_text(run->family, sizeof run->family, line, "mpi");
    ar_json_text(run->when, sizeof run->when, line, "when");
    ar_json_text(run->library, sizeof run->library, line, "library");
    ar_json_text(run->command, sizeof run->command, line, "command");
    run->ranks += (int)number(line, "ranks");
    run->elapsed_ns = elapsed > run->elapsed_ns ? elapsed : run->elapsed_ns;
    run->table.lost += number(line, "lost");
    return true;
}

/* Line 1 is about the run; what the watchdog said follows from the rows. */
static int
take_line(struct ar_read_run *run, const char *path, int n, const char *text)
{
    static const char no_json[] =
        "not JSON as ALLREDUCE_STATS writes it; let the run write a file FILE.jsonl";
    struct ar_row row;
    json_error_t error;
    json_t *line = json_loads(text, 0, &error);
    int status = AR_EXIT_DONE;
    if (!line)
        return complain(run, path, n, no_json);
    if (n == 1 && !take_head(run, line))
        status = complain(run, path, n, no_json);
    else if (n > 1 && json_object_get(line, "watchdog"))
        status = AR_EXIT_DONE;
    else if (n > 1 && json_object_get(line, "site"))
        status = take_site(&run->table.sites, line)
                     ? AR_EXIT_DONE
                     : complain(run, path, n, "not a row of a call site");
    else if (n > 1 && json_object_get(line, "rank"))
        status = take_rank(&run->table.ranks, line) ? AR_EXIT_DONE
                                                    : complain(run, path, n, "not a row of a rank");
    else if (n > 1 && !take_row(&row, line))
        status = complain(run, path, n, "not a row of statistics");
    else if (n > 1 && !ar_table_add(&run->table, &row))
        status = complain(run, path, n, "out of memory");
    json_decref(line);
    return status;
}

/* --- files --- */

static int
take_file(struct ar_read_run *run, const char *path)
{
    FILE *const file = ar_input_open(path);
    const char *why = file ? "out of memory" : strerror(errno);
    char *const text = file ? malloc(AR_INPUT_MAX) : NULL;
    int n = 0, status = text ? AR_EXIT_DONE : complain(run, path, 0, why);
    while (status == AR_EXIT_DONE && ar_input_line(text, file, &why))
        status = take_line(run, path, ++n, text);
    if (status == AR_EXIT_DONE && why)
        status = complain(run, path, n + 1, why);
    else if (status == AR_EXIT_DONE && n == 0)
        status = complain(run, path, 0, "is empty");
    free(text);
    if (file)
        fclose(file);
    run->files++;
    return status;
}

int
ar_run_read(struct ar_read_run *run, const char *command, const char *path)
{
    glob_t found;
    int status = AR_EXIT_DONE;
    *run = (struct ar_read_run){.path = path, .command_name = command};
    if (access(path, F_OK) && ar_rank_files_find(&found, path) == 0) {
        status = ar_rank_files_check(&found, command);
        for (size_t i = 0; i < found.gl_pathc && status == AR_EXIT_DONE; i++)
            status = take_file(run, found.gl_pathv[i]);
        globfree(&found);
    } else {
        ar_rank_files_tell_newer(path, command);
        status = take_file(run, path);
    }
    ar_table_sort(&run->table);
    if (status != AR_EXIT_DONE)
        ar_run_fini(run);
    return status;
}
