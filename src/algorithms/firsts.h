/* Which entries of an array are equal.  Pure. */
#ifndef AR_FIRSTS_H
#define AR_FIRSTS_H

#include <stdint.h>

/* Sets first[i] to the smallest index whose key is that of index i, of n keys.  It sorts: the steps
 * are n log n.  AR_OK or AR_ERR_MEMORY. */
int ar_firsts_find(int *first, const uint64_t *key, int n);

#endif
