/* Layout of an arena: a head for each piece, the domains of each rank, then the pieces' slots.
 *
 * What puts the users of a piece after those before them: each previous user, when it is done with
 * the slots, subtracts itself from the piece's number of users, with release.  Rank 0 of the next
 * communicator finds that number to be 0, with acquire.  Since users only subtract from it, all
 * that they did comes before what rank 0 does, and rank 0's broadcast puts it before what the other
 * ranks do.  The sequence is written before the release and read after the broadcast.  The domains
 * are written before the ranks meet in a reduction.  So neither needs an order of its own.
 *
 * Any rank may close an arena that nobody uses: it takes all pieces for itself, for ever, and gives
 * their memory back, for all ranks at once.  So nobody lends a piece of it any more, and no message
 * is needed.  Each rank forgets it when it next looks. */
#include <config.h>

#include "execute/arena.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "execute/group.h"
#include "execute/own_domains.h"
#include "execute/shared.h"

struct head {
    _Alignas(64) _Atomic int users; /* ranks that have not given the piece back; CLOSED */
    atomic_bool is_closed;          /* of the first piece: the arena is */
    _Atomic uint64_t sequence;      /* the last users' */
};

#define CLOSED (-1)

struct ar_arena {
    struct ar_arena *next;
    uint64_t number; /* names it, the same on all ranks */
    bool is_kept;    /* else it is unmapped when its only piece is returned */
    bool is_open;    /* its pieces may be lent.  Under the lock */
    uint64_t used;   /* when: one more for each piece of any arena that was lent or returned */
    struct ar_members *members; /* that have mapped it, if it is kept.  Owned */
    int kind;
    int pieces;
    int stride;
    int slots;
    struct ar_crowd crowd;
    size_t slot_bytes;
    char *memory;
    size_t bytes;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ar_arena *arenas;
static int ranks_on_node = 1; /* of the job, as far as the launcher says */
static uint64_t uses;

/* What rank 0 tells the others. */
struct offer {
    struct ar_piece_offer found; /* a free piece; number 0: there is none */
    struct ar_shared shared;     /* a new arena, still to be mapped; number 0: there is none */
    struct ar_piece_needs needs;
    struct ar_job job; /* beside the ranks of a new arena */
    bool is_kept;
};

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

/* What the ranks are bound to: of a rank AR_DOMAINS numbers, at its number in the communicator that
 * the arena was made for. */
static int *
table_of(const struct ar_arena *s)
{
    return (int *)(void *)(s->memory + (size_t)s->pieces * sizeof(struct head));
}

static size_t
table_bytes(const struct ar_arena *s)
{
    return ((size_t)s->stride * AR_DOMAINS * sizeof(int) + 63) & ~(size_t)63;
}

/* Of what is before the slots. */
static size_t
front_bytes(const struct ar_arena *s)
{
    return (size_t)s->pieces * sizeof(struct head) + table_bytes(s);
}

/* The slots that a rank has in all pieces.  It writes them, and so has them near, unless two ranks
 * exchange theirs. */
static struct ar_shared_parts
slots_of(const struct ar_arena *s, int rank)
{
    return (struct ar_shared_parts){front_bytes(s) + (size_t)rank * s->slot_bytes, s->slot_bytes,
                                    (size_t)s->stride * s->slot_bytes,
                                    (size_t)s->pieces * (size_t)s->slots};
}

/* An arena for these needs, not mapped yet. */
static struct ar_arena
describe(const struct ar_piece_needs *needs, int nranks)
{
    struct ar_arena s = {.kind = needs->kind,
                         .pieces = needs->pieces,
                         .stride = nranks,
                         .slots = needs->slots,
                         .slot_bytes = needs->slot_bytes};
    s.bytes = front_bytes(&s) + (size_t)s.pieces * piece_bytes(&s);
    return s;
}

/* --- arenas that nobody uses.  All under the lock --- */

static bool
is_idle(const struct ar_arena *s)
{
    int i = 0;
    while (i < s->pieces && atomic_load_explicit(&head_of(s, i)->users, memory_order_relaxed) == 0)
        i++;
    return i == s->pieces;
}

/* False if somebody has taken a piece meanwhile. */
static bool
close_arena(const struct ar_arena *s)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t front = (front_bytes(s) + page - 1) / page * page;
    int i = 0, nobody = 0;
    while (i < s->pieces && atomic_compare_exchange_strong(&head_of(s, i)->users, &nobody, CLOSED))
        i++;
    if (i < s->pieces) {
        while (i > 0)
            atomic_store(&head_of(s, --i)->users, 0);
        return false;
    }
    if (s->bytes > front)
        madvise(s->memory + front, s->bytes - front, MADV_REMOVE);
    atomic_store(&head_of(s, 0)->is_closed, true);
    return true;
}

