/* The vectors of measured calls, in the same buffers again and again or walking through more than
 * the caches hold. */
#ifndef AR_BUFFERS_H
#define AR_BUFFERS_H

#include <stdbool.h>
#include <stddef.h>

#include "helper/judge.h"

struct ar_buffers {
    size_t slots, slot_bytes, next;
    char *in, *out; /* slots of each */
    char *native;   /* its result, one slot */
};

/* Makes as many slots for vectors of so many bytes as have at least rotate_bytes in all.  Aborts
 * without memory. */
void ar_buffers_init(struct ar_buffers *b, size_t bytes, size_t rotate_bytes);
void ar_buffers_fini(struct ar_buffers *b);

/* Fills what timed calls reduce: count elements of the judge's in each slot of in, and zeros in
 * out.  In place, a result is the next call's input, and only zeros do not grow. */
void ar_buffers_fill(const struct ar_buffers *b, const struct ar_judge *judge, size_t count,
                     bool is_in_place);

/* Writes and reads all words of a buffer, or reads them, as a program would that makes its input
 * or takes its result.  What is in it stays. */
void ar_buffer_use(char *buffer, size_t bytes, bool writes);

#endif
