#include "report/arrivals.h"

#include <stdlib.h>

#include "schedule/grow.h"

static int
kept_of(uint64_t calls)
{
    while (calls > AR_ARRIVALS_KEPT)
        calls = (calls + 1) / 2;
    return (int)calls;
}

void
ar_call_times_keep(struct ar_call_times *times, uint64_t ns)
{
    uint64_t at = times->calls >> times->shift;
    while (at >= AR_ARRIVALS_KEPT) {
        for (int i = 0; i < AR_ARRIVALS_KEPT / 2; i++)
            times->ns[i] = times->ns[2 * i];
        times->shift++;
        at /= 2;
    }
    times->ns[at] = ns;
}

void
ar_arrivals_list_fini(struct ar_arrivals_list *list)
{
    free(list->items);
    *list = (struct ar_arrivals_list){0};
}

void
ar_arrivals_init(struct ar_arrivals *arrivals, uint64_t id, int nranks, int rank,
                 const struct ar_call_times *times)
{
    *arrivals = (struct ar_arrivals){.id = id, .calls = times->calls, .nranks = nranks, .ranks = 1};
    for (int i = 0; i < ar_arrivals_kept(arrivals); i++)
        arrivals->call[i] = (struct ar_arrival){times->ns[i], times->ns[i], rank, rank};
}

static void
merge_call(struct ar_arrival *sum, const struct ar_arrival *call)
{
    if (call->least_ns < sum->least_ns ||
        (call->least_ns == sum->least_ns && call->last < sum->last)) {
        sum->least_ns = call->least_ns;
        sum->last = call->last;
    }
    if (call->most_ns > sum->most_ns ||
        (call->most_ns == sum->most_ns && call->first < sum->first)) {
        sum->most_ns = call->most_ns;
        sum->first = call->first;
    }
}

void
ar_arrivals_add(struct ar_arrivals_list *list, const struct ar_arrivals *arrivals)
{
    size_t i = 0;
    while (i < list->n && list->items[i].id != arrivals->id)
        i++;
    if (i == AR_ARRIVALS_MOST)
        return;
    struct ar_arrivals *const items = ar_grow(list->items, i + 1, &list->room, sizeof *items);
    if (!items)
        return;
    list->items = items;
    if (i == list->n) {
        items[list->n++] = *arrivals;
        return;
    }
    if (items[i].calls != arrivals->calls)
        items[i].calls = 0;
    items[i].ranks += arrivals->ranks;
    for (int k = 0; k < ar_arrivals_kept(&items[i]); k++)
        merge_call(&items[i].call[k], &arrivals->call[k]);
}

int
ar_arrivals_kept(const struct ar_arrivals *arrivals)
{
    return kept_of(arrivals->calls);
}

bool
ar_arrivals_are_complete(const struct ar_arrivals *arrivals)
{
    return arrivals->ranks == arrivals->nranks && arrivals->calls > 0;
}

bool
ar_arrival_is_late(const struct ar_arrival *arrival)
{
    return arrival->most_ns >= 2 * arrival->least_ns && arrival->most_ns > arrival->least_ns;
}
