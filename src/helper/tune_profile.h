/* A program's profile: the calls that make up its time in MPI_Allreduce, read from its statistics
 * in order to be replayed. */
#ifndef AR_TUNE_PROFILE_H
#define AR_TUNE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/report.h"
#include "reduce/named.h"

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
