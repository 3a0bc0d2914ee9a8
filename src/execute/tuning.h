/* What is fastest in shared memory: every measured figure of the node executor.
 * The grammar overrides them: shm(segment=...,whole=...). */
#ifndef AR_TUNING_H
#define AR_TUNING_H

#include <stdbool.h>
#include <stddef.h>

/* A chunk of the memory that a communicator takes for short messages alone: a
 * program may have thousands. */
#define AR_SHORT_CHUNK ((size_t)2048)

struct ar_node_tuning {
    size_t chunk_bytes; /* of a long message; a multiple of 64 */
    size_t whole_bytes; /* up to here every rank combines everything; above, its slice */
};

/* For nranks ranks on one node; is_crowded: they share cores. */
struct ar_node_tuning ar_node_tune(int nranks, bool is_crowded);

#endif
