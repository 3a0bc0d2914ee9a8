/* Phases that algorithms are composed of: reduce-scatter, allgather, reduce and
 * broadcast over some of the ranks on some of the vector.  Pure.
 *
 * A span is cut into as many parts as the phase has members; after a
 * reduce-scatter member i holds part i, complete, and an allgather starts from
 * there: any of the one goes with any of the other.  A phase takes the buffer in
 * which the contributions are (IN or OUT), leaves its results in OUT, and returns
 * where they are: a phase with one member moves nothing.  Each phase ends its
 * rounds.
 */
#ifndef AR_PHASES_H
#define AR_PHASES_H

#include "schedule/schedule.h"

/* Some of the ranks, in some order. */
struct ar_group {
    int size;
    int me; /* number of the emitting rank among them */
    /* Rank of member i, 0 <= i < size. */
    int (*rank_of)(const void *layout, int i);
    const void *layout; /* borrowed */
};

/* All ranks of s in their order. */
struct ar_group ar_group_all(const struct ar_schedule *s);

int ar_group_rank(const struct ar_group *group, int i);

/* A ring, or a line, as seen from the emitting rank. */
struct ar_loop {
    int size;
    int me;
    int left;  /* rank of member me-1, round the ring */
    int right; /* rank of member me+1, round the ring */
};

struct ar_loop ar_group_loop(const struct ar_group *group);

/* The ring of all ranks of s.  Rank r is member r+1, so that it begins a
 * reduce-scatter with part r. */
struct ar_loop ar_loop_all(const struct ar_schedule *s);

/* The same ring the other way round: member i becomes member size-1-i. */
struct ar_loop ar_loop_reversed(struct ar_loop loop);

/* Round k, 0 <= k < size-1, of a reduce-scatter or an allgather round a ring; not
 * ended, so that other messages can share it.  Nothing for other k. */
void ar_ring_reduce_round(struct ar_schedule *s, struct ar_loop ring, struct ar_span span,
                          enum ar_buffer have, int k);
void ar_ring_gather_round(struct ar_schedule *s, struct ar_loop ring, struct ar_span span, int k);

/* The same on a line, with no message between its ends.  In the reduce-scatter
 * part j flows from both ends to member j, in the allgather back. */
void ar_line_reduce_round(struct ar_schedule *s, struct ar_loop line, struct ar_span span,
                          enum ar_buffer have, int k);
void ar_line_gather_round(struct ar_schedule *s, struct ar_loop line, struct ar_span span, int k);

/* Round a ring: size-1 rounds, each sends one part. */
enum ar_buffer ar_ring_reduce_scatter(struct ar_schedule *s, struct ar_loop ring,
                                      struct ar_span span, enum ar_buffer have);
void ar_ring_allgather(struct ar_schedule *s, struct ar_loop ring, struct ar_span span);

/* Both, and ar_settle between them. */
void ar_ring_allreduce(struct ar_schedule *s, struct ar_loop ring, struct ar_span span,
                       enum ar_buffer have);

/* Every member sends every other its part of the contribution: size-1 rounds,
 * each sends one part, to a member one further away. */
enum ar_buffer ar_pairwise_reduce_scatter(struct ar_schedule *s, const struct ar_group *group,
                                          struct ar_span span, enum ar_buffer have);

/* Members at distance size/2, size/4, ..., 1 exchange the halves they do not
 * keep; size is a power of two.  Of two operands the lower rank's comes first. */
enum ar_buffer ar_halving_reduce_scatter(struct ar_schedule *s, const struct ar_group *group,
                                         struct ar_span span, enum ar_buffer have);

/* Members at distance 1, 2, 4, ..., size/2 exchange and combine all they have of the
 * span, which is one part for all; size is a power of two.  Of two operands the lower
 * rank's comes first. */
enum ar_buffer ar_exchange(struct ar_schedule *s, const struct ar_group *group, struct ar_span span,
                           enum ar_buffer have);

/* Members at distance 1, 2, 4, ..., size/2 exchange what they have; size is a
 * power of two. */
void ar_doubling_allgather(struct ar_schedule *s, const struct ar_group *group,
                           struct ar_span span);

/* Bruck: every member fetches from the members 1, 2, 4, ... further on what they
 * have; ceil(log2 size) rounds for any size. */
void ar_bruck_allgather(struct ar_schedule *s, const struct ar_group *group, struct ar_span span);

/* Binomial tree: member 0 ends with all contributions to the span, combined in
 * the order of the members, in the buffer returned (for other members it is
 * where they folded what they passed on).  ceil(log2 size) rounds. */
enum ar_buffer ar_binomial_reduce(struct ar_schedule *s, const struct ar_group *group,
                                  struct ar_span span, enum ar_buffer have);

/* Member 0's OUT to the OUT of all, down the same tree. */
void ar_binomial_broadcast(struct ar_schedule *s, const struct ar_group *group,
                           struct ar_span span);

/* Copies the span of IN to OUT if the result is still there: after phases none
 * of which had a second member. */
void ar_settle(struct ar_schedule *s, struct ar_span span, enum ar_buffer have);

/* Parts first .. first+n-1 of a span cut into parts, round the end (n <= parts):
 * as one message, or as two where they wrap. */
void ar_send_parts(struct ar_schedule *s, int peer, struct ar_span span, int parts, int first,
                   int n, enum ar_buffer buffer);
void ar_recv_parts(struct ar_schedule *s, int peer, struct ar_span span, int parts, int first,
                   int n);
void ar_recv_reduce_parts(struct ar_schedule *s, int peer, struct ar_span span, int parts,
                          int first, int n, enum ar_buffer have);

#endif
