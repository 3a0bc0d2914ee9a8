/* The executor for shared memory, with threads instead of ranks. */
#ifndef AR_NODE_THREADS_H
#define AR_NODE_THREADS_H

#include <stdbool.h>
#include <stddef.h>

#include "algorithms/registry.h"

#define AR_NODE_THREADS_MAX 8

/* Sums count (>= 1) integers by shm on nranks ranks, in chunks of 256 bytes.  True if the result is
 * right on all ranks, or if the executor refuses the parameters. */
bool node_threads_are_right(const struct ar_params *params, int nranks, size_t count,
                            bool in_place);

#endif
