/* Peers' memory that is in windows of MPI_Win_allocate_shared, which all ranks of a window have
 * mapped.  So processes need not meet, and nothing is mapped in a call. */
#ifndef AR_WINDOW_MEMORY_H
#define AR_WINDOW_MEMORY_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "execute/peer_memory.h"

/* The memory of a rank of the window, as this process has mapped it. */
struct ar_window_part {
    char *base;
    size_t bytes;
};

/* From now on this process knows the window.  number: its own among all windows of the host, and
 * alike on all of its ranks.  parts: of its nparts ranks.  False without memory. */
bool ar_window_note(MPI_Win win, uint64_t number, const struct ar_window_part *parts, int nparts);

/* From now on this process no longer knows the window, if it ever did.  To be called before the
 * memory may be unmapped. */
void ar_window_forget(MPI_Win win);

/* A process introduces itself, with an empty card, if it knows a window.  There are no peers. */
extern const struct ar_peer_memory ar_window_memory;

#endif
