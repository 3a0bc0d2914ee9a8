/* A peer's whole heap is mapped when it is first met, and stays so while a communicator has met it.
 * So to map a range is to add an offset.  Only as much of it as a place has shown to exist can be
 * accessed, for the reason in heap.c. */
#include <config.h>

#include "execute/heap_memory.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* --- the process's heap --- */

static const struct ar_heap own = AR_HEAP_OF_THIS_OBJECT(NULL), *heap_of_process = &own;

static void
look_for_preloaded(void)
{
    const struct ar_heap *const preloaded = dlsym(RTLD_DEFAULT, AR_HEAP_SYMBOL);
    if (preloaded && preloaded->interface == AR_HEAP_INTERFACE)
        heap_of_process = preloaded;
}

const struct ar_heap *
ar_heap_get(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, look_for_preloaded);
    return heap_of_process;
}

bool
ar_heap_has_malloc(void)
{
    return ar_heap_get()->serve;
}

/* --- peers --- */

struct ar_peer {
    struct ar_peer *next;
    struct ar_heap_card card;
    char *base;
    size_t open_bytes; /* that can be accessed; atomic, written under the lock */
    unsigned meetings;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ar_peer *peers;

static struct ar_peer *
create(const struct ar_heap_card *card)
{
    struct ar_peer *const peer = malloc(sizeof *peer);
    char *const base = peer && ar_shared_has_addresses()
                           ? ar_shared_open(&card->shared, card->bytes, NULL, 0)
                           : NULL;
    if (!base) {
        free(peer);
        return NULL;
    }
    mprotect(base, card->bytes, PROT_NONE);
    /* What is not this process's own is neither its children's, nor worth a core dump. */
    madvise(base, card->bytes, MADV_DONTFORK);
    madvise(base, card->bytes, MADV_DONTDUMP);
    *peer = (struct ar_peer){.next = peers, .card = *card, .base = base};
    peers = peer;
    return peer;
}

static void
forget(struct ar_peer *peer)
{
    struct ar_peer **at = &peers;
    while (*at != peer)
        at = &(*at)->next;
    *at = peer->next;
    munmap(peer->base, peer->card.bytes);
    free(peer);
}

/* --- the provider --- */

_Static_assert(sizeof(struct ar_heap_card) <= sizeof(struct ar_peer_card), "a card has room");

static bool
introduce(struct ar_peer_card *card)
{
    struct ar_heap_card heap;
    memset(&heap, 0, sizeof heap);
    if (!ar_heap_get()->card(&heap))
        return false;
    *card = (struct ar_peer_card){{0}};
    memcpy(card, &heap, sizeof heap);
    return true;
}

static struct ar_peer *
meet(const struct ar_peer_card *card)
{
    struct ar_heap_card heap;
    memcpy(&heap, card, sizeof heap);
    pthread_mutex_lock(&lock);
    struct ar_peer *peer = peers;
    while (peer && peer->card.shared.number != heap.shared.number)
        peer = peer->next;
    if (!peer)
        peer = create(&heap);
    if (peer)
        peer->meetings++;
    pthread_mutex_unlock(&lock);
    return peer;
}

static void
leave(struct ar_peer *peer)
{
    pthread_mutex_lock(&lock);
    if (--peer->meetings == 0)
        forget(peer);
    pthread_mutex_unlock(&lock);
}

/* A place: whether there is one, and the offset. */
static struct ar_peer_place
show(const void *data, size_t bytes)
{
    size_t offset = 0;
    const bool has_place = ar_heap_get()->find(&offset, data, bytes);
    return (struct ar_peer_place){.word = {has_place, offset}};
}

/* Makes the first bytes accessible, rounded up to whole steps: the file is at least as long. */
static bool
open_up(struct ar_peer *peer, size_t bytes)
{
    const size_t whole = (bytes + AR_HEAP_STEP_BYTES - 1) / AR_HEAP_STEP_BYTES * AR_HEAP_STEP_BYTES;
    pthread_mutex_lock(&lock);
    if (peer->open_bytes < bytes && whole <= peer->card.bytes &&
        mprotect(peer->base, whole, PROT_READ | PROT_WRITE) == 0)
        __atomic_store_n(&peer->open_bytes, whole, __ATOMIC_RELEASE); /* pairs with map() */
    const bool is_open = peer->open_bytes >= bytes;
    pthread_mutex_unlock(&lock);
    return is_open;
}

static void *
map(struct ar_peer *peer, const struct ar_peer_place *place, size_t bytes)
{
    const size_t end = place->word[1] + bytes;
    const bool is_open = end <= __atomic_load_n(&peer->open_bytes, __ATOMIC_ACQUIRE);
    return is_open || open_up(peer, end) ? peer->base + place->word[1] : NULL;
}

/* Without unmap and map_again: what was mapped once has been opened, and stays so. */
const struct ar_peer_memory ar_heap_memory = {
    .introduce = introduce,
    .meet = meet,
    .leave = leave,
    .show = show,
    .map = map,
};
