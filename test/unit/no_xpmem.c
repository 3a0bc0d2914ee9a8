/* What tests have in place of execute/xpmem.c, which is then not linked: their ranks are threads,
 * which need not meet.  Each test shows and maps buffers in its own way. */
#include "execute/xpmem.h"

#include <stddef.h>

void
ar_xpmem_unmap(struct ar_xpmem_peer *peer, void *mapped)
{
    (void)peer, (void)mapped;
}

bool
ar_xpmem_introduce(struct ar_xpmem_card *card)
{
    (void)card;
    return false;
}

struct ar_xpmem_peer *
ar_xpmem_meet(const struct ar_xpmem_card *card)
{
    (void)card;
    return NULL;
}

void
ar_xpmem_leave(struct ar_xpmem_peer *peer)
{
    (void)peer;
}
