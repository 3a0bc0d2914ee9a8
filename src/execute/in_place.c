#include "execute/in_place.h"

#include <stdlib.h>

#include "execute/group.h"
#include "execute/heap_memory.h"
#include "execute/xpmem.h"

/* What maps more comes first. */
static const struct ar_peer_memory *const providers[] = {&ar_xpmem, &ar_heap_memory};
enum { PROVIDERS = sizeof providers / sizeof providers[0] };

const char ar_in_place_lacking[] = "no XPMEM or shared memory on all ranks: through slots";

/* Meets the processes of the cards, but for this rank's own. */
static bool
meet_all(struct ar_in_place *made, const struct ar_peer_card *cards)
{
    bool met = true;
    for (int i = 0; i < made->nranks && met; i++) {
        if (i == made->rank)
            continue;
        made->peer[i] = made->memory->meet(&cards[i]);
        met = made->peer[i];
    }
    return met;
}

static struct ar_in_place *
allocate(int rank, int nranks)
{
    const size_t n = (size_t)nranks;
    struct ar_in_place *const p = malloc(sizeof *p);
    if (!p)
        return NULL;
    *p = (struct ar_in_place){.rank = rank,
                              .nranks = nranks,
                              .peer = calloc(n, sizeof(struct ar_peer *)),
                              .shown = calloc(n, sizeof(struct ar_shown)),
                              .mapped = calloc(2 * n, sizeof(char *))};
    if (p->peer && p->shown && p->mapped)
        return p;
    ar_in_place_destroy(p);
    return NULL;
}

static void
leave_all(struct ar_in_place *p)
{
    for (int i = 0; i < p->nranks; i++) {
        if (p->peer[i])
            p->memory->leave(p->peer[i]);
        p->peer[i] = NULL;
    }
}

/* The ranks meet by this provider; *met, alike on all of them: do they?  cards has room. */
static int
meet_by(struct ar_in_place *p, bool *met, const struct ar_peer_memory *memory,
        const struct ar_peer_card *own, struct ar_peer_card *cards, MPI_Comm comm)
{
    const int bytes = (int)sizeof *own;
    p->memory = memory;
    const int error = PMPI_Allgather(own, bytes, MPI_BYTE, cards, bytes, MPI_BYTE, comm);
    *met = ar_all(comm, !error && meet_all(p, cards));
    if (!*met)
        leave_all(p);
    return error;
}

int
ar_in_place_create(struct ar_in_place **made, bool *retries, MPI_Comm comm, int rank, int nranks)
{
    struct ar_peer_card own[PROVIDERS] = {{{0}}};
    struct ar_peer_card *const cards = malloc((size_t)nranks * sizeof *cards);
    struct ar_in_place *p = allocate(rank, nranks);
    unsigned can = 0; /* a bit for each provider */
    bool met = false;
    for (int i = 0; i < PROVIDERS && p && cards; i++)
        can |= providers[i]->introduce(&own[i]) ? 1U << i : 0;
    int error = ar_reduce_all(&can, 1, MPI_UNSIGNED, MPI_BAND, comm);
    *retries = can == 0;
    for (int i = 0; i < PROVIDERS && !met && !error; i++)
        if (can >> i & 1)
            error = meet_by(p, &met, providers[i], &own[i], cards, comm);
    free(cards);
    if (error || !met) {
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
    if (in_place->peer)
        leave_all(in_place);
    free(in_place->peer);
    free(in_place->shown);
    free(in_place->mapped);
    free(in_place);
}

struct ar_shown
ar_in_place_show(const struct ar_in_place *in_place, const void *in, const void *out, size_t bytes)
{
    return (struct ar_shown){
        {in_place->memory->show(in, bytes), in_place->memory->show(out, bytes)}};
}

bool
ar_in_place_is_shown(const struct ar_shown *shown)
{
    return shown->place[0].word[0] && shown->place[1].word[0];
}

bool
ar_in_place_map(struct ar_in_place *in_place, size_t bytes)
{
    bool all = true;
    for (int i = 0; i < 2 * in_place->nranks && all; i++) {
        const int rank = i / 2;
        if (rank == in_place->rank)
            continue;
        in_place->mapped[i] =
            in_place->memory->map(in_place->peer[rank], &in_place->shown[rank].place[i % 2], bytes);
        all = in_place->mapped[i];
    }
    return all;
}

void
ar_in_place_unmap(struct ar_in_place *in_place)
{
    for (int i = 0; i < 2 * in_place->nranks; i++) {
        if (in_place->mapped[i])
            in_place->memory->unmap(in_place->peer[i / 2], in_place->mapped[i]);
        in_place->mapped[i] = NULL;
    }
}
