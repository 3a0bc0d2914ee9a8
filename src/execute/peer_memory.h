/* Memory of this process that its peers can map in place, and memory of theirs.
 *
 * A provider implements this; there may be several.  A process makes its memory known once, by a
 * card, and a range of it in each call, by a place.  Both are plain data that are sent to the peers
 * unchanged. */
#ifndef AR_PEER_MEMORY_H
#define AR_PEER_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ar_peer_card {
    uint64_t word[12];
};

/* The provider defines the words' meaning, except that the first is 0 if there is no place, and
 * otherwise below 2^31. */
struct ar_peer_place {
    uint64_t word[3];
};

struct ar_peer; /* another process, met by its card */

/* Thread-safe, and without MPI. */
struct ar_peer_memory {
    /* Makes this process's memory known to all who get the card.  False if that is impossible. */
    bool (*introduce)(struct ar_peer_card *card);

    /* The process of the card, after its memory was mapped as a test; the caller must leave it.
     * NULL if this process cannot map it, or lacks memory. */
    struct ar_peer *(*meet)(const struct ar_peer_card *card);
    void (*leave)(struct ar_peer *peer);

    /* The place of bytes of this process that its peers are to read; no place if these cannot be
     * shared. */
    struct ar_peer_place (*show)(const void *data, size_t bytes);

    /* The address of the peer's bytes in this process, until they are unmapped; the peer must not
     * free them before.  NULL if that fails.  The provider may leave unmap out if what it maps
     * stays mapped. */
    void *(*map)(struct ar_peer *peer, const struct ar_peer_place *place, size_t bytes);
    void (*unmap)(struct ar_peer *peer, void *mapped);

    /* As map, but NULL if that would take more than a look at what was mapped before.  The
     * provider may leave it out if map never does. */
    void *(*map_again)(struct ar_peer *peer, const struct ar_peer_place *place, size_t bytes);
};

#endif
