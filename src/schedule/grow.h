/* Arrays that grow.  Pure. */
#ifndef AR_GROW_H
#define AR_GROW_H

#include <stddef.h>
#include <stdlib.h>

/* Makes room for as many items of size bytes as are needed.  Returns items itself where *room is
 * enough, else reallocates at least twice as many.  NULL without memory: items are then as they
 * were. */
static inline void *
ar_grow(void *items, size_t needed, size_t *room, size_t size)
{
    const size_t least = *room ? 2 * *room : 16, more = needed > least ? needed : least;
    if (needed <= *room)
        return items;
    void *const bigger = reallocarray(items, more, size);
    if (bigger)
        *room = more;
    return bigger;
}

/* Shrinks items to the used ones; returns them unchanged if the allocator refuses. */
static inline void *
ar_shrink(void *items, size_t used, size_t *room, size_t size)
{
    void *const smaller = used > 0 && used < *room ? reallocarray(items, used, size) : NULL;
    if (smaller)
        *room = used;
    return smaller ? smaller : items;
}

#endif
