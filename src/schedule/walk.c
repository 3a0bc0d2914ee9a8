#include "schedule/walk.h"

#include <stdlib.h>

static int
compare_halves(const void *x, const void *y)
{
    const struct ar_half *a = x, *b = y;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    if (a->to != b->to)
        return a->to < b->to ? -1 : 1;
    return a->at < b->at ? -1 : 1;
}

int
ar_halves_pair(struct ar_half *sends, size_t nsends, struct ar_half *receives, size_t nreceives)
{
    if (nsends != nreceives)
        return AR_ERR_PROOF;
    if (nsends == 0)
        return AR_OK;
    qsort(sends, nsends, sizeof *sends, compare_halves);
    qsort(receives, nsends, sizeof *receives, compare_halves);
    for (size_t i = 0; i < nsends; i++)
        if (sends[i].from != receives[i].from || sends[i].to != receives[i].to)
            return AR_ERR_PROOF;
    return AR_OK;
}
