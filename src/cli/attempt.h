/* A trial: a command that is run once, with its output in a file and a limit of time. */
#ifndef AR_CLI_ATTEMPT_H
#define AR_CLI_ATTEMPT_H

#include <stddef.h>

enum ar_attempt_end {
    AR_ATTEMPT_PASSED,
    AR_ATTEMPT_STATUS,      /* the command ended with another exit status than 0 */
    AR_ATTEMPT_SIGNAL,      /* a signal ended the command */
    AR_ATTEMPT_LATE,        /* it was still running at the limit, and was ended */
    AR_ATTEMPT_REFUSED,     /* the check did not take the output */
    AR_ATTEMPT_INTERRUPTED, /* a signal came that ends this program, and the command was ended */
    AR_ATTEMPT_NOT_STARTED
};

struct ar_attempt {
    char *const *command; /* found in PATH; ended by NULL */
    const char *check; /* a command for sh, which reads the output and ends with 0 if it is right;
                          NULL: the command's own status decides.  It has no LD_PRELOAD and no
                          ALLREDUCE_STATS */
    const char *log;   /* gets what the command writes to stdout and stderr */
    double limit_s;
};

struct ar_attempt_result {
    enum ar_attempt_end end;
    int number; /* exit status, signal, or errno of what could not be started */
    double seconds;
};

/* Runs the command in the present environment, in a process group of its own, without standard
 * input.  What is left of the group when the command has ended is ended, too.  SIGINT, SIGTERM,
 * SIGHUP and SIGPIPE, to which this process must not react otherwise, end the trial. */
struct ar_attempt_result ar_attempt_run(const struct ar_attempt *trial);

/* From now on SIGINT, SIGTERM, SIGHUP and SIGPIPE end trials and not this process, but for those of
 * them that this process ignores: they are ignored in trials, too. */
void ar_attempt_catch_signals(void);

/* How it ended, in words, as in "exit status 3"; returns text. */
char *ar_attempt_describe(const struct ar_attempt_result *result, char *text, size_t room);

#endif
