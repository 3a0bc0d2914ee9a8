/* Layout of an arena: a head for each piece, then the pieces' slots. */
#include <config.h>

#include "execute/arena.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "execute/group.h"
#include "execute/shared.h"

/* Arenas that this process makes beyond so many bytes in sum go with the
 * communicator that they were made for. */
#define KEPT_BYTES ((size_t)64 << 20)

struct head {
    _Alignas(64) _Atomic int users; /* ranks that have not given the piece back */
    _Atomic uint64_t sequence;      /* the last users' */
};

struct ar_arena {
    struct ar_arena *next;
    uint64_t number; /* names it, the same on all ranks */
    bool is_kept;    /* else it goes with its only piece */
    MPI_Group group; /* that has mapped it, if kept and known */
    int kind;
    int pieces;
    int stride;
    int slots;
    int neighbours;
    int cpus;
    size_t slot_bytes;
    char *memory;
    size_t bytes;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ar_arena *arenas;
static size_t kept_bytes;

/* What rank 0 tells the others. */
struct offer {
    struct ar_shared shared; /* the arena; number 0: there is none */
    struct ar_piece_wish wish;
    int index;   /* of the piece */
    int cpus;    /* that the arena's ranks may use together, once they have met */
    bool is_new; /* to be mapped */
    bool is_kept;
};

/* --- what the ranks must know of each other --- */

/* Bits to be or-ed. */
struct card {
    cpu_set_t cpus; /* that a rank may run on */
    unsigned char failed;
};

/* Without any memory, which a rank alone could fail to have. */
static int
or_cards(MPI_Comm comm, int rank, struct card *card)
{
    const void *in = rank == 0 ? MPI_IN_PLACE : (const void *)card;
    int error = PMPI_Reduce(in, card, (int)sizeof *card, MPI_BYTE, MPI_BOR, 0, comm);
    return error ? error : PMPI_Bcast(card, (int)sizeof *card, MPI_BYTE, 0, comm);
}

/* True if no rank failed; *cpus: how many they may use together. */
static bool
meet(MPI_Comm comm, int rank, bool failed, int *cpus)
{
    struct card card;
    memset(&card, 0, sizeof card);
    card.failed = failed;
    sched_getaffinity(0, sizeof card.cpus, &card.cpus);
    const int error = or_cards(comm, rank, &card);
    *cpus = CPU_COUNT(&card.cpus);
    return !error && !card.failed;
}

int
ar_cpus_together(MPI_Comm comm, int rank)
{
    int cpus;
    meet(comm, rank, false, &cpus);
    return cpus;
}

/* --- arenas --- */

static size_t
piece_bytes(const struct ar_arena *s)
{
    return (size_t)s->slots * (size_t)s->stride * s->slot_bytes;
}

static struct head *
head_of(const struct ar_arena *s, int index)
{
    return (struct head *)(void *)s->memory + index;
}

static char *
slots_of(const struct ar_arena *s, int index)
{
    return s->memory + (size_t)s->pieces * sizeof(struct head) + (size_t)index * piece_bytes(s);
}

/* Not mapped yet. */
static struct ar_arena
describe(const struct ar_piece_wish *wish, int nranks)
{
    struct ar_arena s = {.group = MPI_GROUP_NULL,
                         .kind = wish->kind,
                         .pieces = wish->pieces,
                         .stride = nranks,
                         .slots = wish->slots,
                         .neighbours = wish->neighbours,
                         .slot_bytes = wish->slot_bytes};
    s.bytes = (size_t)s.pieces * (sizeof(struct head) + piece_bytes(&s));
    return s;
}

/* Are there so many bytes to keep? */
static bool
reserve(size_t bytes)
{
    pthread_mutex_lock(&lock);
    const bool fits = kept_bytes + bytes <= KEPT_BYTES;
    kept_bytes += fits ? bytes : 0;
    pthread_mutex_unlock(&lock);
    return fits;
}

/* They are not kept after all. */
static void
release(const struct offer *offer, size_t bytes)
{
    pthread_mutex_lock(&lock);
    kept_bytes -= offer->is_kept ? bytes : 0;
    pthread_mutex_unlock(&lock);
}

/* By rank 0: makes the memory, its first piece taken.  No number in the offer if
 * that fails or is not worth it. */
static void *
make(struct offer *offer, const struct ar_piece_wish *wish, int nranks, bool by_name)
{
    struct ar_arena s = describe(wish, nranks);
    *offer = (struct offer){.wish = *wish, .is_new = true, .is_kept = reserve(s.bytes)};
    if (!offer->is_kept && wish->is_optional)
        return NULL;
    if (!offer->is_kept) {
        offer->wish.pieces = 1;
        s = describe(&offer->wish, nranks);
    }
    s.memory = by_name ? NULL : ar_shared_make(&offer->shared, false, s.bytes);
    if (!s.memory)
        s.memory = ar_shared_make(&offer->shared, true, s.bytes);
    if (s.memory) {
        atomic_store_explicit(&head_of(&s, 0)->users, nranks, memory_order_relaxed);
    } else {
        offer->shared.number = 0;
        release(offer, s.bytes);
    }
    return s.memory;
}

static void
destroy(struct ar_arena *s)
{
    munmap(s->memory, s->bytes);
    free(s);
}

static void
keep(struct ar_arena *s)
{
    s->is_kept = true;
    pthread_mutex_lock(&lock);
    s->next = arenas;
    arenas = s;
    pthread_mutex_unlock(&lock);
}

static void
forget(const struct ar_arena *s)
{
    pthread_mutex_lock(&lock);
    struct ar_arena **at = &arenas;
    while (*at && *at != s)
        at = &(*at)->next;
    if (*at)
        *at = s->next;
    pthread_mutex_unlock(&lock);
}

/* From now on its pieces may be lent. */
static void
open_to(struct ar_arena *s, MPI_Comm comm, int nranks, int cpus)
{
    const MPI_Group group = ar_group_of(comm, nranks);
    pthread_mutex_lock(&lock);
    s->cpus = cpus;
    s->group = group;
    pthread_mutex_unlock(&lock);
}

/* Maps what rank 0 made, which has it as memory; NULL if this rank cannot. */
static struct ar_arena *
map_arena(int rank, int nranks, const struct offer *offer, void *memory)
{
    struct ar_arena *s = malloc(sizeof *s);
    if (!s)
        return NULL;
    *s = describe(&offer->wish, nranks);
    s->number = offer->shared.number;
    s->memory = rank == 0 ? memory : ar_shared_open(&offer->shared, s->bytes);
    if (s->memory)
        return s;
    free(s);
    return NULL;
}

/* Collective; NULL on all ranks where one of them fails. */
static struct ar_arena *
attach(MPI_Comm comm, int rank, int nranks, struct offer *offer, void *memory)
{
    struct ar_arena *s = map_arena(rank, nranks, offer, memory);
    /* Before the ranks meet: as soon as they have, another thread of one of them may lend a
     * piece, and this rank must know the arena by its number then. */
    if (s && offer->is_kept)
        keep(s);
    const bool all = meet(comm, rank, !s, &offer->cpus);
    if (rank == 0)
        ar_shared_hide(&offer->shared);
    if (s && all) {
        if (offer->is_kept)
            open_to(s, comm, nranks, offer->cpus);
        return s;
    }
    const size_t bytes = describe(&offer->wish, nranks).bytes;
    if (rank == 0)
        release(offer, bytes);
    if (s) {
        forget(s);
        destroy(s);
    } else if (memory) {
        munmap(memory, bytes);
    }
    return NULL;
}

/* --- pieces --- */

/* Takes a free piece of s for nranks ranks; its index, or -1. */
static int
take(const struct ar_arena *s, int nranks)
{
    for (int i = 0; i < s->pieces; i++) {
        int nobody = 0;
        /* Pairs with the release in ar_piece_return. */
        if (atomic_compare_exchange_strong_explicit(&head_of(s, i)->users, &nobody, nranks,
                                                    memory_order_acquire, memory_order_relaxed))
            return i;
    }
    return -1;
}

static bool
has_room(const struct ar_arena *s)
{
    for (int i = 0; i < s->pieces; i++)
        if (atomic_load_explicit(&head_of(s, i)->users, memory_order_relaxed) == 0)
            return true;
    return false;
}

/* By rank 0: a free piece in an arena that all ranks of comm have mapped. */
static bool
find(struct offer *offer, MPI_Comm comm, int nranks, int kind)
{
    bool found = false;
    pthread_mutex_lock(&lock);
    for (const struct ar_arena *s = arenas; s && !found; s = s->next) {
        if (s->kind != kind || s->stride < nranks || s->group == MPI_GROUP_NULL || !has_room(s) ||
            !ar_group_covers(s->group, comm, nranks))
            continue;
        const int index = take(s, nranks);
        found = index >= 0;
        if (found)
            *offer = (struct offer){.shared.number = s->number, .index = index, .cpus = s->cpus};
    }
    pthread_mutex_unlock(&lock);
    return found;
}

static struct ar_arena *
find_number(uint64_t number)
{
    pthread_mutex_lock(&lock);
    struct ar_arena *s = arenas;
    while (s && s->number != number)
        s = s->next;
    pthread_mutex_unlock(&lock);
    return s;
}

/* Collective; NULL on all ranks where one of them fails. */
static struct ar_arena *
lend(struct offer *offer, MPI_Comm comm, int rank, int nranks, const struct ar_piece_wish *wish,
     bool by_name)
{
    void *memory = NULL;
    memset(offer, 0, sizeof *offer);
    if (rank == 0 && !find(offer, comm, nranks, wish->kind))
        memory = make(offer, wish, nranks, by_name);
    if (PMPI_Bcast(offer, (int)sizeof *offer, MPI_BYTE, 0, comm))
        memset(offer, 0, sizeof *offer);
    if (offer->shared.number == 0)
        return NULL;
    return offer->is_new ? attach(comm, rank, nranks, offer, memory)
                         : find_number(offer->shared.number);
}

/* Ranks were found that share /dev/shm alone, as containers may. */
static atomic_bool needs_name;

bool
ar_piece_borrow(struct ar_piece *piece, MPI_Comm comm, int rank, int nranks,
                const struct ar_piece_wish *wish)
{
    struct offer offer;
    struct ar_arena *s = lend(&offer, comm, rank, nranks, wish, needs_name);
    if (!s && offer.shared.pid != 0) {
        s = lend(&offer, comm, rank, nranks, wish, true);
        if (s)
            needs_name = true;
    }
    if (!s)
        return false;
    *piece = (struct ar_piece){
        .arena = s,
        .slots = slots_of(s, offer.index),
        .slot_bytes = s->slot_bytes,
        .stride = s->stride,
        .ranks = s->neighbours > s->stride ? s->neighbours : s->stride,
        .cpus = offer.cpus,
        .sequence = atomic_load_explicit(&head_of(s, offer.index)->sequence, memory_order_relaxed),
        .index = offer.index,
    };
    return true;
}

void
ar_piece_return(const struct ar_piece *piece)
{
    struct head *head = head_of(piece->arena, piece->index);
    if (!piece->arena->is_kept) {
        destroy(piece->arena);
        return;
    }
    atomic_store_explicit(&head->sequence, piece->sequence, memory_order_relaxed);
    /* Pairs with the acquire in take(). */
    atomic_fetch_sub_explicit(&head->users, 1, memory_order_release);
}

void
ar_arenas_close(void)
{
    pthread_mutex_lock(&lock);
    for (struct ar_arena *s = arenas; s; s = s->next)
        if (s->group != MPI_GROUP_NULL)
            PMPI_Group_free(&s->group);
    pthread_mutex_unlock(&lock);
}
