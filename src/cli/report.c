/* allreduce report: what the statistics of a run, or of two, say. */
#include <config.h>

#include <argp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "cli/read_timeline.h"
#include "cli/report.h"
#include "model/placement.h"
#include "report/columns.h"

struct request {
    const char **paths;
    size_t nfiles;
    size_t first_of_b; /* of the files; 0: all are of one run */
    size_t n;          /* 1, or 2 to compare; 0: no files, or many jobs to rank */
    enum ar_columns_format format;
    size_t top;           /* rows of a table; 0: all */
    const char *html;     /* NULL: none */
    double bytes_per_ns;  /* 0: not given */
    const char *machine;  /* NULL: none */
    int nranks;           /* of the machine; 0: not given */
    const char *timeline; /* NULL: none */
    long call;            /* of the timeline; 0: not given */
};

static const struct argp_option options[] = {
    {"html", 'o', "FILE", 0, "Also write a page with plots, in one file", 0},
    {"csv", 'v', NULL, 0, "Print the table of calls as comma-separated values", 0},
    {"json", 'j', NULL, 0, "Print all as JSON", 0},
    {"top", 'k', "N", 0, "Only the first N rows of each table", 0},
    {"bandwidth", 'b', "GB/S", 0,
     "The rate at which a rank can send, for the bound (default: the best rate in the file)", 0},
    {"machine", 'm', "FILE", 0, "Predict the times of the same calls on this machine, by its model",
     0},
    {"ranks", 'n', "N", 0, "Number of ranks on that machine (default: as many as the program had)",
     0},
    {"timeline", 't', "TRACE", 0, "Show one call from a file of ALLREDUCE_TRACE", 1},
    {"call", 'c', "N", 0,
     "The number of that call in the list of calls (default: the longest call)", 1},
    {0},
};

bool
ar_report_is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* A A A -- B B B, or A B; else one run, or with a folder or more files many jobs. */
static void
divide_files(struct argp_state *state, struct request *request)
{
    bool are_many = request->nfiles > 2;
    for (size_t i = 0; i < request->nfiles; i++)
        are_many |= ar_report_is_folder(request->paths[i]);
    if (request->first_of_b == 0 && are_many)
        return;
    if (request->first_of_b == 0 && request->nfiles == 2)
        request->first_of_b = 1;
    request->n = (request->nfiles > 0) + (request->first_of_b > 0);
    const size_t of_a = request->first_of_b ? request->first_of_b : request->nfiles;
    if (of_a > AR_RUNS_MOST || request->nfiles - of_a > AR_RUNS_MOST)
        argp_error(state, "report adds up %d runs at most", AR_RUNS_MOST);
}

/* What can only be judged when all options are known. */
static void
check_request(struct argp_state *state, struct request *request)
{
    divide_files(state, request);
    const bool are_many = request->n == 0 && request->nfiles > 0;
    if (are_many && (request->html || request->bytes_per_ns > 0 || request->nranks))
        argp_error(state, "--html, --bandwidth and --ranks are for one run or two, not for many");
    if (request->format && (request->timeline || (request->machine && !are_many)))
        argp_error(state, "--csv and --json are not for --timeline or --machine");
    if (request->machine && request->n > 1)
        argp_error(state, "--machine is for one run, or for many, not for two");
    if (request->timeline && (request->nfiles > 0 || request->bytes_per_ns > 0 || request->nranks))
        argp_error(state,
                   "--timeline takes its own file, and only --call, --machine and --html with it");
    if (request->call && !request->timeline)
        argp_error(state, "--call needs --timeline");
    if (request->nranks && !request->machine)
        argp_error(state, "--ranks needs --machine");
    for (size_t i = 0; i < request->nfiles; i++)
        ar_option_apart(state, "html", request->html, request->paths[i]);
    ar_option_apart(state, "html", request->html, request->timeline);
    ar_option_apart(state, "html", request->html, request->machine);
}

