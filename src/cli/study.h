/* A study: which choice is the fastest for messages of one size.  Slow ones are
 * out early, the good ones have variants and more repetitions.  Collective over MPI_COMM_WORLD; all
 * ranks come to the same findings. */
#ifndef AR_STUDY_H
#define AR_STUDY_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/contest.h"

/* Times are seconds a call of the slowest rank, medians; noise is how far the lower
 * quartile is below that, as a part of it. */
struct ar_timing {
    double seconds;
    double noise;
};

struct ar_finding {
    size_t bytes;
    struct ar_choice choice; /* that is the fastest, or as good as that within the noise */
    struct ar_timing time;   /* of it */
    struct ar_timing native;
    struct ar_choice next; /* the fastest of the others */
    struct ar_timing next_time;
    size_t tried; /* choices */
};

/* Where the ranks are. */
struct ar_place_of_ranks {
    int nodes;
    int per_node; /* the most on one */
};
struct ar_place_of_ranks ar_study_places(void);

/* Makes a contest ready for studies: of its first two entrants native alone stays. */
void ar_study_begin(struct ar_contest *contest);

/* Takes about so many seconds.  A change from preferred (NULL: from what auto picks) must win by
 * more than the noise.  An enum ar_exit: AR_EXIT_FAILED after a wrong result, or without memory. */
int ar_study_size(struct ar_finding *found, struct ar_contest *contest, size_t count,
                  double seconds, const struct ar_choice *preferred,
                  const struct ar_place_of_ranks *places);

/* What became of rules beside everything else. */
struct ar_comparison {
    size_t bytes;
    char ran[AR_CHOICE_TEXT]; /* by the rules */
    struct ar_timing rules;
    struct ar_timing native;
    char best[AR_CHOICE_TEXT]; /* of all other single choices, native among them */
    struct ar_timing best_time;
};

/* Measures what a text of rules chooses in the same manner, on the same communicator and so with
 * the same memory as all others. */
int ar_study_compare(struct ar_comparison *found, struct ar_contest *contest, const char *rules,
                     size_t count, double seconds, const struct ar_place_of_ranks *places);

/* Is a slower than b by more than the noise of both? */
bool ar_timing_is_slower(const struct ar_timing *a, const struct ar_timing *b);

#endif
