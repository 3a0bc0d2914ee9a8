/* allreduce explain: the command line. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/written_row.h"
#include "cli/cli.h"
#include "cli/explain.h"
#include "config/files.h"
#include "schedule/holdings.h"
#include "select/select.h"

enum { LATENCY = 256, BANDWIDTH, REDUCTION, SVG, HTML, SCHEDULE, CALL, COMPARE, CSV, JSON };

static const struct argp_option options[] = {
    {"ranks", 'n', "P", 0, "Number of ranks (default: 4, or those of --nodes)", 0},
    {"size", 's', "BYTES", 0, "Size of the message: 8, 64K, 1M, ...", 0},
    {"element", 'e', "BYTES", 0, "Size of an element (default: 8)", 0},
    {"nodes", 'N', "HxR|FILE", 0,
     "H nodes of R ranks each, filled one after the other, or in turn with HxR,cyclic; or a file "
     "with the hosts of the ranks, one per line",
     0},
    {"rules", 'r', "TEXT", 0,
     "Explain a text as in ALLREDUCE_ALGO, or the file of that name, instead of one algorithm", 0},
    {"call", CALL, "TRAITS", 0,
     "The call for which rules are explained, if they ask for more than its size (default: op=sum, "
     "type=float, inplace=no, commutes=yes, comm=MPI_COMM_WORLD)",
     0},
    {"svg", SVG, "FILE", 0,
     "Also draw a picture into FILE; with -, print it on stdout instead of the text", 0},
    {"html", HTML, "FILE", 0, "Also write a page into FILE that plays the picture round by round",
     0},
    {"schedule", SCHEDULE, NULL, 0,
     "Print the algorithm as a schedule that can be changed and explained again", 0},
    {"machine", 'm', "FILE", 0,
     "Predict the time on this machine: a file as for ALLREDUCE_MODEL, the name of an installed "
     "one "
     "such as flat, or a text such as 'latency 1us bandwidth 10GB/s'",
     0},
    {"compare", COMPARE, NULL, 0,
     "Predict the time of every algorithm; with --rules, once or more, by size how far these rules "
     "are from the best",
     0},
    {"csv", CSV, NULL, 0, "With --compare: print comma-separated values", 0},
    {"json", JSON, NULL, 0, "With --compare or --schedule: print JSON", 0},
    {"latency", LATENCY, "US", 0, "a, microseconds per message (default: 1)", 1},
    {"bandwidth", BANDWIDTH, "GB/S", 0,
     "B, gigabytes per second out of and into a rank (default: 10)", 1},
    {"reduction", REDUCTION, "GB/S", 0, "1/C, gigabytes per second reduced by a rank (default: 10)",
     1},
    {0},
};

static void
parse_size(struct argp_state *state, struct ar_explain *request, const char *text)
{
    if (!ar_size_parse_word(&request->bytes, ar_word_of(text)) || request->bytes > (size_t)1 << 50)
        argp_error(state, "size cannot be '%s'; allowed: bytes such as 8, 64K, 1M or 2G", text);
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
            argp_error(state, "--call cannot be '%s'; allowed: NAME=VALUE, separated by commas",
                       at);
        if (ar_traits_set(call, (struct ar_word){at, name},
                          (struct ar_word){equals + 1, length - name - 1}, &t))
            argp_error(state, "--call: %s", why);
        if (memchr(at, '|', length))
            argp_error(state,
                       "--call cannot be '%s'; allowed: one value for each trait, without '|'", at);
        if (call->asks & (AR_TRAIT_NODES | AR_TRAIT_PER_NODE))
            argp_error(state, "--call cannot be '%s'; give the nodes with --nodes", at);
        if (call->asks & AR_TRAIT_BLOCK)
            argp_error(state,
                       "--call cannot be '%s'; all sizes are shown, and with them all blocks", at);
        at += length;
        if (*at == '\0')
            return;
    }
}

/* A constant of the flat machine. */
static void
parse_rate(struct argp_state *state, struct ar_explain *request, int key, const char *value)
{
    request->rate = key == LATENCY ? "latency" : key == BANDWIDTH ? "bandwidth" : "reduction";
    if (key == LATENCY)
        request->latency_us = ar_option_us(state, request->rate, value);
    else if (key == BANDWIDTH)
        request->bandwidth_gbytes = ar_option_gbytes(state, request->rate, value);
    else
        request->reduction_gbytes = ar_option_gbytes(state, request->rate, value);
}

/* Parameters may have slashes, too. */
static bool
is_file(const struct ar_explain *request)
{
    return request->algorithm && memchr(request->algorithm, '/', strcspn(request->algorithm, "("));
}

/* The file has its number of ranks. */
static void
read_file(struct argp_state *state, struct ar_explain *request, int placed)
{
    const int given = request->nranks ? request->nranks : placed;
    const int status = ar_cli_read_schedule(&request->written, "explain", request->algorithm);
    if (status)
        exit(status);
    request->nranks = request->written->written.nranks;
    if (given && given != request->nranks)
        argp_error(state, "'%s' is for %d ranks, not for %d", request->algorithm, request->nranks,
                   given);
}

