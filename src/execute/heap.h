/* Large blocks of memory that peers can map: the heap of a process.
 *
 * It is a file in memory that is mapped once, so that a peer that has mapped it, too, finds every
 * block in it without a system call.  A process has one heap: that of liballreduce-heap.so
 * (src/heap), if it is preloaded, else the engine's own (ar_heap_get in heap_memory.h).
 *
 * A child by fork gets a copy of the blocks as they are at the fork, at the same addresses. */
#ifndef AR_HEAP_H
#define AR_HEAP_H

#include <stdbool.h>
#include <stddef.h>

#include "execute/shared.h"

/* A block has at least so many bytes.  It begins at a page. */
#define AR_HEAP_LEAST_BYTES ((size_t)64 << 10)

/* The file's length is a multiple of this once a block has been taken, and never becomes less. */
#define AR_HEAP_STEP_BYTES ((size_t)64 << 20)

/* What a block holds at first. */
enum ar_heap_fill { AR_HEAP_ANY, AR_HEAP_ZERO };

/* What a peer needs to map the heap. */
struct ar_heap_card {
    struct ar_shared shared;
    size_t bytes;
};

/* --- this object's heap; all are thread-safe --- */

/* A block; NULL if it is too small, if memory cannot be had in this way, or not so much. */
void *ar_heap_take(size_t bytes, enum ar_heap_fill fill);

/* How many bytes a block has room for; 0: it is none of the heap's. */
size_t ar_heap_room(const void *block);

/* Makes a block larger or smaller where it is; false, and it stays, if that is impossible. */
bool ar_heap_resize(void *block, size_t bytes);

/* Gives a block back; false: it is none of the heap's. */
bool ar_heap_give(void *block);

/* Whether data is at one of the heap's addresses: at the cost of a comparison. */
bool ar_heap_holds(const void *data);

/* Whether all of these bytes are in the heap; *offset is where. */
bool ar_heap_find(size_t *offset, const void *data, size_t bytes);

/* False: nothing has been taken yet, or memory cannot be had. */
bool ar_heap_card(struct ar_heap_card *card);

/* --- the process's heap, which may be another object's --- */

struct ar_heap {
    unsigned interface;
    void (*serve)(void); /* from now on malloc takes large blocks from it; NULL: it cannot */
    void *(*take)(size_t bytes, enum ar_heap_fill fill);
    bool (*give)(void *block);
    bool (*find)(size_t *offset, const void *data, size_t bytes);
    bool (*card)(struct ar_heap_card *card);
};

/* Raised with every change of this file that a heap of another version would not know. */
#define AR_HEAP_INTERFACE 1

/* This object's, with its serve. */
#define AR_HEAP_OF_THIS_OBJECT(its_serve)                                                          \
    {                                                                                              \
        AR_HEAP_INTERFACE, its_serve, ar_heap_take, ar_heap_give, ar_heap_find, ar_heap_card       \
    }

#endif
