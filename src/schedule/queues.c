#include "schedule/queues.h"

#include <stdlib.h>
#include <string.h>

void
ar_queues_fini(struct ar_queues *queues)
{
    free(queues->of);
    *queues = (struct ar_queues){NULL, 0, 0};
}

static struct ar_queue *
find_slot(const struct ar_queues *queues, int rank, int peer, bool is_of_sends)
{
    const uint64_t key = ((uint64_t)(unsigned)rank << 32 | (unsigned)peer) * 2 + is_of_sends;
    size_t i = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (queues->slots - 1);
    while (queues->of[i].rank >= 0 && (queues->of[i].rank != rank || queues->of[i].peer != peer ||
                                       queues->of[i].is_of_sends != is_of_sends))
        i = (i + 1) & (queues->slots - 1);
    return &queues->of[i];
}

/* At least half of the slots stay free. */
static bool
grow(struct ar_queues *queues)
{
    struct ar_queues more = {NULL, queues->n, queues->slots ? 2 * queues->slots : 256};
    more.of = malloc(more.slots * sizeof *more.of);
    if (!more.of)
        return false;
    memset(more.of, 0xff, more.slots * sizeof *more.of); /* ranks -1 */
    for (size_t i = 0; i < queues->slots; i++) {
        const struct ar_queue *const q = &queues->of[i];
        if (q->rank >= 0)
            *find_slot(&more, q->rank, q->peer, q->is_of_sends) = *q;
    }
    free(queues->of);
    *queues = more;
    return true;
}

struct ar_queue *
ar_queues_find(struct ar_queues *queues, int rank, int peer, bool is_of_sends)
{
    if (2 * queues->n >= queues->slots && !grow(queues))
        return NULL;
    struct ar_queue *const q = find_slot(queues, rank, peer, is_of_sends);
    if (q->rank < 0) {
        *q = (struct ar_queue){rank, peer, is_of_sends, AR_NO_STEP, AR_NO_STEP};
        queues->n++;
    }
    return q;
}

void
ar_queue_append(struct ar_queue *queue, size_t *next, size_t step)
{
    if (queue->head == AR_NO_STEP)
        queue->head = step;
    else
        next[queue->tail] = step;
    next[step] = AR_NO_STEP;
    queue->tail = step;
}
