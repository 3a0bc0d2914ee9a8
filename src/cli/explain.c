/* allreduce explain: the command line. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/explain.h"
#include "config/files.h"
#include "schedule/trace.h"
#include "select/select.h"

enum { LATENCY = 256, BANDWIDTH, REDUCTION, SVG, HTML, CALL, COMPARE };

static const struct argp_option options[] = {
    {"ranks", 'n', "P", 0, "Number of ranks (4, or those of --nodes)", 0},
    {"size", 's', "BYTES", 0, "Size of the message: 8, 64K, 1M, ...", 0},
    {"element", 'e', "BYTES", 0, "Size of an element (8)", 0},
    {"nodes", 'N', "HxR|FILE", 0,
     "H nodes of R ranks each, filled one after the other, or in turn by HxR,cyclic; or a file of "
     "the ranks' hosts, one in a line",
     0},
    {"rules", 'r', "TEXT", 0,
     "Explain a text as in ALLREDUCE_ALGO, or the file of that name, in place of one algorithm", 0},
    {"rules-file", 'f', "FILE", 0, "Explain a file as in ALLREDUCE_RULES", 0},
    {"call", CALL, "TRAITS", 0,
     "The call that rules are asked about, where they ask for more than its size (op=sum, "
     "type=float, inplace=no, commutes=yes, comm=MPI_COMM_WORLD)",
     0},
    {"svg", SVG, "FILE", 0, "Draw a picture into FILE, too; -: on stdout, without the text", 0},
    {"html", HTML, "FILE", 0, "Write a page that plays the picture round by round into FILE, too",
     0},
    {"machine", 'm', "FILE", 0,
     "How long it takes on this machine: a file as for ALLREDUCE_MODEL, or the name of an "
     "installed "
     "one such as flat",
     0},
    {"compare", COMPARE, NULL, 0,
     "How long every algorithm takes; with --rules, once or more: how far they are from the best, "
     "by size",
     0},
    {"latency", LATENCY, "US", 0, "a, microseconds a message (1)", 1},
    {"bandwidth", BANDWIDTH, "GB/S", 0, "B, gigabytes a second out of and into a rank (10)", 1},
    {"reduction", REDUCTION, "GB/S", 0, "1/C, gigabytes a second reduced by a rank (10)", 1},
    {0},
};

static int
whole_number(struct argp_state *state, const char *what, const char *text, long max)
{
    char *end;
    long n = strtol(text, &end, 10);
    if (*text == '\0' || *end != '\0' || n < 1 || n > max)
        argp_error(state, "%s '%s': give a whole number from 1 to %ld", what, text, max);
    return (int)n;
}

static void
parse_size(struct argp_state *state, struct ar_explain *request, const char *text)
{
    const char *end;
    if (ar_size_parse(&request->bytes, text, &end) || *end != '\0' ||
        request->bytes > (size_t)1 << 50)
        argp_error(state, "size '%s': give bytes such as 8, 64K, 1M or 2G", text);
    request->size_given = true;
}

static void
parse_nodes(struct argp_state *state, struct ar_explain *request, const char *text)
{
    char reason[1024];
    struct ar_text why;
    ar_text_init(&why, reason, sizeof reason);
    ar_placement_fini(&request->placement);
    request->nodes = text;
    const int error = ar_placement_read(&request->placement, text, &why);
    if (error)
        argp_error(state, "--nodes: %s", error == AR_ERR_MEMORY ? "out of memory" : reason);
}

/* Traits of a call, NAME=VALUE with commas between them: one word each, no pattern. */
static void
parse_call(struct argp_state *state, struct ar_traits *call, const char *text)
{
    char why[AR_PROBLEM_TEXT];
    struct ar_text t;
    ar_text_init(&t, why, sizeof why);
    for (const char *at = text;; at++) {
        const size_t length = strcspn(at, ",");
        const char *const equals = memchr(at, '=', length);
        const size_t name = equals ? (size_t)(equals - at) : length;
        if (!equals)
            argp_error(state, "--call '%s': give NAME=VALUE, with commas between them", at);
        if (ar_traits_set(call, (struct ar_word){at, name},
                          (struct ar_word){equals + 1, length - name - 1}, &t))
            argp_error(state, "--call: %s", why);
        if (memchr(at, '|', length))
            argp_error(state, "--call '%s': a call has one value, without '|'", at);
        if (call->asks & (AR_TRAIT_NODES | AR_TRAIT_PER_NODE))
            argp_error(state, "--call '%s': give the nodes by --nodes", at);
        if (call->asks & AR_TRAIT_BLOCK)
            argp_error(state, "--call '%s': all sizes are shown, and so are all blocks", at);
        at += length;
        if (*at == '\0')
            return;
    }
}

