/* allreduce bench: the command line. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bench.h"
#include "cli/cli.h"
#include "cli/operand.h"
#include "cli/options.h"
#include "select/select.h"

enum { FACTOR = 256, ROTATE, EXCHANGE, PRESET };

static const struct argp_option table[] = {
    {NULL, 0, NULL, 0, "What is compared:", 1},
    {"algo", 'a', "LIST", 0,
     "Algorithms beside native and MPI_Reduce+MPI_Bcast, ';' between them, "
     "with parameters in "
     "parentheses; auto too (default: every one)",
     1},
    {"exchange", EXCHANGE, NULL, 0,
     "Also time what bounds messages: each rank sends 2n(p-1)/p bytes to a "
     "neighbour and receives "
     "as many",
     1},
    {"preset", PRESET, "NAME", 0,
     "course: star, circle, recursive, butterfly and ring with the vector cut "
     "into p, 4p and 5p "
     "slices, on 1M, 4M and 8M elements, in place and out of place",
     1},
    {NULL, 0, NULL, 0, "On which messages:", 2},
    {"sizes", 's', "LIST", 0,
     "Sizes in bytes and ranges of them, ',' between them: 8,4K or 64-16M "
     "(default: "
     "8,4K,64K,1M)",
     2},
    {"factor", FACTOR, "N", 0, "From one size of a range to the next (default: 2)", 2},
    {"type", 'T', "NAME", 0, "A predefined type (default: float)", 2},
    {"op", 'o', "NAME", 0, "A predefined op (default: sum)", 2},
    {"place", 'p', "WHERE", 0, "out, in (MPI_IN_PLACE) or both (default: out)", 2},
    {"rotate", ROTATE, "BYTES", 0,
     "Walk through buffers of so many bytes in turn: a cold cache (default: "
     "the same buffers in "
     "each call)",
     2},
    {NULL, 0, NULL, 0, "How long:", 3},
    {"time", 't', "SECONDS", 0, "For each size (default: 2)", 3},
    {"repetitions", 'r', "N", 0,
     "Batches of which the median counts (default: 11; 5 with --preset)", 3},
    {NULL, 0, NULL, 0, "What comes out:", 4},
    {"csv", 'c', NULL, 0, "A line for each size and algorithm, for programs", 4},
    {"json", 'j', NULL, 0, "The same as JSON", 4},
    {"html", 'H', "FILE", 0,
     "Also write a page with plots of time, speed-up and bandwidth (implies "
     "--exchange)",
     4},
    {0},
};

/* A command line while it is read. */
struct line {
    struct ar_bench *bench;
    const char *sizes;
    size_t factor;
};

/* Each choice by itself, so that a column is that of the whole list. */
static error_t
check_algorithms(const char *list, struct argp_state *state)
{
    error_t refused = 0;
    for (const char *at = list; *at && !refused;) {
        const size_t length = strcspn(at, ";");
        char *const text = strndup(at, length);
        struct ar_problem problem;
        struct ar_rules *rules;
        const int error = text ? ar_rules_parse(&rules, text, &problem) : AR_ERR_MEMORY;
        if (error == AR_ERR_SYNTAX)
            refused = AR_REFUSE(state, "--algo, column %zu: %s",
                                (size_t)(at - list) + (size_t)problem.column, problem.text);
        else if (error)
            refused = AR_REFUSE(state, "out of memory");
        else
            ar_rules_destroy(rules);
        free(text);
        at += length + (at[length] == ';');
    }
    return refused;
}

/* When the whole line is read.  A preset says what the line does not. */
static error_t
finish(struct line *line, struct argp_state *state)
{
    struct ar_bench *const bench = line->bench;
    const bool course = bench->preset == AR_PRESET_COURSE;
    if (bench->preset && bench->algorithms)
        return AR_REFUSE(state, "--preset has its own algorithms: leave --algo out");
    if (!line->sizes)
        line->sizes = course ? "4M,16M,32M" : "8,4K,64K,1M";
    if (!bench->places)
        bench->places = course ? AR_PLACES_OUT | AR_PLACES_IN : AR_PLACES_OUT;
    if (!bench->repetitions)
        bench->repetitions = course ? 5 : 11;
    const error_t refused = bench->algorithms ? check_algorithms(bench->algorithms, state) : 0;
    return refused ? refused : ar_option_sizes(&bench->sizes, line->sizes, line->factor, state);
}