/* What can only be judged when all options are known. */
static void
check_request(struct argp_state *state, struct ar_explain *request)
{
    const int placed = request->placement.nranks;
    if (request->compare && request->ncompared > 0)
        request->rules = NULL; /* they are compared */
    const bool rules = request->rules;
    const char *const drawn = request->svg ? "--svg" : request->html ? "--html" : NULL;
    const bool is_timed = request->machine_file || request->compare;
    if (!request->algorithm && !rules && !request->compare)
        argp_error(state, "name an algorithm, such as ring, or --rules TEXT; allreduce list shows "
                          "all names");
    if (request->algorithm && rules)
        argp_error(state, "either '%s' or --rules, not both", request->algorithm);
    if (request->format && !request->compare &&
        !(request->schedule && request->format == AR_COLUMNS_JSON))
        argp_error(state, request->schedule ? "--schedule has --json, and no --csv"
                                            : "--csv and --json need --compare");
    if (request->ncompared > 1 && !request->compare)
        argp_error(state, "only one --rules is allowed without --compare");
    if (request->call.asks && !rules && request->ncompared == 0)
        argp_error(state, "--call needs --rules");
    if (placed && request->nranks && placed != request->nranks)
        argp_error(state, "--nodes=%s places %d ranks, but -n says %d: omit one of them",
                   request->nodes, placed, request->nranks);
    if (request->schedule && (drawn || is_timed || !request->algorithm))
        argp_error(state, "--schedule prints one algorithm: no --svg, --html, --machine, --compare "
                          "or --rules");
    if (is_file(request))
        read_file(state, request, placed);
    if (!request->nranks)
        request->nranks = placed ? placed : 4;
    /* With a machine nothing is proved or drawn. */
    if (!is_timed && request->nranks > AR_EXPLAIN_RANKS_MAX)
        argp_error(state, "at most %d ranks without --machine or --compare", AR_EXPLAIN_RANKS_MAX);
    if ((is_timed && drawn) || (request->compare && rules))
        argp_error(state, "--machine and --compare only predict times: no --svg or --html, and "
                          "--rules only with --machine, for auto across nodes");
    if (request->machine_file && request->rate)
        argp_error(state, "either --machine or --%s, not both: the machine has its own",
                   request->rate);
    if (rules && request->machine_file && request->placement.nnodes < 2)
        argp_error(state, "rules depend on a machine only across nodes: give --nodes");
    if (request->compare && request->algorithm)
        argp_error(state, "--compare shows all algorithms: omit '%s'", request->algorithm);
    if (drawn && (rules || request->nranks > AR_HOLDINGS_RANKS_MAX))
        argp_error(state, "%s draws one algorithm on at most %d ranks", drawn,
                   AR_HOLDINGS_RANKS_MAX);
    if (drawn && request->size_given && request->bytes < request->element_bytes)
        argp_error(state, "%s needs a message of at least one element", drawn);
    if (!rules && request->bytes % request->element_bytes)
        argp_error(state, "size %zu is not a multiple of the element's %zu bytes: give --element",
                   request->bytes, request->element_bytes);
}

static void
add_rules(struct argp_state *state, struct ar_explain *request, const char *text)
{
    if (request->ncompared == AR_EXPLAIN_COMPARED_MAX)
        argp_error(state, "at most %d --rules are allowed", AR_EXPLAIN_COMPARED_MAX);
    request->compared[request->ncompared++] = request->rules = text;
}

static error_t
parse_option(int key, char *value, struct argp_state *state)
{
    struct ar_explain *request = state->input;
    switch (key) {
    case 'n':
        request->nranks = (int)ar_option_number(state, "ranks", value, 1, AR_EXPLAIN_MODEL_MAX);
        return 0;
    case 's':
        parse_size(state, request, value);
        return 0;
    case 'e':
        request->element_bytes = (size_t)ar_option_number(state, "element", value, 1, 1 << 20);
        return 0;
    case 'N':
        parse_nodes(state, request, value);
        return 0;
    case 'r':
        add_rules(state, request, value);
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
    case CSV:
    case JSON:
        if (request->format != AR_COLUMNS_TEXT)
            argp_error(state, "give one of --csv and --json");
        request->format = key == CSV ? AR_COLUMNS_CSV : AR_COLUMNS_JSON;
        return 0;
    case SVG:
        request->svg = value;
        return 0;
    case HTML:
        request->html = value;
        return 0;
    case SCHEDULE:
        request->schedule = true;
        return 0;
    case LATENCY:
    case BANDWIDTH:
    case REDUCTION:
        parse_rate(state, request, key, value);
        return 0;
    case ARGP_KEY_ARG:
        if (request->algorithm)
            argp_error(state, "one algorithm at a time, not both '%s' and '%s'", request->algorithm,
                       value);
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
        .args_doc = "ALGORITHM[(NAME=VALUE,...)]\nFOLDER/FILE\n--compare "
                    "[--rules=TEXT...]\n--rules=TEXT",
        .doc = "Draw an algorithm, or a schedule in a file; prove it and count its steps. Or show "
               "what a text of rules picks for every size of message. Or predict times on a "
               "machine.",
    };
    struct ar_explain request = {
        .element_bytes = 8,
        .latency_us = AR_CLI_LATENCY_US,
        .bandwidth_gbytes = AR_CLI_GBYTES,
        .reduction_gbytes = AR_CLI_GBYTES,
    };
    ar_cli_parse_alone(&argp, 0, argc, argv, &request);
    const int exit_code = request.rules ? ar_explain_rules(&request)
                          : request.machine_file || request.compare
                              ? ar_explain_machine(&request)
                              : ar_explain_algorithm(&request);
    ar_placement_fini(&request.placement);
    return exit_code;
}
