#include "config.h"

#include "cli/options.h"

#include <stdlib.h>
#include <unistd.h>

#include "cli/cli.h"
#include "config/rank.h"

#define FACTOR_MAX 1024

error_t
ar_option_number(long *number, const char *option, const char *text, long least, long most,
                 struct argp_state *state)
{
    char *end;
    errno = 0;
    *number = strtol(text, &end, 10);
    if (*text == '\0' || *end != '\0' || errno || *number < least || *number > most)
        return AR_REFUSE(state, "--%s wants a whole number from %ld to %ld, not '%s'", option,
                         least, most, text);
    return 0;
}

error_t
ar_option_factor(size_t *factor, const char *text, struct argp_state *state)
{
    long number = 0;
    const error_t error = ar_option_number(&number, "factor", text, 2, FACTOR_MAX, state);
    *factor = (size_t)number;
    return error;
}

error_t
ar_option_sizes(struct ar_sizes *sizes, const char *text, size_t factor, struct argp_state *state)
{
    struct ar_problem problem;
    const int error = ar_sizes_parse(sizes, text, factor, &problem);
    if (!error)
        return 0;
    return AR_REFUSE(state, "--sizes: %s", error == AR_ERR_SYNTAX ? problem.text : "out of memory");
}

void
ar_options_let_others_speak(void)
{
    sleep(1);
}

enum { KEY_HELP = '?', KEY_USAGE = 256 };

/* A rank that is silent ends where rank 0 prints help and ends: argp's own options would only be
 * ignored, and the rank would wait for rank 0. */
static error_t
parse_silently(int key, char *argument, struct argp_state *state)
{
    (void)argument;
    if (key == KEY_HELP || key == KEY_USAGE)
        exit(AR_EXIT_DONE);
    if (key == ARGP_KEY_INIT)
        state->child_inputs[0] = state->input;
    return ARGP_ERR_UNKNOWN;
}

int
ar_options_parse(const struct argp *argp, int argc, char **argv, void *input)
{
    static const struct argp_option help[] = {
        {.name = "help", .key = KEY_HELP}, {.name = "usage", .key = KEY_USAGE}, {.name = NULL}};
    const struct argp_child children[] = {{.argp = argp}, {.argp = NULL}};
    const struct argp silent = {.options = help, .parser = parse_silently, .children = children};
    if (ar_rank_in_job() <= 0)
        return argp_parse(argp, argc, argv, 0, NULL, input) ? AR_EXIT_USAGE : AR_EXIT_DONE;
    if (!argp_parse(&silent, argc, argv, ARGP_NO_ERRS | ARGP_NO_HELP, NULL, input))
        return AR_EXIT_DONE;
    ar_options_let_others_speak();
    return AR_EXIT_USAGE;
}
