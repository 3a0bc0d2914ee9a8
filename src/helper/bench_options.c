/* allreduce bench: the command line. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "helper/bench.h"
#include "helper/job.h"
#include "select/select.h"

enum { FACTOR = 256, ROTATE, FRESH, EXCHANGE, BUDGET, OUTPUT };

#define BENCH_PAGE "bench.html"

static const struct argp_option table[] = {
    {NULL, 0, NULL, 0, "What is compared:", 1},
    {"algo", 'a', "LIST", 0,
     "Algorithms to time beside native and MPI_Reduce+MPI_Bcast, separated by ';', with parameters "
     "in parentheses; auto is allowed, too, and the option may be given several times (default: "
     "all algorithms)",
     1},
    {"exchange", EXCHANGE, NULL, 0,
     "Also time the bound for algorithms that send messages: each rank sends 2n(p-1)/p bytes to a "
     "neighbour and receives as many",
     1},
    {NULL, 0, NULL, 0, "For which messages:", 2},
    {"sizes", 's', "LIST", 0,
     "Message sizes in bytes and ranges of them, separated by ',': 8,4K or 64-16M (default: "
     "8,4K,64K,1M)",
     2},
    {"factor", FACTOR, "N", 0, "Factor from one size of a range to the next (default: 2)", 2},
    {"type", 'T', "NAME", 0, "A predefined type (default: float)", 2},
    {"op", 'o', "NAME", 0, "A predefined op (default: sum)", 2},
    {"place", 'p', "WHERE", 0, "out, in (MPI_IN_PLACE) or both (default: out)", 2},
    {"rotate", ROTATE, "BYTES", 0,
     "Rotate through buffers of this many bytes in all, so that caches are cold (default: the same "
     "buffers in each call)",
     2},
    {"fresh", FRESH, NULL, 0,
     "Each rank writes its input before each call and reads its result after it, as programs do. "
     "Times are those of the calls; times that include writing and reading are shown as 'turn'",
     2},
    {"nodes", 'N', "HxR|FILE", 0,
     "Run as in a job with this placement: 2x4 (2 nodes of 4 ranks), 2x4,cyclic, or a host file. "
     "The ranks, which must be on one node, are treated as ranks of these",
     2},
    {NULL, 0, NULL, 0, "How long:", 3},
    {"time", 't', "SECONDS", 0, "Time for each size (default: 2)", 3},
    {"repetitions", 'r', "N", 0, "Number of batches, whose median is the result (default: 11)", 3},
    {"budget", BUDGET, "TIME", 0,
     "Time in all: 60, 60s or 5m. Each table gets its share; batches that would take longer are "
     "left out, except for the first",
     3},
    {NULL, 0, NULL, 0, "Output:", 4},
    {"csv", 'c', NULL, 0, "Print a line for each size and algorithm, for programs", 4},
    {"json", 'j', NULL, 0, "Print the same as JSON", 4},
    {"output", OUTPUT, "FILE", 0,
     "Write what --csv or --json print into this file, anew after each table, and the text on "
     "stdout",
     4},
    {"html", 'H', "FILE", OPTION_ARG_OPTIONAL,
     "Also write a page with plots of time, speed-up and bandwidth (implies --exchange; "
     "default: " BENCH_PAGE ")",
     4},
    {"quiet", 'q', NULL, 0, "Show no progress on stderr", 4},
    {0},
};

/* A command line while it is read. */
struct line {
    struct ar_bench *bench;
    const char *sizes;
    size_t factor;
};

size_t
ar_bench_first_length(const char *list)
{
    bool is_quoted = false;
    size_t n = 0;
    for (; list[n] && (is_quoted || list[n] != ';'); n++)
        is_quoted ^= list[n] == '"';
    return n;
}

/* Each choice by itself, so that a column is that of the whole list. */
static void
check_algorithms(struct argp_state *state, const char *list)
{
    for (const char *at = list; *at;) {
        const size_t length = ar_bench_first_length(at);
        char *const text = strndup(at, length);
        struct ar_problem problem;
        struct ar_rules *rules = NULL;
        const int error = text ? ar_rules_parse(&rules, text, &problem) : AR_ERR_MEMORY;
        if (error == AR_ERR_SYNTAX)
            argp_error(state, "--algo, column %zu: %s",
                       (size_t)(at - list) + (size_t)problem.column, problem.text);
        else if (error)
            argp_error(state, "out of memory");
        ar_rules_destroy(rules);
        free(text);
        at += length + (at[length] == ';');
    }
}

/* When the whole line is read. */
static void
finish(struct argp_state *state, struct line *line)
{
    struct ar_bench *const bench = line->bench;
    ar_option_sizes(state, &bench->sizes, line->sizes, "8,4K,64K,1M", line->factor);
}

/* The file of --html: bench takes no arguments, so a word behind the option belongs to it. */
static const char *
page_of(struct argp_state *state, const char *value)
{
    const bool has_next = !value && state->next < state->argc && state->argv[state->next][0] != '-';
    return has_next ? state->argv[state->next++] : value ? value : BENCH_PAGE;
}

