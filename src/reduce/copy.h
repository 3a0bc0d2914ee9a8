/* Copies between vectors and slots. */
#ifndef AR_COPY_BYTES_H
#define AR_COPY_BYTES_H

#include <stddef.h>

/* As memcpy, for pieces of a vector that are to stay in a cache. */
void ar_copy_bytes(void *dst, const void *src, size_t bytes);

#endif
