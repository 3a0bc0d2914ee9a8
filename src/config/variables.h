/* The variables of the environment, each once, as a row of one table.  What reads, checks and
 * compares settings, the options of allreduce run, and the test that allreduce(7) is true all walk
 * it.  No MPI. */
#ifndef AR_VARIABLES_H
#define AR_VARIABLES_H

#include <stdbool.h>
#include <stddef.h>

#include "select/words.h"

struct ar_config;
struct ar_variable;

/* A value that a configuration is given. */
struct ar_setting {
    struct ar_config *config;
    const struct ar_variable *row;
    void *field; /* the row's, in config */
    const char *value;
    struct ar_text *why;
};

/* How a kind of value is read and written.  These return AR_OK, AR_ERR_MEMORY, or AR_ERR_SYNTAX
 * with why telling the place and what is allowed; the configuration is then unchanged. */
struct ar_value_kind {
    /* Takes the value of this process's own environment: names of files are checked. */
    int (*parse)(const struct ar_setting *s);
    /* Takes what print made on another rank.  NULL, like print, where each rank goes by its own. */
    int (*take)(const struct ar_setting *s);
    /* The value as take reads it, for the caller to free; NULL without memory. */
    char *(*print)(const struct ar_config *config, const struct ar_variable *v);
};

/* What the value of an option is: text, a path, or a path in which % is special. */
enum ar_option_value { AR_OPTION_TEXT, AR_OPTION_PATH, AR_OPTION_PATTERN };

struct ar_variable {
    const char *name;   /* with the prefix */
    const char *values; /* words between '|', in capitals what it takes, else as in allreduce(7) */
    const char *fallback; /* the value where it is unset or empty, in the same grammar */
    const char *help;     /* one line */
    const struct ar_value_kind *kind;
    size_t offset; /* of its value, in struct ar_config */

    const char *option; /* of allreduce run, without its dashes; NULL: there is none */
    char letter;        /* the option's short name; 0: there is none */
    enum ar_option_value takes;
    const char *alone; /* the value where the option has none; NULL: it needs one */
};

#define AR_VARIABLE_PREFIX "ALLREDUCE_"
#define AR_VARIABLES       21

extern const struct ar_variable ar_variables[AR_VARIABLES];

/* The row called name; NULL if there is none. */
const struct ar_variable *ar_variable_find(struct ar_word name);

/* The value in the environment, or the fallback where it is unset or blank. */
const char *ar_variable_value(const struct ar_variable *v);

/* Read where ALLREDUCE_ALGO is the word intel; the second as ALLREDUCE_ALGO_LIST, if that is unset.
 */
#define AR_INTEL_VARIABLE "I_MPI_ADJUST_ALLREDUCE"
#define AR_INTEL_LIST     "I_MPI_ADJUST_ALLREDUCE_LIST"

/* The clauses of ALLREDUCE_ALGO=value: that variable's where the value is the word intel (NULL: it
 * has none), else the value itself. */
const char *ar_algo_clauses(const char *value);

/* Is there a variable with our prefix that no row knows, but whose name is near one of ours?  Then
 * why tells it, with the one that may be meant.  strange gets the names that are near none, such as
 * a site's own, with commas between them: all of them where nothing is misspelt. */
bool ar_environment_has_misspelt(struct ar_text *why, struct ar_text *strange);

#endif
