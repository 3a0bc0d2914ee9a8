/* It does no harm if one process has forgotten a window and another has not yet.  The window's
 * memory stays mapped on every rank until all of them free it, and a rank does not do so while it
 * is in a call whose buffer is there. */
#include <config.h>

#include "execute/window_memory.h"

#include <pthread.h>
#include <stdlib.h>

/* --- the windows --- */

struct part {
    uintptr_t base;
    size_t bytes; /* of this rank */
    size_t reach; /* and of the ranks after it that follow without a gap */
};

struct window {
    struct window *next;
    MPI_Win win;
    uint64_t number;
    int nparts;
    struct part parts[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct window *windows; /* written under the lock; without it only compared with NULL */

static bool
are_any(void)
{
    return __atomic_load_n(&windows, __ATOMIC_RELAXED);
}

/* Parts are joined only in the order of ranks.  So a range that begins in a part has the same bytes
 * in every process that finds it within the part's reach. */
static void
join(struct window *w)
{
    const struct part *next = NULL;
    for (int i = w->nparts - 1; i >= 0; i--) {
        struct part *const part = &w->parts[i];
        if (part->bytes == 0)
            continue;
        const bool is_joined = next && part->base + part->bytes == next->base;
        part->reach = part->bytes + (is_joined ? next->reach : 0);
        next = part;
    }
}

bool
ar_window_note(MPI_Win win, uint64_t number, const struct ar_window_part *parts, int nparts)
{
    struct window *const w = malloc(sizeof *w + (size_t)nparts * sizeof w->parts[0]);
    if (!w)
        return false;
    *w = (struct window){.win = win, .number = number, .nparts = nparts};
    for (int i = 0; i < nparts; i++)
        w->parts[i] = (struct part){.base = (uintptr_t)parts[i].base, .bytes = parts[i].bytes};
    join(w);
    pthread_mutex_lock(&lock);
    w->next = windows;
    __atomic_store_n(&windows, w, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&lock);
    return true;
}

void
ar_window_forget(MPI_Win win)
{
    pthread_mutex_lock(&lock);
    struct window **at = &windows;
    while (*at && (*at)->win != win)
        at = &(*at)->next;
    struct window *const w = *at;
    if (w)
        __atomic_store_n(at, w->next, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&lock);
    free(w);
}

/* --- the provider --- */

static bool
introduce(struct ar_peer_card *card)
{
    *card = (struct ar_peer_card){{0}};
    return are_any();
}

/* The place of bytes in this window: the rank in whose part they begin, counted from 1, the
 * window, and where in the part. */
static struct ar_peer_place
find(const struct window *w, uintptr_t data, size_t bytes)
{
    for (int i = 0; i < w->nparts; i++) {
        const struct part *const part = &w->parts[i];
        const size_t offset = data - part->base;
        if (data >= part->base && offset < part->bytes && bytes <= part->reach - offset)
            return (struct ar_peer_place){.word = {(uint64_t)i + 1, w->number, offset}};
    }
    return (struct ar_peer_place){{0}};
}

static struct ar_peer_place
show(const void *data, size_t bytes)
{
    struct ar_peer_place place = {{0}};
    if (!are_any())
        return place;
    pthread_mutex_lock(&lock);
    for (const struct window *w = windows; w && !place.word[0]; w = w->next)
        place = find(w, (uintptr_t)data, bytes);
    pthread_mutex_unlock(&lock);
    return place;
}

static uintptr_t
address_in(const struct window *w, const struct ar_peer_place *place, size_t bytes)
{
    if (place->word[0] > (uint64_t)w->nparts)
        return 0;
    const struct part *const part = &w->parts[place->word[0] - 1];
    const size_t offset = (size_t)place->word[2];
    const bool is_inside = offset < part->bytes && bytes <= part->reach - offset;
    return is_inside ? part->base + offset : 0;
}

static void *
map(struct ar_peer *peer, const struct ar_peer_place *place, size_t bytes)
{
    (void)peer;
    pthread_mutex_lock(&lock);
    const struct window *w = windows;
    while (w && w->number != place->word[1])
        w = w->next;
    const uintptr_t address = w ? address_in(w, place, bytes) : 0;
    pthread_mutex_unlock(&lock);
    return (void *)address;
}

const struct ar_peer_memory ar_window_memory = {
    .introduce = introduce,
    .show = show,
    .map = map,
};