/* Forgets those that were closed by any rank. */
static void
sweep(void)
{
    struct ar_arena **at = &arenas;
    while (*at) {
        struct ar_arena *const s = *at;
        if (!atomic_load(&head_of(s, 0)->is_closed)) {
            at = &s->next;
            continue;
        }
        *at = s->next;
        munmap(s->memory, s->bytes);
        free(s->members);
        free(s);
    }
}

/* Closes the one that was used least recently; false if there is none. */
static bool
close_oldest(void)
{
    struct ar_arena *oldest = NULL;
    for (struct ar_arena *s = arenas; s; s = s->next)
        if (is_idle(s) && (!oldest || s->used < oldest->used))
            oldest = s;
    if (!oldest || !close_arena(oldest))
        return false;
    sweep();
    return true;
}

/* A rank's part in an arena is what it would have if all of the arena's ranks had the same.  If no
 * rank of a node is a part of too much, the node has not too much.  Closes what is idle while this
 * rank's parts, with another one of so many bytes, are too much; counts_lent: also those of arenas
 * in use.  False if they stay so. */
static bool
bound(size_t another_bytes, bool counts_lent)
{
    sweep();
    do {
        size_t bytes = another_bytes;
        for (const struct ar_arena *s = arenas; s; s = s->next)
            bytes += counts_lent || is_idle(s) ? s->bytes / (size_t)s->stride : 0;
        if (bytes <= AR_ARENAS_KEPT_BYTES / (size_t)ranks_on_node)
            return true;
    } while (close_oldest());
    return false;
}

/* --- making one --- */

static bool
may_keep(size_t bytes, int nranks)
{
    pthread_mutex_lock(&lock);
    ranks_on_node = nranks > ranks_on_node ? nranks : ranks_on_node;
    const bool may = bound(bytes / (size_t)nranks, true);
    pthread_mutex_unlock(&lock);
    return may;
}

/* By rank 0: makes the memory, and lends its first piece.  It is kept, and may serve others among
 * these members, or else it is for a single communicator.  The offer has no number if that fails or
 * is not worth it. */
static void *
make(struct offer *offer, const struct ar_piece_needs *needs, const struct ar_members *members,
     int nranks, bool by_name)
{
    struct ar_arena s = describe(needs, nranks);
    const bool fits = may_keep(s.bytes, nranks);
    *offer =
        (struct offer){.needs = *needs, .job = ar_job_beside(nranks), .is_kept = members && fits};
    if (needs->is_optional && !fits)
        return NULL;
    if (!offer->is_kept) {
        offer->needs.pieces = 1;
        s = describe(&offer->needs, nranks);
    }
    const struct ar_shared_parts own[] = {{0, front_bytes(&s), 0, 1}, slots_of(&s, 0)};
    s.memory = by_name ? NULL : ar_shared_make(&offer->shared, false, s.bytes, own, 2);
    if (!s.memory)
        s.memory = ar_shared_make(&offer->shared, true, s.bytes, own, 2);
    if (s.memory)
        atomic_store_explicit(&head_of(&s, 0)->users, nranks, memory_order_relaxed);
    return s.memory;
}

