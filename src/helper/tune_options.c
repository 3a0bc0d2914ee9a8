/* allreduce tune: the command line. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "helper/job.h"
#include "helper/tune.h"

enum { OP = 256, FACTOR, FROM };

static const struct argp_option table[] = {
    {"output", 'o', "FILE", 0,
     "File for the rules, to be used by ALLREDUCE_RULES (default: stdout). Intermediate results "
     "are kept in FILE.state, from which the same command continues after an interruption",
     0},
    {"budget", 'b', "TIME", 0, "Time in all: 60, 60s or 5m (default: 60s)", 0},
    {"sizes", 's', "LIST", 0,
     "Message sizes in bytes and ranges of them, separated by ',' (default: 8-16M)", 0},
    {"factor", FACTOR, "N", 0, "Factor from one size of a range to the next (default: 4)", 0},
    {"type", 'T', "NAMES", 0,
     "Predefined types, separated by ',' (default: float). Rules for the first apply to all "
     "types; the others get rules of their own where that is faster",
     0},
    {"op", OP, "NAME", 0, "A predefined op (default: sum)", 0},
    {"check", 'c', "FILE", 0,
     "Measure a file of rules beside native and every algorithm; fail if one of these is faster by "
     "more than the noise",
     0},
    {"from", FROM, "STATS", 0,
     "Replay the calls of a program from its ALLREDUCE_STATS=FILE.jsonl: write rules for the calls "
     "that gain, and say what that saves; with --check, say what the rules of a file save",
     0},
    {"quiet", 'q', NULL, 0, "Show no progress on stderr", 0},
    {0},
};

struct line {
    struct ar_tune *tune;
    const char *sizes;
    size_t factor; /* 0: not given; so NULL */
    const char *types;
    const char *op;
};

static void
parse_types(struct argp_state *state, struct ar_tune *tune, const char *text)
{
    char name[64];
    for (const char *at = text;; at++) {
        const size_t length = strcspn(at, ",");
        if (tune->ntypes == AR_TUNE_TYPES_MAX)
            argp_error(state, "--type: at most %d types are allowed", AR_TUNE_TYPES_MAX);
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        ar_option_type(state, &tune->types[tune->ntypes++], name);
        at += length;
        if (*at == '\0')
            return;
    }
}

static error_t
parse(int key, char *value, struct argp_state *state)
{
    struct line *const line = state->input;
    struct ar_tune *const tune = line->tune;
    switch (key) {
    case 'o':
        tune->output = value;
        return 0;
    case 'q':
        tune->quiet = true;
        return 0;
    case 'c':
        tune->check = value;
        return 0;
    case 'b':
        tune->budget = ar_option_seconds(state, "budget", value);
        return 0;
    case 's':
        line->sizes = value;
        return 0;
    case FACTOR:
        line->factor = (size_t)ar_option_number(state, "factor", value, 2, AR_FACTOR_MAX);
        return 0;
    case FROM:
        tune->from = value;
        return 0;
    case 'T':
        line->types = value;
        return 0;
    case OP:
        line->op = value;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "unexpected argument '%s'; name a file with --output", value);
        return 0;
    case ARGP_KEY_END:
        if (tune->check && tune->output)
            argp_error(state, "--check writes no rules: omit --output");
        if (tune->from && (line->sizes || line->factor || line->types || line->op))
            argp_error(state, "--from takes sizes, types and ops from the statistics: omit "
                              "--sizes, --factor, --type and --op");
        if (tune->from)
            ar_cli_need_jansson("tune --from");
        parse_types(state, tune, line->types ? line->types : "float");
        ar_option_op(state, &tune->op, line->op ? line->op : "sum");
        ar_option_sizes(state, &tune->sizes, line->sizes, "8-16M", line->factor ? line->factor : 4);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

void
ar_tune_read(struct ar_tune *tune, int argc, char **argv)
{
    static const struct argp argp = {
        .options = table,
        .parser = parse,
        .doc =
            "Finds the fastest algorithm and its parameters for each message size on this machine, "
            "and writes rules. Start it with mpiexec, with as many ranks as your jobs have.",
    };
    struct line line = {.tune = tune};
    *tune = (struct ar_tune){.budget = 60};
    ar_cli_parse(&argp, argc, argv, &line);
}

void
ar_tune_fini(struct ar_tune *tune)
{
    ar_sizes_fini(&tune->sizes);
}