/* What is given several times is one list. */
static void
add_algorithms(struct argp_state *state, char **all, const char *list)
{
    char *joined = NULL;
    check_algorithms(state, list);
    if (asprintf(&joined, "%s%s%s", *all ? *all : "", *all ? ";" : "", list) < 0)
        argp_error(state, "out of memory");
    free(*all);
    *all = joined;
}

static void
parse_place(struct argp_state *state, unsigned *places, const char *text)
{
    static const char *const names[] = {"", "out", "in", "both"};
    *places = 1;
    while (*places < sizeof names / sizeof names[0] && strcmp(text, names[*places]) != 0)
        ++*places;
    if (*places == sizeof names / sizeof names[0])
        argp_error(state, "--place cannot be '%s'; allowed: out, in, both", text);
}

/* A file is read by rank 0, when there are ranks. */
static void
parse_nodes(struct argp_state *state, struct ar_bench *bench, const char *text)
{
    struct ar_placement placement = {0};
    char reason[1024];
    struct ar_text why;
    ar_text_init(&why, reason, sizeof reason);
    bench->nodes = text;
    if (ar_placement_is_shape(text) &&
        ar_placement_parse_shape(&placement, text, &why) == AR_ERR_SYNTAX)
        argp_error(state, "--nodes: %s", reason);
    ar_placement_fini(&placement);
}

/* The options whose values can be wrong. */
static error_t
parse_value(int key, char *value, struct argp_state *state)
{
    struct line *const line = state->input;
    struct ar_bench *const bench = line->bench;
    switch (key) {
    case FACTOR:
        line->factor = (size_t)ar_option_number(state, "factor", value, 2, AR_FACTOR_MAX);
        return 0;
    case 'T':
        ar_option_type(state, &bench->type, value);
        return 0;
    case 'o':
        ar_option_op(state, &bench->op, value);
        return 0;
    case 'p':
        parse_place(state, &bench->places, value);
        return 0;
    case ROTATE:
        if (!ar_size_parse_word(&bench->rotate_bytes, ar_word_of(value)) ||
            bench->rotate_bytes > (size_t)1 << 50)
            argp_error(state,
                       "--rotate cannot be '%s'; allowed: a number of bytes larger than the cache, "
                       "such as 64M",
                       value);
        return 0;
    case FRESH:
        bench->fresh = true;
        return 0;
    case BUDGET:
        bench->budget = ar_option_seconds(state, "budget", value);
        return 0;
    case 'N':
        parse_nodes(state, bench, value);
        return 0;
    case 't':
        bench->seconds = ar_option_seconds(state, "time", value);
        return 0;
    case 'r':
        bench->repetitions = (int)ar_option_number(state, "repetitions", value, 1, 1000000);
        return 0;
    case ARGP_KEY_INIT:
        ar_option_type(state, &bench->type, "float");
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "unexpected argument '%s'; name algorithms with --algo", value);
        return 0;
    case ARGP_KEY_END:
        finish(state, line);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void
set_format(struct argp_state *state, struct ar_bench *bench, enum ar_columns_format format)
{
    if (bench->format != AR_COLUMNS_TEXT && bench->format != format)
        argp_error(state, "either --csv or --json, not both");
    bench->format = format;
}

static error_t
parse(int key, char *value, struct argp_state *state)
{
    struct line *const line = state->input;
    struct ar_bench *const bench = line->bench;
    switch (key) {
    case 'a':
        add_algorithms(state, &bench->algorithms, value);
        return 0;
    case 's':
        line->sizes = value;
        return 0;
    case 'c':
        set_format(state, bench, AR_COLUMNS_CSV);
        return 0;
    case 'j':
        set_format(state, bench, AR_COLUMNS_JSON);
        return 0;
    case OUTPUT:
        bench->output = value;
        return 0;
    case 'H':
        bench->html = page_of(state, value);
        return 0;
    case 'q':
        bench->quiet = true;
        return 0;
    case EXCHANGE:
        bench->exchange = true;
        return 0;
    default:
        return parse_value(key, value, state);
    }
}

void
ar_bench_read(struct ar_bench *bench, int argc, char **argv)
{
    static const struct argp argp = {
        .options = table,
        .parser = parse,
        .doc = "Times allreduce algorithms beside the MPI library's own, interleaved in one run. "
               "Times are those of the slowest rank. Start it with mpiexec.",
    };
    struct line line = {.bench = bench, .factor = 2};
    *bench =
        (struct ar_bench){.seconds = 2, .op = AR_SUM, .places = AR_PLACES_OUT, .repetitions = 11};
    ar_cli_parse(&argp, argc, argv, &line);
}

void
ar_bench_fini(struct ar_bench *bench)
{
    ar_sizes_fini(&bench->sizes);
    free(bench->algorithms);
}
