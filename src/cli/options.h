/* Options of commands that run under mpiexec, where rank 0 alone speaks.  No MPI. */
#ifndef AR_OPTIONS_H
#define AR_OPTIONS_H

#include <argp.h>
#include <errno.h>
#include <stddef.h>

#include "cli/sizes.h"

/* As argp_error, for ranks that argp has told to be silent too: the value for a parser to
 * return. */
#define AR_REFUSE(state, ...) (argp_error(state, __VA_ARGS__), EINVAL)

/* A whole number from least to most, for --option.  0, or what AR_REFUSE gives. */
error_t ar_option_number(long *number, const char *option, const char *text, long least, long most,
                         struct argp_state *state);

/* --factor of --sizes: from one size of a range to the next. */
error_t ar_option_factor(size_t *factor, const char *text, struct argp_state *state);

/* --sizes.  On success *sizes is the caller's to fini. */
error_t ar_option_sizes(struct ar_sizes *sizes, const char *text, size_t factor,
                        struct argp_state *state);

/* Waits, in a rank that fails and says nothing: launchers end the job when the first rank fails,
 * and the message of rank 0 could be lost. */
void ar_options_let_others_speak(void);

/* argp_parse, silent but on rank 0 of a job.  An exit status; where help is asked for, the process
 * exits on every rank. */
int ar_options_parse(const struct argp *argp, int argc, char **argv, void *input);

#endif