/* on_node: ranks, as far as the launcher says. */
static void
list(struct ar_arena *s, int on_node)
{
    pthread_mutex_lock(&lock);
    s->used = ++uses;
    s->next = arenas;
    arenas = s;
    ranks_on_node = on_node > ranks_on_node ? on_node : ranks_on_node;
    sweep();
    pthread_mutex_unlock(&lock);
}

static void
unlist(const struct ar_arena *s)
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
open_up(struct ar_arena *s, struct ar_crowd crowd)
{
    pthread_mutex_lock(&lock);
    s->crowd = crowd;
    s->is_open = true;
    pthread_mutex_unlock(&lock);
}

/* Writes what this rank is bound to, for the others to read when all have met. */
static void
tell_domains(const struct ar_arena *s, int rank)
{
    ar_own_domains_find(table_of(s) + (size_t)rank * AR_DOMAINS);
}

/* Collective: maps what rank 0 made, where it is memory already.  NULL on all ranks where one of
 * them fails. */
static struct ar_arena *
map_new(const struct ar_circle *circle, struct offer *offer, void *memory)
{
    const int rank = circle->rank, nranks = circle->n;
    struct ar_crowd crowd;
    const struct ar_arena described = describe(&offer->needs, nranks);
    struct ar_arena *s = malloc(sizeof *s);
    if (s) {
        *s = described;
        s->number = offer->shared.number;
        s->is_kept = offer->is_kept;
        const struct ar_shared_parts own = slots_of(s, rank);
        s->memory = rank == 0 ? memory : ar_shared_open(&offer->shared, s->bytes, &own, 1);
    }
    const bool is_mapped = s && s->memory;
    struct ar_members *const members = is_mapped && s->is_kept ? ar_members_of(circle) : NULL;
    const bool fails = !is_mapped || (s->is_kept && !members);
    if (is_mapped)
        tell_domains(s, rank);
    /* Before the ranks meet: as soon as they have, another thread of one of them may lend a
     * piece, and this rank must know the arena by its number then, and its members. */
    if (is_mapped) {
        s->members = members;
        list(s, offer->job.ranks > nranks ? offer->job.ranks : nranks);
    }
    const bool all = ar_crowd_find(&crowd, circle, offer->job, fails);
    if (rank == 0)
        ar_shared_hide(&offer->shared);
    if (is_mapped && all) {
        offer->found = (struct ar_piece_offer){s->number, 0, crowd};
        if (s->is_kept)
            open_up(s, crowd);
        return s;
    }
    if (is_mapped) {
        unlist(s);
        munmap(s->memory, s->bytes);
    } else if (memory) {
        munmap(memory, described.bytes);
    }
    free(members);
    free(s);
    return NULL;
}

/* --- pieces --- */

/* Is a piece of s free? */
static bool
has_room(const struct ar_arena *s)
{
    int i = 0;
    while (i < s->pieces && atomic_load_explicit(&head_of(s, i)->users, memory_order_relaxed) != 0)
        i++;
    return i < s->pieces;
}

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

bool
ar_piece_find(struct ar_piece_offer *offer, const struct ar_members *members, int kind)
{
    *offer = (struct ar_piece_offer){.number = 0};
    pthread_mutex_lock(&lock);
    for (const struct ar_arena *s = arenas; s && offer->number == 0; s = s->next) {
        if (s->kind != kind || !s->is_open || !has_room(s) ||
            !ar_members_number(NULL, s->members, members))
            continue;
        const int index = take(s, members->n);
        if (index >= 0)
            *offer = (struct ar_piece_offer){s->number, index, s->crowd};
    }
    pthread_mutex_unlock(&lock);
    return offer->number != 0;
}

static void
set_piece(struct ar_piece *piece, struct ar_arena *s, const struct ar_piece_offer *offer)
{
    *piece = (struct ar_piece){
        .arena = s,
        .slots = s->memory + front_bytes(s) + (size_t)offer->index * piece_bytes(s),
        .slot_bytes = s->slot_bytes,
        .stride = s->stride,
        .crowd = offer->crowd,
        .sequence = atomic_load_explicit(&head_of(s, offer->index)->sequence, memory_order_relaxed),
        .index = offer->index,
    };
}

