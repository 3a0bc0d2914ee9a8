/* Peers' memory by XPMEM, a kernel module that maps any range of another process's memory.  Its
 * library, libxpmem.so.0, is loaded when it is first needed, and may be missing. */
#ifndef AR_XPMEM_H
#define AR_XPMEM_H

#include "execute/peer_memory.h"

#define AR_XPMEM_LIBRARY "libxpmem.so.0"
#define AR_XPMEM_DEVICE  "/dev/xpmem"

/* All memory of a process that introduces itself is accessible to processes of the same user, until
 * it ends. */
extern const struct ar_peer_memory ar_xpmem;

#endif
