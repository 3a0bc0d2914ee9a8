/* Copies between vectors and slots. */
#ifndef AR_COPY_BYTES_H
#define AR_COPY_BYTES_H

#include <stdbool.h>
#include <stddef.h>

/* As memcpy, for pieces of a vector that are to stay in a cache. */
void ar_copy_bytes(void *dst, const void *src, size_t bytes);

/* Does a rank write past the caches?  Auto: where a trial finds that faster. */
enum ar_streaming { AR_STREAMING_NEVER, AR_STREAMING_AUTO, AR_STREAMING_ALWAYS };

/* As memcpy, but past the caches, where the processor has streaming (non-temporal) stores: lines of
 * dst that others have read are not asked for before they are overwritten.  Whoever waits with
 * acquire for what is released after it finds the bytes. */
void ar_copy_streaming(void *dst, const void *src, size_t bytes);

/* Has it? */
bool ar_copy_can_stream(void);

#endif
