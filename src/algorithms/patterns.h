/* Patterns that several algorithms share.  Pure. */
#ifndef AR_PATTERNS_H
#define AR_PATTERNS_H

#include <stddef.h>

#include "schedule/schedule.h"

/* The largest power of two that is <= n (n >= 1). */
int ar_pow2_floor(int n);

/* The order in which rank combines with peer, so that operands stay in rank order. */
enum ar_order ar_rank_order(int rank, int peer);

/* Emits a recv_reduce of the span to OUT; this rank's operand is in have. */
void ar_recv_combine(struct ar_schedule *s, int peer, struct ar_span span, enum ar_buffer have,
                     enum ar_order order);

/* The core: the largest power of two of ranks, for algorithms that need a power of two.  The
 * remaining ranks form pairs of neighbours (2i, 2i+1) with ranks of the core: the odd one is in the
 * core and acts for both, in rank order. */
struct ar_core {
    int nranks;
    int size;  /* a power of two */
    int pairs; /* nranks - size */
};

struct ar_core ar_core_make(int nranks);

/* Number of rank in the core, -1 if it is not in it. */
int ar_core_index(struct ar_core core, int rank);

/* The rank with this number in the core. */
int ar_core_rank(struct ar_core core, int index);

/* Emits the fold: ranks outside the core send their vector to their partner.  Returns
 * where this rank's contribution is from then on: IN, or OUT if it folded. */
enum ar_buffer ar_core_fold(struct ar_schedule *s, struct ar_core core);

/* Emits the unfold: partners send OUT to the ranks outside the core. */
void ar_core_unfold(struct ar_schedule *s, struct ar_core core);

/* Emits operand i = 0, 1, 2, ... of a fold from the left (at least two operands),
 * all in one round: operand own is this rank's, in buffer have (IN or OUT), the
 * others are received from peer (ignored for i == own).  The result is in OUT.
 * Scratch: a vector of TMP, and one for each operand received. */
void ar_accumulate(struct ar_schedule *s, enum ar_buffer have, int own, int i, int peer);

/* Emits OUT = the vectors of ranks 0, 1, ..., nranks-1 (at least two) combined from
 * the left.  TMP holds all of them in the order of the ranks round the ring, beginning with
 * that of rank first. */
void ar_reduce_vectors(struct ar_schedule *s, int first);

/* Blocks first .. first+n-1 of the cut, modulo parts (n <= parts): as one message, or as two if
 * they wrap.  have: the buffer that is sent, or combined with what arrives; results are in OUT. */
void ar_send_blocks(struct ar_schedule *s, int peer, enum ar_buffer have, struct ar_cut cut,
                    int first, int n);
void ar_recv_blocks(struct ar_schedule *s, int peer, struct ar_cut cut, int first, int n);
void ar_recv_reduce_blocks(struct ar_schedule *s, int peer, enum ar_buffer have, struct ar_cut cut,
                           int first, int n);

/* The span in IN or OUT or TMP. */
struct ar_region ar_region_in(enum ar_buffer buffer, struct ar_span span);

#endif
