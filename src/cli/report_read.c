/* Reads what ALLREDUCE_STATS wrote. */
#include <config.h> /* _GNU_SOURCE */

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
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

void
ar_json_text(char *text, size_t room, const json_t *object, const char *name)
{
    const char *const value = json_string_value(json_object_get(object, name));
    snprintf(text, room, "%s", value ? value : "");
    ar_name_clean(text);
}

/* --- one line --- */

/* A line as JSON, and what is wrong with the first of its numbers that is out of range. */
struct line {
    const json_t *object;
    char problem[160]; /* "": nothing */
};

/* Of an object in the line; 0 where it is missing or null, or out of range. */
static uint64_t
number_in(struct line *line, const json_t *object, const char *name, uint64_t most)
{
    const json_t *const value = json_object_get(object, name);
    const json_int_t number = json_integer_value(value);
    if (!value || json_is_null(value) ||
        (json_is_integer(value) && number >= 0 && (uint64_t)number <= most))
        return (uint64_t)number;
    if (!*line->problem && json_is_integer(value))
        snprintf(line->problem, sizeof line->problem,
                 "%s must be a whole number from 0 to %llu, not %lld", name,
                 (unsigned long long)most, (long long)number);
    else if (!*line->problem)
        snprintf(line->problem, sizeof line->problem, "%s must be a whole number from 0 to %llu",
                 name, (unsigned long long)most);
    return 0;
}

static uint64_t
number(struct line *line, const char *name)
{
    return number_in(line, line->object, name, INT64_MAX);
}

/* Of ranks, or of what has as many at most. */
static int
number_of_ranks(struct line *line, const char *name)
{
    return (int)number_in(line, line->object, name, INT32_MAX);
}

static bool
is_known(const struct line *line, const char *name)
{
    return json_is_integer(json_object_get(line->object, name));
}

/* Older files do not tell. */
static enum ar_place
place_of(const json_t *in_place)
{
    return !json_is_boolean(in_place) ? AR_PLACE_UNKNOWN
           : json_is_true(in_place)   ? AR_IN_PLACE
                                      : AR_OUT_OF_PLACE;
}

/* AR_ENTRIES for any other. */
static enum ar_entry
entry_of(const char *name)
{
    int entry = 0;
    while (entry < AR_ENTRIES && strcmp(name, ar_entry_names[entry]) != 0)
        entry++;
    return (enum ar_entry)entry;
}

