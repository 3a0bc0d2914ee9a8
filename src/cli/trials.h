/* Trials of one program, under the library or without it, each with its output and its statistics
 * in a folder. */
#ifndef AR_CLI_TRIALS_H
#define AR_CLI_TRIALS_H

#include <limits.h>
#include <stdbool.h>

#include "cli/attempt.h"
#include "cli/report.h"

#define AR_TRIAL_PATH (PATH_MAX + 64)
#define AR_TRIAL_LINE 256 /* room for a line of output */

/* Why there may be no statistics, and what to do. */
extern const char ar_trials_unreached[];

struct ar_trials {
    const char *name;  /* of the subcommand, for messages */
    const char *check; /* NULL: none; see struct ar_attempt */
    const char *kept;  /* folder for what the trials leave; NULL: it is removed at the end */
    char folder[PATH_MAX];
    char *library;    /* owned */
    int n;            /* trials so far */
    bool has_stopped; /* by a signal, or since the command cannot be started */
};

/* Finds the library and makes the folder; trials->name, check and kept are set.  From now on
 * signals end trials (ar_attempt_catch_signals).  False, having said why. */
bool ar_trials_begin(struct ar_trials *trials);

/* Removes the folder with what is in it, unless it is to be kept. */
void ar_trials_end(struct ar_trials *trials);

/* A file of the last trial's, with that ending; returns path. */
char *ar_trials_path(const struct ar_trials *trials, char path[AR_TRIAL_PATH], const char *ending);

/* Runs the command in the present environment, but with no other outputs of the library than its
 * statistics.  is_preloaded: under the library. */
struct ar_attempt_result ar_trials_run(struct ar_trials *trials, char *const *command,
                                       bool is_preloaded, double limit_s);

/* Reads the last trial's statistics, of all ranks or of any: rank 0 may be the one that died.
 * False: there are none.  run is the caller's to fini. */
bool ar_trials_read(const struct ar_trials *trials, struct ar_read_run *run);

/* The last line of the last trial's output that is not empty, clean; "" if there is none. */
void ar_trials_last_line(const struct ar_trials *trials, char line[AR_TRIAL_LINE]);

#endif
