/* allreduce tune: what was asked for, and what it writes. */
#ifndef AR_TUNE_H
#define AR_TUNE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "cli/sizes.h"
#include "config/output.h"
#include "helper/study.h"

#define AR_TUNE_TYPES_MAX 8

struct ar_tune {
    const char *output;    /* NULL: stdout */
    const char *check;     /* a file of rules to measure in place of making one; or NULL */
    const char *from;      /* statistics whose calls are replayed, in place of sizes; or NULL */
    struct ar_sizes sizes; /* owned */
    double budget;         /* seconds in all */
    size_t types[AR_TUNE_TYPES_MAX]; /* rows of ar_named_at; the first counts for all others too */
    size_t ntypes;
    enum ar_op op;
    bool quiet; /* no progress */
};

/* Reads the command line as ar_cli_parse does; the caller frees what it owns. */
void ar_tune_read(struct ar_tune *tune, int argc, char **argv);
void ar_tune_fini(struct ar_tune *tune);

/* What was found, tune->ntypes x sizes of it. */
struct ar_winners {
    const struct ar_tune *tune;
    struct ar_place_of_ranks places;
    int nranks;
    struct ar_winner *of; /* owned; type by type */
    size_t ntypes;        /* of which something was found; fewer than asked for after a signal */
    char incomplete[96];  /* how far it came, where it was interrupted or the budget was over; "":
                             to the end */
};

struct ar_winner *ar_winners_at(const struct ar_winners *all, size_t type, size_t size);

/* What tells one machine and job from another, in a line of "name=value; ...".  Cut to room. */
void ar_winners_describe(const struct ar_winners *all, char *text, size_t room);

/* Writes the rules file.  0, or errno. */
int ar_winners_write(const struct ar_winners *all, const char *command);

/* The rules of the file to check, which rank 0 reads, on all ranks.  Collective.  An enum ar_exit,
 * having said why. */
int ar_tune_read_rules(struct ar_rules **rules, const struct ar_tune *tune, int rank);

/* Begins the output for the rules, stdout or a file.  0, or errno. */
int ar_tune_output_begin(struct ar_output *output, const struct ar_tune *tune);

/* Replays the calls of tune->from: finds rules for them, or checks those that there are, and tells
 * what they save.  Collective; an enum ar_exit. */
int ar_tune_replay(const struct ar_tune *tune, struct ar_progress *clock, const char *command);

/* What was measured so far stands beside the output (<output>.state) until the rules are written:
 * visits that are there are not measured again.  Nothing of it without an output. */
struct ar_tune_state {
    char path[PATH_MAX]; /* "" but on rank 0 */
    char *text;          /* what was found, on all ranks; NULL: nothing.  Owned */
    FILE *to;            /* rank 0's; NULL on the others, and if it cannot be written; then
                          * nothing is removed, either */
};

/* Collective.  A state that does not begin with job is of another job, and is removed. */
void ar_tune_state_open(struct ar_tune_state *state, const struct ar_tune *tune, const char *job);

/* Will the same command find what was measured?  Rank 0's, which has said why not where there is a
 * path. */
bool ar_tune_state_is_kept(const struct ar_tune_state *state);

/* Removes the file where all is done. */
void ar_tune_state_close(struct ar_tune_state *state, bool is_done);

/* A visit of the study, to a size of one type. */
void ar_tune_state_save(const struct ar_tune_state *state, const char *type,
                        const struct ar_study *study);

/* The seconds of all candidates that are in; false where the visit is not there. */
bool ar_tune_state_recall(const struct ar_tune_state *state, const char *type,
                          const struct ar_study *study);

#endif