/* The arena is there: it is listed before its ranks meet, and not closed while a piece is lent. */
void
ar_piece_take(struct ar_piece *piece, const struct ar_piece_offer *offer)
{
    pthread_mutex_lock(&lock);
    struct ar_arena *s = arenas;
    while (s->number != offer->number)
        s = s->next;
    s->used = ++uses;
    pthread_mutex_unlock(&lock);
    set_piece(piece, s, offer);
}

/* Collective: lends a free piece, or one of a new arena.  False on all ranks where one of them
 * fails. */
static bool
lend(struct ar_piece *piece, struct offer *offer, const struct ar_circle *circle,
     const struct ar_piece_needs *needs, bool by_name)
{
    void *memory = NULL;
    memset(offer, 0, sizeof *offer);
    if (circle->rank == 0) {
        struct ar_members *const members = ar_members_of(circle);
        if (!ar_piece_find(&offer->found, members, needs->kind))
            memory = make(offer, needs, members, circle->n, by_name);
        free(members);
    }
    if (ar_circle_tell(circle, offer, (int)sizeof *offer))
        memset(offer, 0, sizeof *offer);
    if (offer->found.number != 0) {
        ar_piece_take(piece, &offer->found);
        return true;
    }
    struct ar_arena *const s = offer->shared.number ? map_new(circle, offer, memory) : NULL;
    if (s)
        set_piece(piece, s, &offer->found);
    return s;
}

/* Ranks were found that share /dev/shm but not /proc, as containers may. */
static atomic_bool needs_name;

bool
ar_piece_borrow(struct ar_piece *piece, const struct ar_circle *circle,
                const struct ar_piece_needs *needs)
{
    struct offer offer;
    if (lend(piece, &offer, circle, needs, needs_name))
        return true;
    if (offer.shared.pid == 0 || !lend(piece, &offer, circle, needs, true))
        return false;
    needs_name = true;
    return true;
}

bool
ar_piece_domains(const struct ar_piece *piece, int *domain, MPI_Comm comm, int nranks)
{
    const struct ar_arena *const s = piece->arena;
    int *const number = malloc((size_t)nranks * sizeof *number);
    bool is_found = number;
    for (int r = 0; is_found && r < nranks; r++)
        number[r] = r;
    if (is_found && s->members) {
        const struct ar_circle all = {.comm = comm, .n = nranks};
        struct ar_members *const members = ar_members_of(&all);
        is_found = ar_members_number(number, s->members, members);
        free(members);
    }
    for (int r = 0; is_found && r < nranks; r++)
        for (int d = 0; d < AR_DOMAINS; d++)
            domain[(size_t)d * (size_t)nranks + (size_t)r] =
                table_of(s)[(size_t)number[r] * AR_DOMAINS + (size_t)d];
    free(number);
    return is_found;
}

void
ar_piece_return(const struct ar_piece *piece)
{
    struct head *head = head_of(piece->arena, piece->index);
    if (!piece->arena->is_kept) {
        unlist(piece->arena);
        munmap(piece->arena->memory, piece->arena->bytes);
        free(piece->arena);
        return;
    }
    atomic_store_explicit(&head->sequence, piece->sequence, memory_order_relaxed);
    pthread_mutex_lock(&lock);
    piece->arena->used = ++uses;
    /* Pairs with the acquire in take().  From now on the arena may be closed. */
    atomic_fetch_sub_explicit(&head->users, 1, memory_order_release);
    bound(0, false);
    pthread_mutex_unlock(&lock);
}

void
ar_arenas_close(void)
{
    pthread_mutex_lock(&lock);
    for (struct ar_arena *s = arenas; s; s = s->next)
        s->is_open = false;
    pthread_mutex_unlock(&lock);
}
