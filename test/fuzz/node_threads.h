/* The executor for shared memory, on threads in place of ranks. */
#ifndef AR_NODE_THREADS_H
#define AR_NODE_THREADS_H

#include <stdbool.h>
#include <stddef.h>

#include "algorithms/registry.h"

#define AR_NODE_THREADS_MAX 8

/* Sums count (>= 1) integers by shm on up to so many ranks, in chunks of 256 bytes.  Is the result
 * right on all ranks?  True where the executor refuses the parameters. */
bool node_threads_are_right(const struct ar_params *params, int nranks, size_t count,
                            bool in_place);

#endif
