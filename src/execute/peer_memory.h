/* Memory of this process that its peers can map where it lies, and theirs.
 *
 * A provider does it, of which there may be several: a process makes its memory known by a card,
 * once, and a range of it by a place in each call.  Both are plain data, which go to the peers as
 * they are. */
#ifndef AR_PEER_MEMORY_H
#define AR_PEER_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ar_peer_card {
    uint64_t word[12];
};

/* What they mean is the provider's; but for the first word, which is 0 where there is none. */
struct ar_peer_place {
    uint64_t word[3];
};

struct ar_peer; /* another process, met by its card */

/* Thread-safe, and without MPI. */
struct ar_peer_memory {
    const char *lacking; /* the reason where a process cannot do it, or cannot meet another */

    /* Makes this process's memory known to whoever gets the card.  False where that cannot be. */
    bool (*introduce)(struct ar_peer_card *card);

    /* The process of the card, whose memory was tried; it is to be left.  NULL where this one
     * cannot map it, or lacks memory. */
    struct ar_peer *(*meet)(const struct ar_peer_card *card);
    void (*leave)(struct ar_peer *peer);

    /* Where bytes of this process are, which its peers are to read.  Without a place where these
     * cannot be shown. */
    struct ar_peer_place (*show)(const void *data, size_t bytes);

    /* Bytes of the peer as this process reads them, until they are unmapped; the peer must not free
     * them before.  NULL where that fails. */
    void *(*map)(struct ar_peer *peer, const struct ar_peer_place *place, size_t bytes);
    void (*unmap)(struct ar_peer *peer, void *mapped);
};

#endif
