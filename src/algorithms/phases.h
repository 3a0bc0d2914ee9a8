/* Phases that algorithms on grids and nodes are composed of: reduce-scatter, allgather, reduce and
 * broadcast over some of the ranks on some of the vector.  Pure.
 *
 * A span is cut into as many parts as the phase has members; after a reduce-scatter member i holds
 * part i, complete, and an allgather starts from there.  A phase takes the buffer in which the
 * contributions are (IN or OUT), leaves its results in OUT, and returns where they are: a phase
 * with one member moves nothing.  Each phase ends its rounds.
 */
#ifndef AR_PHASES_H
#define AR_PHASES_H

#include "algorithms/patterns.h"
#include "schedule/schedule.h"

/* Some of the ranks, in some order. */
struct ar_group {
    int size;
    int me; /* number of the emitting rank among them */
    /* Rank of member i, 0 <= i < size. */
    int (*rank_of)(const void *layout, int i);
    const void *layout; /* borrowed */
};

int ar_group_rank(const struct ar_group *group, int i);

/* A ring, or a line, as seen from the emitting rank. */
struct ar_loop {
    int size;
    int me;
    int left;  /* rank of member me-1, round the ring */
    int right; /* rank of member me+1, round the ring */
};

struct ar_loop ar_group_loop(const struct ar_group *group);

/* Round k, 0 <= k < size-1, of a reduce-scatter or an allgather round a ring; not
 * ended, so that other messages can share it. */
void ar_ring_reduce_round(struct ar_schedule *s, struct ar_loop ring, struct ar_span span,
                          enum ar_buffer have, int k);
void ar_ring_gather_round(struct ar_schedule *s, struct ar_loop ring, struct ar_span span, int k);

/* Round a ring: size-1 rounds, each sends one part. */
enum ar_buffer ar_ring_reduce_scatter(struct ar_schedule *s, struct ar_loop ring,
                                      struct ar_span span, enum ar_buffer have);
void ar_ring_allgather(struct ar_schedule *s, struct ar_loop ring, struct ar_span span);

/* Binomial tree: member 0 ends with all contributions to the span, combined in
 * the order of the members, in the buffer returned (for other members it is
 * where they folded what they passed on).  ceil(log2 size) rounds. */
enum ar_buffer ar_binomial_reduce(struct ar_schedule *s, const struct ar_group *group,
                                  struct ar_span span, enum ar_buffer have);

/* Member 0's OUT to the OUT of all, down the same tree. */
void ar_binomial_broadcast(struct ar_schedule *s, const struct ar_group *group,
                           struct ar_span span);

/* --- a part of the work by another row --- */

struct ar_algorithm;

/* Emits row, with its defaults, for the members of the group and the span of the vector, which
 * is a vector of its own to row.  Each member's contribution is in its have (IN or OUT), the
 * result in the OUT of all.  Begins with a round of its own; row's TMP lies at the beginning of
 * s's.  A group of one copies what is not in OUT yet. */
void ar_inner_allreduce(struct ar_schedule *s, const struct ar_algorithm *row,
                        const struct ar_group *group, struct ar_span span, enum ar_buffer have);

#endif
