/* The environment: each ALLREDUCE_ variable once, as a row.  The configuration,
 * the check for unknown variables, the program and the man page walk it. */
#ifndef AR_ENVIRONMENT_H
#define AR_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "select/words.h"

#define AR_VARIABLE_PREFIX "ALLREDUCE_"

enum ar_variable_id {
    AR_VARIABLE_ALGO,
    AR_VARIABLE_ALGO_LIST,
    AR_VARIABLE_DETERMINISM,
    AR_VARIABLE_MODEL,
    AR_VARIABLE_RULES,
    AR_VARIABLE_SCRATCH,
    AR_VARIABLE_STATS,
    AR_VARIABLE_STATS_SIGNAL,
    AR_VARIABLE_STRICT,
    AR_VARIABLE_TIMEOUT,
    AR_VARIABLE_TRANSPORT,
    AR_VARIABLE_TUNE,
    AR_VARIABLE_TUNE_DUMP,
    AR_VARIABLE_TUNE_OVERHEAD,
    AR_VARIABLE_USER_OPS,
    AR_VARIABLE_VERBOSE,
    AR_VARIABLE_VERIFY,
    AR_VARIABLE_WAIT,
    AR_VARIABLES
};

struct ar_variable {
    const char *name;     /* with the prefix */
    const char *values;   /* words between '|', or in capitals what it takes */
    const char *fallback; /* the value where it is unset or empty, in the same grammar */
    const char *help;     /* one line */
};

/* Indexed by enum ar_variable_id. */
extern const struct ar_variable ar_variables[AR_VARIABLES];

/* The row called name, AR_VARIABLES if there is none. */
enum ar_variable_id ar_variable_find(struct ar_word name);

/* The value in the environment, or the fallback where it is unset or blank. */
const char *ar_variable_value(enum ar_variable_id id);

/* Is there a variable with our prefix that no row knows, such as a typo?  Then
 * why tells it, with the one that may be meant. */
bool ar_environment_has_unknown(struct ar_text *why);

#endif