/* What can only be judged when all options are known. */
static void
check_request(struct argp_state *state, struct ar_explain *request)
{
    const int placed = request->placement.nranks;
    if (request->compare && request->ncompared > 0)
        request->rules = NULL; /* they are compared */
    const bool rules = request->rules || request->rules_file;
    const char *const drawn = request->svg ? "--svg" : request->html ? "--html" : NULL;
    const bool is_timed = request->machine_file || request->compare;
    if (!request->algorithm && !rules && !request->compare)
        argp_error(state, "name an algorithm, such as ring, or --rules TEXT; allreduce list shows "
                          "all names");
    if (request->algorithm && rules)
        argp_error(state, "either '%s' or --rules, not both", request->algorithm);
    if (request->ncompared > 1 && !request->compare)
        argp_error(state, "one --rules at a time, but with --compare");
    if (request->call.asks && !rules && request->ncompared == 0)
        argp_error(state, "--call is a question to --rules or --rules-file");
    if (request->rules && request->rules_file)
        argp_error(state, "either --rules or --rules-file, not both");
    if (placed && request->nranks && placed != request->nranks)
        argp_error(state, "--nodes=%s places %d ranks, -n says %d: leave one of them out",
                   request->nodes, placed, request->nranks);
    if (!request->nranks)
        request->nranks = placed ? placed : 4;
    /* With a machine nothing is proved or drawn. */
    if (!is_timed && request->nranks > AR_EXPLAIN_RANKS_MAX)
        argp_error(state, "at most %d ranks without --machine or --compare", AR_EXPLAIN_RANKS_MAX);
    if ((is_timed && drawn) || (request->compare && rules))
        argp_error(state,
                   "--machine and --compare tell times alone: no --svg or --html, and --rules "
                   "only with --machine, for auto across nodes");
    if (rules && request->machine_file && request->placement.nnodes < 2)
        argp_error(state, "rules ask a machine across nodes alone: give --nodes");
    if (request->compare && request->algorithm)
        argp_error(state, "--compare takes all algorithms: leave out '%s'", request->algorithm);
    if (drawn && (rules || request->nranks > AR_TRACE_RANKS_MAX))
        argp_error(state, "%s draws one algorithm on at most %d ranks", drawn, AR_TRACE_RANKS_MAX);
    if (drawn && request->size_given && request->bytes < request->element_bytes)
        argp_error(state, "%s wants a message of one element or more", drawn);
    if (request->bytes % request->element_bytes)
        argp_error(state, "size %zu is no multiple of the element's %zu bytes: give --element",
                   request->bytes, request->element_bytes);
}

static error_t
parse_option(int key, char *value, struct argp_state *state)
{
    struct ar_explain *request = state->input;
    switch (key) {
    case 'n':
        request->nranks = whole_number(state, "ranks", value, AR_EXPLAIN_MODEL_MAX);
        return 0;
    case 's':
        parse_size(state, request, value);
        return 0;
    case 'e':
        request->element_bytes = (size_t)whole_number(state, "element", value, 1 << 20);
        return 0;
    case 'N':
        parse_nodes(state, request, value);
        return 0;
    case 'r':
        if (request->ncompared == AR_EXPLAIN_COMPARED_MAX)
            argp_error(state, "at most %d --rules beside each other", AR_EXPLAIN_COMPARED_MAX);
        request->compared[request->ncompared++] = request->rules = value;
        return 0;
    case CALL:
        parse_call(state, &request->call, value);
        return 0;
    case 'm':
        request->machine_file = value;
        return 0;
    case COMPARE:
        request->compare = true;
        return 0;
    case SVG:
        request->svg = value;
        return 0;
    case HTML:
        request->html = value;
        return 0;
    case 'f':
        request->rules_file = value;
        return 0;
    case LATENCY:
        request->latency_us = ar_option_us(state, "latency", value);
        return 0;
    case BANDWIDTH:
        request->bandwidth_gbytes = ar_option_gbytes(state, "bandwidth", value);
        return 0;
    case REDUCTION:
        request->reduction_gbytes = ar_option_gbytes(state, "reduction", value);
        return 0;
    case ARGP_KEY_ARG:
        if (request->algorithm)
            argp_error(state, "one algorithm at a time: '%s' or '%s'", request->algorithm, value);
        request->algorithm = value;
        return 0;
    case ARGP_KEY_END:
        check_request(state, request);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int
ar_cli_explain(int argc, char **argv)
{
    static const struct argp argp = {
        .options = options,
        .parser = parse_option,
        .args_doc = "ALGORITHM[(NAME=VALUE,...)]\n--compare "
                    "[--rules=TEXT...]\n--rules=TEXT\n--rules-file=FILE",
        .doc = "Draw one algorithm, prove it and count its steps; or show what a text of rules "
               "picks for every size of message; or predict times on a machine.",
    };
    struct ar_explain request = {
        .element_bytes = 8,
        .latency_us = AR_CLI_LATENCY_US,
        .bandwidth_gbytes = AR_CLI_GBYTES,
        .reduction_gbytes = AR_CLI_GBYTES,
    };
    ar_cli_parse_alone(&argp, 0, argc, argv, &request);
    const int exit_code = request.rules || request.rules_file ? ar_explain_rules(&request)
                          : request.machine_file || request.compare
                              ? ar_explain_machine(&request)
                              : ar_explain_algorithm(&request);
    ar_placement_fini(&request.placement);
    return fflush(stdout) == 0 ? exit_code : AR_EXIT_FAILED;
}
