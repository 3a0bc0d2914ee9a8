/* Messages that wait for their counterpart, for the checker: a queue for each pair of ranks and
 * direction, so that the many messages of a round are not searched.  Pure. */
#ifndef AR_QUEUES_H
#define AR_QUEUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AR_NO_STEP SIZE_MAX

/* Steps of rank that wait for peer, in their order. */
struct ar_queue {
    int rank, peer; /* rank -1: the slot is free */
    bool is_of_sends;
    size_t head, tail; /* AR_NO_STEP: nothing waits */
};

/* All zero: none.  By hash, with open addressing. */
struct ar_queues {
    struct ar_queue *of; /* owned */
    size_t n, slots;     /* a power of two of slots */
};

void ar_queues_fini(struct ar_queues *queues);

/* The queue, a new one if there is none yet; valid until the next one is found.  NULL without
 * memory. */
struct ar_queue *ar_queues_find(struct ar_queues *queues, int rank, int peer, bool is_of_sends);

/* next: of each step of the rank the one behind it. */
void ar_queue_append(struct ar_queue *queue, size_t *next, size_t step);

#endif