/* The options whose values can be wrong. */
static error_t
parse_value(struct line *line, int key, char *value, struct argp_state *state)
{
    static const char *const places[] = {"", "out", "in", "both"};
    struct ar_bench *const bench = line->bench;
    char why[AR_PROBLEM_TEXT], *end;
    const char *rest;
    struct ar_text t;
    long number = 0;
    error_t error = 0;
    ar_text_init(&t, why, sizeof why);
    switch (key) {
    case FACTOR:
        return ar_option_factor(&line->factor, value, state);
    case 'T':
        return ar_type_find(&bench->type, value, &t) ? 0 : AR_REFUSE(state, "--type: %s", why);
    case 'o':
        return ar_op_by_name(&bench->op, value, &t) ? 0 : AR_REFUSE(state, "--op: %s", why);
    case 'p':
        for (unsigned i = 1; i < sizeof places / sizeof places[0]; i++)
            if (strcmp(value, places[i]) == 0) {
                bench->places = i;
                return 0;
            }
        return AR_REFUSE(state, "--place wants out, in or both, not '%s'", value);
    case ROTATE:
        if (!ar_size_parse(&bench->rotate_bytes, value, &rest) && *rest == '\0' &&
            bench->rotate_bytes <= (size_t)1 << 50)
            return 0;
        return AR_REFUSE(state, "--rotate wants bytes such as 64M, more than the cache, not '%s'",
                         value);
    case PRESET:
        bench->preset = AR_PRESET_COURSE;
        return strcmp(value, "course") == 0
                   ? 0
                   : AR_REFUSE(state, "--preset: there is 'course', and no '%s'", value);
    case 't':
        bench->seconds = strtod(value, &end);
        if (*value && *end == '\0' && bench->seconds > 0 && bench->seconds < 1e9)
            return 0;
        return AR_REFUSE(state, "--time wants a number of seconds above 0, not '%s'", value);
    case 'r':
        error = ar_option_number(&number, "repetitions", value, 1, 1000000, state);
        bench->repetitions = (int)number;
        return error;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t
parse(int key, char *value, struct argp_state *state)
{
    struct line *const line = state->input;
    struct ar_bench *const bench = line->bench;
    switch (key) {
    case 'a':
        bench->algorithms = value;
        return 0;
    case 's':
        line->sizes = value;
        return 0;
    case 'c':
        bench->format = AR_BENCH_CSV;
        return 0;
    case 'j':
        bench->format = AR_BENCH_JSON;
        return 0;
    case 'H':
        bench->html = value;
        return 0;
    case EXCHANGE:
        bench->exchange = true;
        return 0;
    case ARGP_KEY_ARG:
        return AR_REFUSE(state, "bench takes no argument '%s'; name algorithms by --algo", value);
    case ARGP_KEY_END:
        return finish(line, state);
    default:
        return parse_value(line, key, value, state);
    }
}

int
ar_bench_read(struct ar_bench *bench, int argc, char **argv)
{
    static const struct argp argp = {
        .options = table,
        .parser = parse,
        .doc = "Times allreduce algorithms beside the MPI library's own, "
               "interleaved in one run; "
               "times are those of the slowest rank.  Start it with mpiexec.",
    };
    char why[AR_PROBLEM_TEXT];
    struct ar_text t;
    struct line line = {.bench = bench, .factor = 2};
    *bench = (struct ar_bench){.seconds = 2, .op = AR_SUM};
    ar_text_init(&t, why, sizeof why);
    ar_type_find(&bench->type, "float", &t);
    return ar_options_parse(&argp, argc, argv, &line);
}

void
ar_bench_fini(struct ar_bench *bench)
{
    ar_sizes_fini(&bench->sizes);
}