static error_t
parse(int key, char *argument, struct argp_state *state)
{
    struct request *request = state->input;
    switch (key) {
    case 'o':
        request->html = argument;
        return 0;
    case 'b':
        request->bytes_per_ns = ar_option_gbytes(state, "bandwidth", argument);
        return 0;
    case 'v':
    case 'j':
        if (request->format != AR_COLUMNS_TEXT)
            argp_error(state, "give one of --csv and --json");
        request->format = key == 'v' ? AR_COLUMNS_CSV : AR_COLUMNS_JSON;
        return 0;
    case 'k':
        request->top = (size_t)ar_option_number(state, "top", argument, 1, INT32_MAX);
        return 0;
    case 'm':
        request->machine = argument;
        return 0;
    case 'n':
        request->nranks =
            (int)ar_option_number(state, "ranks", argument, 2, AR_PLACEMENT_RANKS_MAX);
        return 0;
    case 't':
        ar_cli_need_jansson("report");
        request->timeline = argument;
        return 0;
    case 'c':
        request->call = ar_option_number(state, "call", argument, 1, INT32_MAX);
        return 0;
    case ARGP_KEY_ARG:
        ar_cli_need_jansson("report");
        if (state->quoted && state->next - 1 == state->quoted)
            request->first_of_b = request->nfiles;
        request->paths[request->nfiles++] = argument;
        return 0;
    case ARGP_KEY_NO_ARGS:
        if (!request->timeline)
            argp_error(state, "name a file that a run with ALLREDUCE_STATS=FILE.jsonl wrote");
        return 0;
    case ARGP_KEY_SUCCESS:
        check_request(state, request);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "FILE\nFILE FILE2\nFILE... -- FILE2...\nDIRECTORY|FILE...\n--timeline=TRACE",
    .doc = "Shows from the statistics of a run (ALLREDUCE_STATS=FILE.jsonl) where the time in "
           "allreduces went: which calls waited for late ranks, and which for the algorithm. Also "
           "shows how far they are from a bound. Two files are compared side by side, or several "
           "runs of A and of B, with -- between them. A directory, or more files, are many jobs, "
           "which are ranked by what could be won. A model of another "
           "machine predicts what the same calls would take there. --timeline looks inside one "
           "call instead.",
};

enum { RANK_DIGITS = 7 };

int
ar_rank_files_find(glob_t *found, const char *path)
{
    static const char first[] = ".rank[1-9]", next[] = "[0-9]";
    char *const pattern =
        malloc(2 * strlen(path) + sizeof first + (RANK_DIGITS - 1) * (sizeof next - 1));
    size_t length = 0;
    int error = GLOB_NOMATCH;
    *found = (glob_t){0};
    if (!pattern)
        return GLOB_NOSPACE;
    for (; *path; path++) {
        if (strchr("*?[\\", *path)) /* special in a pattern */
            pattern[length++] = '\\';
        pattern[length++] = *path;
    }
    char *end = stpcpy(pattern + length, ".rank[0-9]");
    for (int digits = 1; digits <= RANK_DIGITS && (!error || error == GLOB_NOMATCH); digits++) {
        error = glob(pattern, digits > 1 ? GLOB_APPEND : 0, NULL, found);
        if (digits == 1)
            memcpy(pattern + length, first, sizeof first);
        end = stpcpy(end, next);
    }
    free(pattern);
    if (!error || error == GLOB_NOMATCH)
        return found->gl_pathc > 0 ? 0 : GLOB_NOMATCH;
    globfree(found);
    return error;
}

void
ar_run_fini(struct ar_read_run *run)
{
    ar_table_fini(&run->table);
    ar_source_lines_fini(&run->lines);
}

/* Of n rows those that are shown. */
static size_t
least(size_t n, size_t top)
{
    return top > 0 && top < n ? top : n;
}

/* Facts, and pairs if there are two runs; all is empty. */
static int
report(const struct request *request, const struct ar_machine *machine,
       const struct ar_read_run *runs, struct ar_facts *facts, struct ar_table *all)
{
    size_t npairs = 0;
    struct ar_pair *pairs = NULL;
    int status = AR_EXIT_DONE;
    for (size_t i = 0; i < request->n; i++)
        if (!ar_facts_make(&facts[i], &runs[i], request->bytes_per_ns))
            return AR_EXIT_FAILED;
    for (size_t i = 0; i < request->n; i++)
        facts[i].n = least(facts[i].n, request->top);
    for (size_t i = 0; i < request->n; i++)
        for (size_t k = 0; k < runs[i].table.nrows; k++)
            if (!ar_table_add(all, &runs[i].table.rows[k]))
                return AR_EXIT_FAILED;
    if (request->n == 2) {
        pairs = ar_pairs_make(runs, &npairs);
        if (!pairs)
            return AR_EXIT_FAILED;
        npairs = least(npairs, request->top);
    }
    if (request->format == AR_COLUMNS_CSV) {
        ar_report_print_csv(facts, pairs, npairs);
    } else if (request->format == AR_COLUMNS_JSON) {
        status = ar_report_print_json(facts, request->n, pairs, npairs, all);
    } else if (pairs) {
        ar_report_print_pair(facts, pairs, npairs);
    } else {
        ar_report_print(facts);
        if (request->machine)
            status = ar_report_print_machine(facts, machine, request->nranks);
    }
    if (status == AR_EXIT_DONE && request->format == AR_COLUMNS_TEXT)
        ar_report_print_alarms(all);
    if (status == AR_EXIT_DONE && request->html)
        status = ar_report_write_html(request->html, facts, request->n, pairs, npairs, all);
    free(pairs);
    return status;
}

/* The files from first to end. */
static int
read_runs(struct ar_read_run *run, const struct request *request, size_t first, size_t end)
{
    int status = ar_run_read(run, "report", request->paths[first]);
    for (size_t i = first + 1; i < end && status == AR_EXIT_DONE; i++)
        status = ar_run_add(run, request->paths[i]);
    run->table.sites.n = least(run->table.sites.n, request->top);
    const bool has_lines = request->n == 1 || request->html || request->format == AR_COLUMNS_JSON;
    if (status != AR_EXIT_DONE || !has_lines ||
        ar_source_lines_find(&run->lines, &run->table.sites, run->when))
        return status;
    fprintf(stderr, "allreduce report: %s: out of memory\n", run->path);
    return AR_EXIT_FAILED;
}

/* One run, or two. */
static int
report_runs(const struct request *request, const struct ar_machine *machine)
{
    struct ar_read_run runs[2] = {{0}};
    struct ar_facts facts[2] = {{0}};
    struct ar_table all = {0};
    int status = AR_EXIT_DONE;
    const size_t ends[] = {request->first_of_b ? request->first_of_b : request->nfiles,
                           request->nfiles};
    for (size_t i = 0; i < request->n && status == AR_EXIT_DONE; i++)
        status = read_runs(&runs[i], request, i ? ends[0] : 0, ends[i]);
    if (status == AR_EXIT_DONE)
        status = report(request, machine, runs, facts, &all);
    ar_table_fini(&all);
    for (size_t i = 0; i < 2; i++) {
        ar_facts_fini(&facts[i]);
        ar_run_fini(&runs[i]);
    }
    return status;
}

int
ar_cli_report(int argc, char **argv)
{
    struct request request = {.paths = calloc((size_t)argc, sizeof *request.paths)};
    struct ar_machine machine;
    int status = request.paths ? AR_EXIT_DONE : AR_EXIT_FAILED;
    if (status == AR_EXIT_DONE)
        ar_cli_parse_alone(&argp, ARGP_IN_ORDER, argc, argv, &request); /* for the place of -- */
    if (request.machine && !request.timeline)
        status = ar_cli_read_machine(&machine, "report", request.machine);
    if (status == AR_EXIT_DONE)
        status =
            request.timeline
                ? ar_report_timeline(request.timeline, request.call, request.machine, request.html)
            : request.n > 0
                ? report_runs(&request, &machine)
                : ar_report_jobs(request.paths, request.nfiles, request.machine ? &machine : NULL,
                                 request.format, request.top);
    free(request.paths);
    return status;
}
