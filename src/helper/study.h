/* The search by the clock: which choice is the fastest for messages of each of some sizes.
 *
 * Where ranks share cores, times differ from run to run but hardly within one: they depend on which
 * ranks share a core.  So each size is measured in many passes, and each pass visits all sizes.
 * The ranks are placed on the cores anew before each visit, and the passes decide (ar_by_clock in
 * tuning/elimination.h).
 *
 * Collective over the ranks that are measured; all of them come to the same findings. */
#ifndef AR_STUDY_H
#define AR_STUDY_H

#include <stdbool.h>
#include <stddef.h>

#include "helper/measurement.h"
#include "tuning/elimination.h"

/* Where the ranks are, and this one among those of its node. */
struct ar_place_of_ranks {
    int nodes;
    int per_node;      /* the most on one */
    bool is_scattered; /* the ranks of some node do not follow each other */
    int local_rank, local_ranks;
};
struct ar_place_of_ranks ar_study_places(MPI_Comm comm);

/* One size. */
struct ar_study_size {
    size_t bytes;
    size_t count; /* elements */
    double
        weight; /* its part of the time, beside those of the other sizes; 1 where nobody sets it */
    struct ar_request request;
    struct ar_candidate_list list;
    struct ar_elimination search;
    double *seconds; /* of each candidate, in the pass under way.  Owned */
};

/* In every second pass caches are cold, since calls walk through buffers of short_bytes in all.
 * Messages longer than that walk through long_bytes, and each rank writes its input before a call
 * and reads its result after it. */
struct ar_study_cold {
    size_t short_bytes; /* 0: no pass is cold */
    size_t long_bytes;
};

struct ar_study {
    struct ar_measurement *measurement;
    struct ar_place_of_ranks places;
    struct ar_study_size *sizes; /* owned */
    size_t nsizes;
    size_t *order;             /* of this pass.  Owned */
    struct ar_study_cold cold; /* as init sets it: none */
    size_t visits, visits_begun;
    int pass;                  /* of the visit under way */
    struct ar_study_size *now; /* the size that it measures */
};

/* A study of so many sizes, by a measurement whose list it empties.  An enum ar_exit, having said
 * why; there is something to fini in any case. */
int ar_study_init(struct ar_study *study, struct ar_measurement *m,
                  const struct ar_place_of_ranks *places, const size_t *bytes, size_t n);
void ar_study_fini(struct ar_study *study);

/* Names the choice for a size that is never dropped.  Called once for each size, before the first
 * visit. */
int ar_study_keep(struct ar_study_size *size, const struct ar_choice *choice);

/* The same, where nothing is measured but this choice and a rival, which stays, too. */
int ar_study_keep_pair(struct ar_study_size *size, const struct ar_choice *choice,
                       const struct ar_choice *rival);

/* Begins the next visit: false after the last one. */
bool ar_study_next(struct ar_study *study);

/* Is candidate i measured in the visits to come? */
bool ar_study_has(const struct ar_study_size *size, size_t i);

/* Measures all candidates that are in, in the visit's share of the seconds that are left for all
 * visits to come; after these seconds no batch begins.  AR_EXIT_FAILED after a wrong result, or
 * without memory.  AR_EXIT_INTERRUPTED by a signal or their end: the visit does not count. */
int ar_study_measure(struct ar_study *study, double seconds);

/* Takes the times of the visit, measured or recalled: some candidates leave, others enter. */
void ar_study_advance(struct ar_study *study);

struct ar_winner {
    size_t bytes;
    struct ar_choice choice; /* the fastest, or as good as that within the noise */
    struct ar_estimate
        time; /* of it: seconds per call of the slowest rank, of the finals' passes */
    struct ar_estimate native;
    struct ar_choice next; /* the fastest of the others */
    struct ar_estimate next_time;
    struct ar_choice kept; /* the one that stays */
    struct ar_estimate kept_time;
    struct ar_estimate gain; /* seconds per call by which choice is faster than kept, in pairs of
                                the same visit; 0 where it is kept */
    bool is_beaten;          /* by next, by more than the noise, and their intervals are apart */
};

/* Was there a visit to the size? */
bool ar_winner_is_known(const struct ar_winner *found);

/* What is the fastest, after the last visit or the last that was not interrupted.  The candidate
 * that stays is replaced only by one that is faster by more than the noise.  If preferred (or NULL)
 * is such a one, and no worse than the fastest, it is taken.  Before the first visit the result is
 * the candidate that stays, with no known time. */
void ar_study_find(struct ar_winner *found, const struct ar_study_size *size,
                   const struct ar_choice *preferred);

/* After a study of pairs: the rival is the choice. */
void ar_study_find_rival(struct ar_winner *found, const struct ar_study_size *size);

/* Compares the candidate that stays with all others. */
void ar_study_compare(struct ar_winner *found, const struct ar_study_size *size);

#endif
