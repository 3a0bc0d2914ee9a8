#include "config.h"

#include "cli/options.h"

#include <stdbool.h>
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
ar_options_begin(struct argp_state *state)
{
    if (state->flags & ARGP_NO_ERRS)
        state->out_stream = NULL;
}

void
ar_options_let_others_speak(void)
{
    sleep(1);
}

int
ar_options_parse(const struct argp *argp, int argc, char **argv, void *input)
{
    const bool silent = ar_rank_in_job() > 0;
    if (!argp_parse(argp, argc, argv, silent ? ARGP_NO_ERRS : 0, NULL, input))
        return AR_EXIT_DONE;
    if (silent)
        ar_options_let_others_speak();
    return AR_EXIT_USAGE;
}