static bool
take_key(struct ar_row_key *key, struct line *line)
{
    const char *const call = json_string_value(json_object_get(line->object, "call"));
    key->entry = call ? entry_of(call) : AR_ENTRIES;
    if (key->entry == AR_ENTRIES)
        return false;
    key->nranks = number_of_ranks(line, "comm_size");
    key->nodes = number_of_ranks(line, "nodes");
    key->bin = ar_size_bin(number(line, "bytes_from"));
    ar_json_text(key->comm, sizeof key->comm, line->object, "comm");
    ar_json_text(key->type, sizeof key->type, line->object, "type");
    ar_json_text(key->op, sizeof key->op, line->object, "op");
    ar_json_text(key->requested, sizeof key->requested, line->object, "requested");
    ar_json_text(key->ran, sizeof key->ran, line->object, "ran");
    ar_json_text(key->reason, sizeof key->reason, line->object, "reason");
    key->place = place_of(json_object_get(line->object, "in_place"));
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
        if (!json_is_integer(ns) || !json_is_integer(calls) || json_integer_value(ns) < 0 ||
            json_integer_value(calls) < 0)
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
take_extreme(struct ar_extreme *extreme, struct line *line, const char *name)
{
    const json_t *const object = json_object_get(line->object, name);
    extreme->rank = (int)number_in(line, object, "rank", INT32_MAX);
    extreme->ns = number_in(line, object, "mean_ns", INT64_MAX);
}

/* What became of a line. */
enum taken { TAKEN, TAKEN_BEFORE, IS_WRONG, HAS_NO_ROOM };

static enum taken
take_row(struct ar_table *table, struct line *line)
{
    struct ar_row row;
    struct ar_counts *const c = &row.counts;
    const size_t before = table->nrows;
    memset(&row, 0, sizeof row);
    ar_counts_init(c);
    if (!take_key(&row.key, line) || !is_known(line, "calls") ||
        !take_histogram(&c->times, json_object_get(line->object, "histogram")) ||
        !take_sizes(&row, json_object_get(line->object, "sizes")))
        return IS_WRONG;
    c->calls = number(line, "calls");
    c->bytes = number(line, "bytes");
    c->ns = number(line, "ns");
    c->wait_ns = number(line, "wait_ns");
    c->setup_ns = number(line, "setup_ns");
    c->streamed = number(line, "streamed");
    if (is_known(line, "min_ns"))
        c->least_ns = number(line, "min_ns");
    c->most_ns = number(line, "max_ns");
    row.running_ns = number(line, "running_ns");
    row.ranks = number_of_ranks(line, "ranks");
    row.shares_cores = json_is_true(json_object_get(line->object, "shares_cores"));
    take_extreme(&row.quickest, line, "quickest");
    take_extreme(&row.slowest, line, "slowest");
    if (*line->problem)
        return IS_WRONG;
    return !ar_table_add(table, &row) ? HAS_NO_ROOM : table->nrows > before ? TAKEN : TAKEN_BEFORE;
}

static enum taken
take_rank(struct ar_rank_rows *rows, struct line *line)
{
    struct ar_rank_row row = {.rank = number_of_ranks(line, "rank")};
    const size_t before = rows->n;
    if (!is_known(line, "rank") || !is_known(line, "calls"))
        return IS_WRONG;
    ar_json_text(row.host, sizeof row.host, line->object, "host");
    ar_json_text(row.cpus, sizeof row.cpus, line->object, "cpus");
    row.calls = number(line, "calls");
    row.bytes = number(line, "bytes");
    row.setup_ns = number(line, "setup_ns");
    row.ns = number(line, "ns");
    row.wait_ns = is_known(line, "wait_ns") ? number(line, "wait_ns") : UINT64_MAX;
    row.compared = number(line, "compared");
    row.first = number(line, "first");
    row.last = number(line, "last");
    row.late = number(line, "late");
    row.late_ns = number(line, "late_ns");
    if (*line->problem)
        return IS_WRONG;
    return !ar_rank_rows_add(rows, &row) ? HAS_NO_ROOM : rows->n > before ? TAKEN : TAKEN_BEFORE;
}

static enum taken
take_site(struct ar_site_rows *rows, struct line *line)
{
    const char *const entry = json_string_value(json_object_get(line->object, "entry"));
    struct ar_site_row row = {.site = {.offset = number(line, "offset")}};
    const size_t before = rows->n;
    if (!entry || !is_known(line, "calls"))
        return IS_WRONG;
    row.site.entry = entry_of(entry);
    ar_json_text(row.site.module, sizeof row.site.module, line->object, "module");
    ar_json_text(row.site.build_id, sizeof row.site.build_id, line->object, "build_id");
    row.calls = number(line, "calls");
    row.bytes = number(line, "bytes");
    row.ns = number(line, "ns");
    row.wait_ns = is_known(line, "wait_ns") ? number(line, "wait_ns") : UINT64_MAX;
    row.ranks = number_of_ranks(line, "ranks");
    row.runs = (struct ar_call_runs){number(line, "runs"), number(line, "runs_calls"),
                                     number(line, "runs_bytes"), number(line, "runs_ns")};
    row.runs_nranks = number_of_ranks(line, "runs_comm_size");
    if (*line->problem)
        return IS_WRONG;
    return !ar_site_rows_add(rows, &row) ? HAS_NO_ROOM : rows->n > before ? TAKEN : TAKEN_BEFORE;
}

static enum taken
take_head(struct ar_read_run *run, struct ar_table *table, struct line *line)
{
    const uint64_t format = number(line, "format"), elapsed = number(line, "elapsed_ns");
    if (format > 1)
        snprintf(line->problem, sizeof line->problem,
                 "was written by a later version, in format %llu, which this one cannot read",
                 (unsigned long long)format);
    if (format != 1 || !is_known(line, "ranks"))
        return IS_WRONG;
    ar_json_text(run->program, sizeof run->program, line->object, "program");
    ar_json_text(run->version, sizeof run->version, line->object, "liballreduce");
    ar_json_text(run->family, sizeof run->family, line->object, "mpi");
    ar_json_text(run->when, sizeof run->when, line->object, "when");
    ar_json_text(run->library, sizeof run->library, line->object, "library");
    ar_json_text(run->command, sizeof run->command, line->object, "command");
    run->world = number_of_ranks(line, "world");
    run->ranks += number_of_ranks(line, "ranks");
    run->elapsed_ns = elapsed > run->elapsed_ns ? elapsed : run->elapsed_ns;
    table->lost += number(line, "lost");
    return *line->problem ? IS_WRONG : TAKEN;
}

/* Line 1 is about the run; what the watchdog said follows from the rows. */
static int
take_line(struct ar_read_run *run, struct ar_table *table, const char *path, int n,
          const char *text)
{
    static const char no_json[] =
        "not JSON as ALLREDUCE_STATS writes it; let the run write a file FILE.jsonl";
    json_error_t error;
    json_t *const object = json_loads(text, 0, &error);
    struct line line = {.object = object};
    const bool is_timeline = n == 1 && strstr(text, "\"displayTimeUnit\"");
    const char *what = is_timeline ? "this is a timeline: give it by --timeline" : no_json;
    enum taken taken = IS_WRONG;
    if (object && n == 1) {
        taken = take_head(run, table, &line);
    } else if (object && json_object_get(object, "watchdog")) {
        taken = TAKEN;
    } else if (object && json_object_get(object, "site")) {
        what = "not a row of a call site";
        taken = take_site(&table->sites, &line);
    } else if (object && json_object_get(object, "rank")) {
        what = "not a row of a rank";
        taken = take_rank(&table->ranks, &line);
    } else if (object) {
        what = "not a row of statistics";
        taken = take_row(table, &line);
    }
    json_decref(object);
    if (taken == TAKEN)
        return AR_EXIT_DONE;
    return complain(run, path, n,
                    taken == TAKEN_BEFORE  ? "the same row is in an earlier line"
                    : taken == HAS_NO_ROOM ? "out of memory"
                    : *line.problem        ? line.problem
                                           : what);
}

/* --- files of single ranks --- */

/* What the first line of a file tells of its run.  False where the line cannot be read, which is
 * told when the whole file is. */
static bool
read_head(struct ar_read_run *head, const char *path)
{
    struct ar_table table = {0};
    FILE *const file = ar_input_open(path);
    char *const text = file ? malloc(AR_INPUT_MAX) : NULL;
    const char *why;
    json_error_t error;
    struct line line = {
        .object = text && ar_input_line(text, file, &why) ? json_loads(text, 0, &error) : NULL};
    *head = (struct ar_read_run){0};
    const bool is_read = line.object && take_head(head, &table, &line) == TAKEN;
    json_decref((json_t *)line.object);
    free(text);
    if (file)
        fclose(file);
    return is_read;
}

/* Did both run for a moment?  False where it is not certain: the ends are known to a second. */
static bool
were_together(const struct ar_read_run *a, const struct ar_read_run *b)
{
    const struct ar_read_run *const heads[] = {a, b};
    double begin[2], end[2];
    for (int i = 0; i < 2; i++) {
        struct tm tm = {.tm_isdst = -1};
        if (!strptime(heads[i]->when, "%Y-%m-%d %H:%M:%S", &tm))
            return false;
        end[i] = (double)mktime(&tm);
        begin[i] = end[i] + 1 - (double)heads[i]->elapsed_ns * 1e-9;
    }
    return begin[0] <= end[1] && begin[1] <= end[0];
}

/* One run may have several programs or arguments, and then all of them run at the same time. */
static bool
are_of_one_run(const struct ar_read_run *a, const struct ar_read_run *b)
{
    if (a->world && b->world && a->world != b->world)
        return false;
    return (strcmp(a->program, b->program) == 0 && strcmp(a->command, b->command) == 0) ||
           were_together(a, b);
}

static void
print_head(const struct ar_read_run *head)
{
    fprintf(stderr, "%s", *head->command ? head->command : head->program);
    if (head->world)
        fprintf(stderr, " on %d ranks", head->world);
    fprintf(stderr, " (%s)", head->when);
}

/* Are these files of one run?  An enum ar_exit; AR_EXIT_FAILED, having named those that are of
 * another run than the first: another number of ranks, or another program or command line at
 * another time.  Files that cannot be read are passed over. */
static int
check_rank_files(const glob_t *found, const char *command)
{
    struct ar_read_run first, other;
    int nothers = 0;
    if (found->gl_pathc == 0 || !read_head(&first, found->gl_pathv[0]))
        return AR_EXIT_DONE;
    for (size_t i = 1; i < found->gl_pathc; i++) {
        if (!read_head(&other, found->gl_pathv[i]) || are_of_one_run(&first, &other))
            continue;
        fprintf(stderr, "allreduce %s: %s is of another run than %s: ", command, found->gl_pathv[i],
                found->gl_pathv[0]);
        print_head(&other);
        fprintf(stderr, ", and not ");
        print_head(&first);
        fputc('\n', stderr);
        nothers++;
    }
    if (nothers == 0)
        return AR_EXIT_DONE;
    fprintf(stderr, "allreduce %s: remove the files of the older run, or name one file\n", command);
    return AR_EXIT_FAILED;
}

/* Says so if a FILE.rankN is newer than FILE. */
static void
tell_newer_rank_files(const char *path, const char *command)
{
    struct stat of_all, of_rank;
    glob_t found;
    if (stat(path, &of_all) || ar_rank_files_find(&found, path))
        return;
    for (size_t i = 0; i < found.gl_pathc; i++)
        if (stat(found.gl_pathv[i], &of_rank) == 0 &&
            (of_rank.st_mtim.tv_sec > of_all.st_mtim.tv_sec ||
             (of_rank.st_mtim.tv_sec == of_all.st_mtim.tv_sec &&
              of_rank.st_mtim.tv_nsec > of_all.st_mtim.tv_nsec))) {
            fprintf(stderr,
                    "allreduce %s: %s is newer than %s, which is shown: to see what single ranks "
                    "wrote later, name such a file, or remove %s\n",
                    command, found.gl_pathv[i], path, path);
            break;
        }
    globfree(&found);
}

/* --- files --- */

static int
take_file(struct ar_read_run *run, const char *path)
{
    struct ar_table table = {0};
    FILE *const file = ar_input_open(path);
    const char *why = file ? "out of memory" : strerror(errno);
    char *const text = file ? malloc(AR_INPUT_MAX) : NULL;
    int n = 0, status = text ? AR_EXIT_DONE : complain(run, path, 0, why);
    while (status == AR_EXIT_DONE && ar_input_line(text, file, &why))
        status = take_line(run, &table, path, ++n, text);
    if (status == AR_EXIT_DONE && why)
        status = complain(run, path, n + 1, why);
    else if (status == AR_EXIT_DONE && n == 0)
        status = complain(run, path, 0, "is empty");
    free(text);
    if (file)
        fclose(file);
    ar_table_merge(&run->table, &table);
    ar_table_fini(&table);
    run->files++;
    return status;
}

static double
ns_of(const struct ar_table *table)
{
    double ns = 0;
    for (size_t i = 0; i < table->nrows; i++)
        ns += (double)table->rows[i].counts.ns + (double)table->rows[i].counts.setup_ns;
    return ns;
}

int
ar_run_read(struct ar_read_run *run, const char *command, const char *path)
{
    *run = (struct ar_read_run){.path = path, .command_name = command};
    return ar_run_add(run, path);
}

int
ar_run_add(struct ar_read_run *run, const char *path)
{
    const char *const command = run->command_name;
    const double before_ns = ns_of(&run->table);
    const int before = run->ranks;
    glob_t found;
    int status = AR_EXIT_DONE;
    if (access(path, F_OK) && ar_rank_files_find(&found, path) == 0) {
        status = check_rank_files(&found, command);
        for (size_t i = 0; i < found.gl_pathc && status == AR_EXIT_DONE; i++)
            status = take_file(run, found.gl_pathv[i]);
        globfree(&found);
    } else {
        tell_newer_rank_files(path, command);
        status = take_file(run, path);
    }
    ar_table_sort(&run->table);
    run->seconds[run->runs++] =
        run->ranks > before ? (ns_of(&run->table) - before_ns) * 1e-9 / (run->ranks - before) : 0;
    if (status != AR_EXIT_DONE)
        ar_run_fini(run);
    return status;
}
