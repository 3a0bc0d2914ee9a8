/* allreduce tune: what was asked for, and what it writes. */
#ifndef AR_TUNE_H
#define AR_TUNE_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/sizes.h"
#include "cli/study.h"

#define AR_TUNE_TYPES_MAX 8

struct ar_tune {
    const char *output;    /* NULL: stdout */
    const char *check;     /* a file of rules to measure in place of making one; or NULL */
    struct ar_sizes sizes; /* owned */
    double budget;         /* seconds in all */
    size_t types[AR_TUNE_TYPES_MAX]; /* rows of ar_named_at; the first counts for all others too */
    size_t ntypes;
    enum ar_op op;
};

/* Reads the command line.  An enum ar_exit: where it is wrong, rank 0 has said so and every rank
 * gets AR_EXIT_USAGE.  Needs no MPI. */
int ar_tune_read(struct ar_tune *tune, int argc, char **argv);
void ar_tune_fini(struct ar_tune *tune);

/* Findings so far, ntypes x sizes of them; those with tried 0 are yet to be made. */
struct ar_findings {
    const struct ar_tune *tune;
    struct ar_place_of_ranks places;
    int nranks;
    struct ar_finding *of; /* owned; type by type */
};

struct ar_finding *ar_findings_at(const struct ar_findings *all, size_t type, size_t size);

/* What tells one machine and job from another, in a line of "name=value; ...".  Cut to room. */
void ar_findings_describe(const struct ar_findings *all, char *text, size_t room);

/* The rules file.  False with errno. */
bool ar_findings_write(const struct ar_findings *all, const char *command);

/* The state beside the output: appends one finding, takes all that belong to the same line, and
 * goes.  Nothing of it without an output.  Restore is collective. */
bool ar_findings_save(const struct ar_findings *all, size_t type, size_t size);
void ar_findings_restore(struct ar_findings *all);
void ar_findings_forget(const struct ar_findings *all);

#endif
