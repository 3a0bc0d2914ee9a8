/* allreduce report: what the statistics of a run, or of two, say. */
#include <config.h>

#include <argp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/read_timeline.h"
#include "cli/report.h"
#include "model/placement.h"

#define FILES_MAX 2

struct request {
    const char *paths[FILES_MAX];
    size_t n;
    const char *html;     /* NULL: none */
    double bytes_per_ns;  /* 0: not given */
    const char *machine;  /* NULL: none */
    int nranks;           /* of the machine; 0: not given */
    const char *timeline; /* NULL: none */
    long call;            /* of the timeline; 0: not given */
};

static const struct argp_option options[] = {
    {"html", 'o', "FILE", 0, "Also write a page with plots, in one file", 0},
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
        if (request->n == FILES_MAX)
            argp_error(state, "unexpected argument '%s': report reads one file or two", argument);
        request->paths[request->n++] = argument;
        return 0;
    case ARGP_KEY_NO_ARGS:
        if (!request->timeline)
            argp_error(state, "name a file that a run with ALLREDUCE_STATS=FILE.jsonl wrote");
        return 0;
    case ARGP_KEY_SUCCESS:
        if (request->machine && request->n > 1)
            argp_error(state, "--machine needs exactly one file");
        if (request->timeline && (request->n > 0 || request->bytes_per_ns > 0 || request->nranks))
            argp_error(
                state,
                "--timeline takes its own file, and only --call, --machine and --html with it");
        if (request->call && !request->timeline)
            argp_error(state, "--call needs --timeline");
        if (request->nranks && !request->machine)
            argp_error(state, "--ranks needs --machine");
        for (size_t i = 0; i < request->n; i++)
            ar_option_apart(state, "html", request->html, request->paths[i]);
        ar_option_apart(state, "html", request->html, request->timeline);
        ar_option_apart(state, "html", request->html, request->machine);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "FILE [FILE2]\n--timeline=TRACE",
    .doc = "Shows from the statistics of a run (ALLREDUCE_STATS=FILE.jsonl) where the time in "
           "allreduces went: which calls waited for late ranks and which for the algorithm, and "
           "how far they are from a bound. Two files are compared side by side. A model of another "
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

/* Facts, and pairs if there are two runs; all is empty. */
static int
report(const struct request *request, const struct ar_read_run *runs, struct ar_facts *facts,
       struct ar_table *all)
{
    size_t npairs = 0;
    struct ar_pair *pairs = NULL;
    int status = AR_EXIT_DONE;
    for (size_t i = 0; i < request->n; i++)
        if (!ar_facts_make(&facts[i], &runs[i], request->bytes_per_ns))
            return AR_EXIT_FAILED;
    for (size_t i = 0; i < request->n; i++)
        for (size_t k = 0; k < runs[i].table.nrows; k++)
            if (!ar_table_add(all, &runs[i].table.rows[k]))
                return AR_EXIT_FAILED;
    if (request->n == 2) {
        pairs = ar_pairs_make(runs, &npairs);
        if (!pairs)
            return AR_EXIT_FAILED;
        ar_report_print_pair(facts, pairs, npairs);
    } else {
        ar_report_print(facts);
        if (request->machine)
            status = ar_report_print_machine(facts, request->machine, request->nranks);
    }
    if (status != AR_EXIT_DONE)
        return status;
    ar_report_print_alarms(all);
    if (request->html)
        status = ar_report_write_html(request->html, facts, request->n, pairs, npairs, all);
    free(pairs);
    return fflush(stdout) == 0 ? status : AR_EXIT_FAILED;
}

static int
read_run(struct ar_read_run *run, const char *path, bool has_lines)
{
    const int status = ar_run_read(run, "report", path);
    if (status != AR_EXIT_DONE || !has_lines ||
        ar_source_lines_find(&run->lines, &run->table.sites, run->when))
        return status;
    fprintf(stderr, "allreduce report: %s: out of memory\n", path);
    return AR_EXIT_FAILED;
}

int
ar_cli_report(int argc, char **argv)
{
    struct request request = {.n = 0};
    struct ar_read_run runs[FILES_MAX] = {{0}};
    struct ar_facts facts[FILES_MAX] = {{0}};
    struct ar_table all = {0};
    int status = AR_EXIT_DONE;
    ar_cli_parse_alone(&argp, 0, argc, argv, &request);
    if (request.timeline)
        return ar_report_timeline(request.timeline, request.call, request.machine, request.html);
    for (size_t i = 0; i < request.n && status == AR_EXIT_DONE; i++)
        status = read_run(&runs[i], request.paths[i], request.n == 1 || request.html);
    if (status == AR_EXIT_DONE)
        status = report(&request, runs, facts, &all);
    ar_table_fini(&all);
    for (size_t i = 0; i < FILES_MAX; i++) {
        ar_facts_fini(&facts[i]);
        ar_run_fini(&runs[i]);
    }
    return status;
}
