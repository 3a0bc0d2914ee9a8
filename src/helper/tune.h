/* allreduce tune: what was asked for, and what it writes. */
#ifndef AR_TUNE_H
#define AR_TUNE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "cli/report.h"
#include "config/output.h"
#include "helper/study.h"
#include "reduce/named.h"
#include "select/sizes.h"

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

/* Makes the visit that the study has begun, or takes what the state has of it, which is found by
 * the name.  No visit begins behind that second of the clock, rank 0's: AR_EXIT_INTERRUPTED.  Else
 * as ar_study_measure. */
int ar_tune_visit(struct ar_study *study, const struct ar_tune_state *state, const char *name,
                  const struct ar_progress *clock, double end);

/* --- a program's profile (tune_profile.c): the calls that make up its time in MPI_Allreduce, read
 * from its statistics in order to be replayed --- */

/* Calls of one message size that no rules can distinguish and that were run by the same choice.  A
 * plain block of memory. */
struct ar_profiled {
    int nranks;
    unsigned bin; /* of the message's size: see ar_size_bin */
    bool is_mean; /* of several sizes that the statistics do not tell apart */
    size_t type;  /* row of ar_named_at */
    enum ar_op op;
    enum ar_place place;
    char ran[AR_CHOICE_TEXT];
    bool was_named;     /* by the user's settings, without which auto would have decided */
    double calls;       /* of a rank of the program, in the mean */
    double seconds;     /* likewise, waits for late ranks included */
    double total_bytes; /* of all the calls */
};

/* The same on all ranks, but for the texts, which rank 0 has alone. */
struct ar_profile {
    struct ar_profiled *calls; /* owned; those of one communicator size, type and op together */
    size_t n;
    int nranks;     /* of the largest communicator in it */
    double seconds; /* of a rank of the program in all its allreduces, in the mean */
    double late;    /* of these, waiting for late ranks */
    double all_calls;
    char program[256];
    char *left_out; /* what is not replayed, a line each.  Owned */
};

/* Reads a file of statistics on rank 0.  Collective over MPI_COMM_WORLD; an enum ar_exit, having
 * said why: the file cannot be read or has no calls, or the ranks are too few. */
int ar_profile_read(struct ar_profile *profile, const char *path);
void ar_profile_fini(struct ar_profile *profile);

/* Message size of a call in bytes; for several sizes their mean, in whole elements. */
size_t ar_profiled_bytes(const struct ar_profiled *calls);

/* The range of sizes, in bytes, for which calls i stand.  The ranges of calls that rules can
 * distinguish only by size do not overlap, and together they cover a bin. */
void ar_profile_range(const struct ar_profile *profile, size_t i, size_t *first, size_t *last);

/* Whether there are calls that rules can distinguish from calls i only by their place.  Rules that
 * ask for it cost a message. */
bool ar_profile_has_twin(const struct ar_profile *profile, size_t i);

/* Whether they are measured together: they have the same communicator size, type and op. */
bool ar_profiled_together(const struct ar_profiled *a, const struct ar_profiled *b);

#endif
