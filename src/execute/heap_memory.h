/* Peers' memory that is in their heaps (heap.h), which needs no module of the kernel. */
#ifndef AR_HEAP_MEMORY_H
#define AR_HEAP_MEMORY_H

#include "execute/heap.h"
#include "execute/peer_memory.h"

/* What liballreduce-heap.so exports: its heap. */
#define AR_HEAP_LIBRARY "liballreduce-heap.so"
#define AR_HEAP_SYMBOL  "allreduce_heap"

/* The heap of this process. */
const struct ar_heap *ar_heap_get(void);

/* Whether malloc can take large blocks from it: liballreduce-heap.so of this version is loaded. */
bool ar_heap_has_malloc(void);

/* A process introduces itself if it has taken a block from its heap. */
extern const struct ar_peer_memory ar_heap_memory;

#endif
