/* Patterns that several algorithms share.  Pure. */
#ifndef AR_PATTERNS_H
#define AR_PATTERNS_H

#include <stdbool.h>
#include <stddef.h>

#include "schedule/schedule.h"

/* The largest power of two that is <= n (n >= 1). */
int ar_pow2_floor(int n);

/* Folding of nranks ranks onto a power of two: while ranks are too many, pairs of
 * neighbours (2i, 2i+1) act as one, in rank order; the odd one is active. */
struct ar_fold {
    int nranks;
    int core;  /* active ranks, a power of two */
    int pairs; /* nranks - core */
};

struct ar_fold ar_fold_make(int nranks);

/* Number of rank among the active ones, -1 if it is passive. */
int ar_fold_index(struct ar_fold fold, int rank);

/* The active rank with this number. */
int ar_fold_rank(struct ar_fold fold, int index);

/* Emits the fold: passive ranks send their vector to their partner.  Returns
 * where this rank's contribution is from then on: IN, or OUT where it folded. */
enum ar_buffer ar_fold_begin(struct ar_schedule *s, struct ar_fold fold);

/* Emits the unfold: partners send OUT to the passive ranks. */
void ar_fold_end(struct ar_schedule *s, struct ar_fold fold);

/* Emits operand i = 0, 1, 2, ... of a fold from the left (at least two operands),
 * all in one round: operand own is this rank's, in buffer have (IN or OUT), the
 * others are received from peer (ignored for i == own).  The result is in OUT.
 * Scratch: a vector of TMP, and one for each operand received. */
void ar_accumulate(struct ar_schedule *s, enum ar_buffer have, int own, int i, int peer);

/* Emits OUT = the vectors of ranks 0, 1, ..., nranks-1 (at least two) combined from
 * the left; TMP holds all of them, that of rank first in front, in the order of
 * the ranks round the ring. */
void ar_reduce_vectors(struct ar_schedule *s, int first);

/* The span in IN or OUT or TMP. */
struct ar_region ar_region_in(enum ar_buffer buffer, struct ar_span span);

#endif
