/* allreduce tune: the command line. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/operand.h"
#include "cli/options.h"
#include "cli/tune.h"

#define SIZES  "8-16M"
#define FACTOR 4

enum { OP = 256, FACTOR_OPTION };

static const struct argp_option table[] = {
    {"output", 'o', "FILE", 0,
     "The rules, for ALLREDUCE_RULES (default: stdout).  What is found so far stands in "
     "FILE.state, "
     "from which the same command goes on after it was ended",
     0},
    {"budget", 'b', "TIME", 0, "How long in all: 60, 60s or 5m (default: 60s)", 0},
    {"sizes", 's', "LIST", 0,
     "Sizes of messages in bytes and ranges of them, ',' between them (default: 8-16M)", 0},
    {"factor", FACTOR_OPTION, "N", 0, "From one size of a range to the next (default: 4)", 0},
    {"type", 'T', "NAMES", 0,
     "Predefined types, ',' between them (default: float).  Rules for the first are for all types; "
     "others have rules of their own where that wins",
     0},
    {"op", OP, "NAME", 0, "A predefined op (default: sum)", 0},
    {"check", 'c', "FILE", 0,
     "Measure a file of rules beside native and every algorithm; fails where one of these is "
     "faster "
     "by more than the noise",
     0},
    {0},
};

struct line {
    struct ar_tune *tune;
    const char *sizes;
    size_t factor;
    const char *types;
    const char *op;
};

static error_t
parse_budget(double *seconds, const char *text, struct argp_state *state)
{
    char *end;
    *seconds = strtod(text, &end);
    if (strcmp(end, "m") == 0)
        *seconds *= 60;
    else if (*end && strcmp(end, "s") != 0)
        end = (char *)text;
    if (end == text || !(*seconds > 0 && *seconds < 1e7))
        return AR_REFUSE(state, "--budget wants a time above 0, as in 60s or 5m, not '%s'", text);
    return 0;
}

static error_t
parse_types(struct ar_tune *tune, const char *text, struct argp_state *state)
{
    char why[AR_PROBLEM_TEXT], name[64];
    struct ar_text t;
    ar_text_init(&t, why, sizeof why);
    for (const char *at = text;; at++) {
        const size_t length = strcspn(at, ",");
        if (tune->ntypes == AR_TUNE_TYPES_MAX)
            return AR_REFUSE(state, "--type: %d types at most", AR_TUNE_TYPES_MAX);
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        if (!ar_type_find(&tune->types[tune->ntypes++], name, &t))
            return AR_REFUSE(state, "--type: %s", why);
        at += length;
        if (*at == '\0')
            return 0;
    }
}

static error_t
finish(struct line *line, struct argp_state *state)
{
    struct ar_tune *const tune = line->tune;
    char why[AR_PROBLEM_TEXT];
    struct ar_text t;
    if (tune->check && tune->output)
        return AR_REFUSE(state, "--check writes no rules: leave --output out");
    const error_t refused = parse_types(tune, line->types, state);
    if (refused)
        return refused;
    ar_text_init(&t, why, sizeof why);
    if (!ar_op_by_name(&tune->op, line->op, &t))
        return AR_REFUSE(state, "--op: %s", why);
    return ar_option_sizes(&tune->sizes, line->sizes, line->factor, state);
}

static error_t
parse(int key, char *value, struct argp_state *state)
{
    struct line *const line = state->input;
    switch (key) {
    case 'o':
        line->tune->output = value;
        return 0;
    case 'c':
        line->tune->check = value;
        return 0;
    case 'b':
        return parse_budget(&line->tune->budget, value, state);
    case 's':
        line->sizes = value;
        return 0;
    case FACTOR_OPTION:
        return ar_option_factor(&line->factor, value, state);
    case 'T':
        line->types = value;
        return 0;
    case OP:
        line->op = value;
        return 0;
    case ARGP_KEY_ARG:
        return AR_REFUSE(state, "tune takes no argument '%s'; name a file by --output", value);
    case ARGP_KEY_END:
        return finish(line, state);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int
ar_tune_read(struct ar_tune *tune, int argc, char **argv)
{
    static const struct argp argp = {
        .options = table,
        .parser = parse,
        .doc = "Finds the fastest algorithm and its parameters for each size of message on this "
               "machine, and writes rules.  Start it with mpiexec, with as many ranks as your jobs "
               "have.",
    };
    struct line line = {tune, SIZES, FACTOR, "float", "sum"};
    *tune = (struct ar_tune){.budget = 60};
    return ar_options_parse(&argp, argc, argv, &line);
}

void
ar_tune_fini(struct ar_tune *tune)
{
    ar_sizes_fini(&tune->sizes);
}
