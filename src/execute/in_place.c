#include "execute/in_place.h"

#include <stdlib.h>

#include "execute/group.h"

const char ar_in_place_lacking[] = "no XPMEM on all ranks: through slots";

/* Meets the processes of the cards, but for this rank's own. */
static bool
meet_all(struct ar_in_place *made, const struct ar_xpmem_card *cards)
{
    bool met = true;
    for (int i = 0; i < made->nranks && met; i++) {
        if (i == made->rank)
            continue;
        made->peer[i] = ar_xpmem_meet(&cards[i]);
        met = made->peer[i];
    }
    return met;
}

struct ar_in_place *
ar_in_place_allocate(int rank, int nranks)
{
    const size_t n = (size_t)nranks;
    struct ar_in_place *const p = malloc(sizeof *p);
    if (!p)
        return NULL;
    *p = (struct ar_in_place){
        .rank = rank, .nranks = nranks, .peer = calloc(n, sizeof(struct ar_xpmem_peer *))};
    bool has_room = p->peer;
    for (int i = 0; i < AR_AGREEMENTS; i++) {
        struct ar_agreement *const a = &p->agreements[i];
        a->shown = calloc(n, sizeof(struct ar_shown));
        a->mapped = calloc(2 * n, sizeof(char *));
        has_room = has_room && a->shown && a->mapped;
    }
    if (has_room)
        return p;
    ar_in_place_destroy(p);
    return NULL;
}

int
ar_in_place_create(struct ar_in_place **made, MPI_Comm comm, int rank, int nranks)
{
    struct ar_xpmem_card own = {0};
    struct ar_xpmem_card *const cards = malloc((size_t)nranks * sizeof *cards);
    struct ar_in_place *p = ar_in_place_allocate(rank, nranks);
    const int bytes = (int)sizeof own;
    bool have_met = false;
    int can = ar_xpmem_introduce(&own) && p && cards;
    int error = ar_reduce_all(&can, 1, MPI_INT, MPI_LAND, comm);
    if (!error && can) {
        error = PMPI_Allgather(&own, bytes, MPI_BYTE, cards, bytes, MPI_BYTE, comm);
        have_met = ar_all(comm, !error && meet_all(p, cards));
    }
    free(cards);
    if (!have_met) {
        ar_in_place_destroy(p);
        p = NULL;
    }
    *made = p;
    return error;
}

void
ar_in_place_destroy(struct ar_in_place *in_place)
{
    if (!in_place)
        return;
    for (int i = 0; in_place->peer && i < in_place->nranks; i++)
        if (in_place->peer[i])
            ar_xpmem_leave(in_place->peer[i]);
    free(in_place->peer);
    for (int i = 0; i < AR_AGREEMENTS; i++) {
        free(in_place->agreements[i].shown);
        free(in_place->agreements[i].mapped);
    }
    free(in_place);
}

/* --- a call --- */

/* Maps the buffers of all other ranks; false if that fails. */
static bool
map_all(const struct ar_in_place *p, const struct ar_agreement *a, size_t bytes, bool attaches)
{
    bool all = true;
    for (int i = 0; i < 2 * p->nranks && all; i++) {
        const int rank = i / 2;
        if (rank == p->rank)
            continue;
        a->mapped[i] = ar_xpmem_map(p->peer[rank], a->shown[rank].at[i % 2], bytes, attaches);
        all = a->mapped[i];
    }
    return all;
}

static void
unmap_all(const struct ar_in_place *p, const struct ar_agreement *a)
{
    for (int i = 0; i < 2 * p->nranks; i++) {
        if (a->mapped[i])
            ar_xpmem_unmap(p->peer[i / 2], a->mapped[i]);
        a->mapped[i] = NULL;
    }
}

/* Are the buffers the same? */
static bool
are_alike(const struct ar_shown *a, const struct ar_shown *b)
{
    return a->at[0] == b->at[0] && a->at[1] == b->at[1];
}

/* A bit for each agreement that was made with the same buffers of this rank, and for which the
 * others' buffers are still mapped here. */
