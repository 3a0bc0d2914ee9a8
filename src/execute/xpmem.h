/* Memory of this process that its peers can map in place, and memory of theirs, by XPMEM: a kernel
 * module that maps any range of another process's memory.  Its library, libxpmem.so.0, is loaded
 * when it is first needed, and may be missing.
 *
 * A process makes its memory known once, by a card, and a range of it in each call, by its address.
 * All functions are thread-safe, and without MPI. */
#ifndef AR_XPMEM_H
#define AR_XPMEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AR_XPMEM_LIBRARY "libxpmem.so.0"
#define AR_XPMEM_DEVICE  "/dev/xpmem"

/* Plain data, which are sent to the peers unchanged. */
struct ar_xpmem_card {
    int64_t segment;   /* all memory of the process */
    uint64_t probe_at; /* the address of a random number, and the number */
    uint64_t probe;
};

struct ar_xpmem_peer; /* another process, met by its card */

/* Makes all memory of this process accessible to processes of the same user, until it ends.  False
 * if that is impossible, which it then stays. */
bool ar_xpmem_introduce(struct ar_xpmem_card *card);

/* Was it found impossible? */
bool ar_xpmem_is_impossible(void);

/* The process of the card, after its memory was mapped as a test; the caller must leave it.  NULL
 * if this process cannot map it, or lacks memory. */
struct ar_xpmem_peer *ar_xpmem_meet(const struct ar_xpmem_card *card);
void ar_xpmem_leave(struct ar_xpmem_peer *peer);

/* The address of bytes of this process that its peers are to read; 0 if these cannot be shared. */
uint64_t ar_xpmem_show(const void *data, size_t bytes);

/* Where this process has the peer's bytes, until they are unmapped; the peer must not free them
 * before.  NULL if that fails.  attaches: if not, also where this would take more than a look at
 * what was mapped before. */
void *ar_xpmem_map(struct ar_xpmem_peer *peer, uint64_t address, size_t bytes, bool attaches);
void ar_xpmem_unmap(struct ar_xpmem_peer *peer, void *mapped);

#endif
