/* Copies between vectors and slots. */
#ifndef AR_COPY_BYTES_H
#define AR_COPY_BYTES_H

#include <stdbool.h>
#include <stddef.h>

/* As memcpy, for pieces of a vector that are to stay in a cache. */
void ar_copy_bytes(void *dst, const void *src, size_t bytes);

/* Does a rank write past the caches?  Auto: where a trial finds that faster. */
enum ar_streaming { AR_STREAMING_NEVER, AR_STREAMING_AUTO, AR_STREAMING_ALWAYS };

/* As memcpy, but past the caches, if the processor has streaming (non-temporal) stores.  Lines of
 * dst that others have read are then overwritten without being fetched first.  Whoever acquires
 * what this thread releases afterwards sees the bytes. */
void ar_copy_streaming(void *dst, const void *src, size_t bytes);

/* Has it? */
bool ar_copy_can_stream(void);

#endif