static uint64_t
offer(const struct ar_in_place *p, const struct ar_shown *mine, size_t bytes)
{
    uint64_t offered = 0;
    for (int i = 0; i < AR_AGREEMENTS; i++) {
        const struct ar_agreement *const a = &p->agreements[i];
        if (!a->is_made || a->bytes != bytes || !are_alike(&a->mine, mine))
            continue;
        if (map_all(p, a, bytes, false))
            offered |= UINT64_C(1) << i;
        else
            unmap_all(p, a);
    }
    return offered;
}

static bool
is_shown(const struct ar_shown *shown)
{
    return shown->at[0] && shown->at[1];
}

/* The fastest way of each agreement, in two bits. */
static uint64_t
fastest_ways(const struct ar_in_place *p)
{
    uint64_t ways = 0;
    for (int i = 0; i < AR_AGREEMENTS; i++)
        ways |= (uint64_t)p->agreements[i].trial.best << 2 * i;
    return ways;
}

struct ar_shown
ar_in_place_show(struct ar_in_place *p, const void *in, const void *out, size_t bytes)
{
    struct ar_shown mine = {{ar_xpmem_show(in, bytes), ar_xpmem_show(out, bytes)}, 0};
    p->agreed = -1;
    p->common = p->in_use = is_shown(&mine) ? offer(p, &mine, bytes) : 0;
    mine.knows = p->in_use | fastest_ways(p) << AR_BEST_BIT;
    return mine;
}

bool
ar_in_place_learn(struct ar_in_place *p, int rank, const struct ar_shown *told)
{
    p->common &= told->knows;
    if (rank == 0)
        p->best = told->knows >> AR_BEST_BIT;
    /* A rank that could not map takes its own back; what was mapped of it is yet to be unmapped. */
    if (rank != p->rank && is_shown(told))
        p->agreements[p->next].shown[rank] = *told;
    return is_shown(told);
}

bool
ar_in_place_is_agreed(struct ar_in_place *p)
{
    int i = 0;
    const uint64_t common = p->common & ((UINT64_C(1) << AR_AGREEMENTS) - 1);
    if (!common)
        return false;
    while (!(common >> i & 1))
        i++;
    p->agreed = i;
    p->mapped = p->agreements[i].mapped;
    return true;
}

struct ar_trial *
ar_in_place_trial(struct ar_in_place *p)
{
    return p->agreed >= 0 ? &p->agreements[p->agreed].trial : NULL;
}

unsigned
ar_in_place_best(const struct ar_in_place *p)
{
    return (unsigned)(p->best >> 2 * p->agreed & 3);
}

#define SETTLED_CALLS 7

void
ar_in_place_settle(struct ar_in_place *p, bool goes_on, unsigned way, size_t count)
{
    p->settled = goes_on && p->agreed == p->last_agreed ? SETTLED_CALLS : 0;
    p->settled_way = way;
    p->settled_count = count;
    p->last_agreed = p->agreed;
}

bool
ar_in_place_skips_meeting(struct ar_in_place *p, size_t count)
{
    const bool is = p->settled > 0 && p->settled_count == count;
    p->settled -= is;
    p->last_agreed = is ? -1 : p->last_agreed;
    return is;
}

bool
ar_in_place_map(struct ar_in_place *p, size_t bytes)
{
    const struct ar_agreement *const a = &p->agreements[p->next];
    p->mapped = a->mapped;
    p->in_use |= UINT64_C(1) << p->next;
    return map_all(p, a, bytes, true);
}

void
ar_in_place_agree(struct ar_in_place *p, const struct ar_shown *mine, size_t bytes)
{
    struct ar_agreement *const a = &p->agreements[p->next];
    a->is_made = true;
    a->trial = (struct ar_trial){.is_long = bytes >= AR_TRIAL_LONG};
    a->bytes = bytes;
    a->mine = *mine;
    p->next = (p->next + 1) % AR_AGREEMENTS;
    p->agreements[p->next].is_made = false;
}

void
ar_in_place_unmap(struct ar_in_place *p)
{
    for (int i = 0; p->in_use >> i; i++)
        if (p->in_use >> i & 1)
            unmap_all(p, &p->agreements[i]);
    p->in_use = 0;
    p->mapped = NULL;
}
