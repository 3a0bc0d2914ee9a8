#include "model/share.h"

#include <math.h>

#include "schedule/error.h"
#include "schedule/grow.h"

/* Two ends are one that lie closer, ns: shares are not exact in floating point. */
#define CLOSE 1e-6

int
ar_share_init(struct ar_share *share, size_t nlinks)
{
    *share = (struct ar_share){.nparts = 1, .links = calloc(nlinks, sizeof *share->links)};
    if (!share->links)
        return AR_ERR_MEMORY;
    for (size_t i = 0; i < nlinks; i++)
        share->links[i].due = INFINITY;
    return AR_OK;
}

void
ar_share_fini(struct ar_share *share)
{
    free(share->links);
    free(share->parts);
    *share = (struct ar_share){.links = NULL};
}

/* An unused part; 0 without memory. */
static size_t
take_part(struct ar_share *share)
{
    const size_t part = share->unused;
    if (part > 0) {
        share->unused = share->parts[part].next;
        return part;
    }
    struct ar_share_part *const parts =
        ar_grow(share->parts, share->nparts + 1, &share->room, sizeof *parts);
    if (!parts)
        return 0;
    share->parts = parts;
    return share->nparts++;
}

static void
pass_time(struct ar_share_link *link, double now)
{
    if (link->nparts > 0)
        link->own += (now - link->at) / (double)link->nparts;
    link->at = now;
}

static void
set_due(const struct ar_share *share, struct ar_share_link *link)
{
    const double ahead = link->nparts > 0 ? share->parts[link->first].end - link->own : 0;
    link->due = link->at + (ahead > 0 ? ahead : 0) * (double)link->nparts;
    if (link->nparts == 0)
        link->due = INFINITY;
}

int
ar_share_enter(struct ar_share *share, size_t link_number, double now, double alone, size_t message)
{
    struct ar_share_link *const link = &share->links[link_number];
    const size_t part = take_part(share);
    if (part == 0)
        return AR_ERR_MEMORY;
    pass_time(link, now);
    const double end = link->own + alone;
    size_t *place = &link->first;
    while (*place > 0 && share->parts[*place].end <= end)
        place = &share->parts[*place].next;
    share->parts[part] = (struct ar_share_part){end, message, *place};
    *place = part;
    link->nparts++;
    set_due(share, link);
    return AR_OK;
}

bool
ar_share_leave(struct ar_share *share, size_t link_number, double now, size_t *message)
{
    struct ar_share_link *const link = &share->links[link_number];
    const size_t part = link->first;
    if (link->due > now + CLOSE)
        return false;
    pass_time(link, now);
    *message = share->parts[part].message;
    link->first = share->parts[part].next;
    share->parts[part].next = share->unused;
    share->unused = part;
    link->nparts--;
    set_due(share, link);
    return true;
}
