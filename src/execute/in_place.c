#include "execute/in_place.h"

#include <stdlib.h>

#include "execute/group.h"

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

int
ar_in_place_create(struct ar_in_place **made, const struct ar_peer_memory *memory, MPI_Comm comm,
                   int rank, int nranks)
{
    const size_t n = (size_t)nranks;
    struct ar_peer_card own = {{0}}, *const cards = malloc(n * sizeof *cards);
    struct ar_in_place *p = malloc(sizeof *p);
    int error = MPI_SUCCESS;
    if (p)
        *p = (struct ar_in_place){.memory = memory,
                                  .rank = rank,
                                  .nranks = nranks,
                                  .peer = calloc(n, sizeof(struct ar_peer *)),
                                  .shown = calloc(n, sizeof(struct ar_shown)),
                                  .mapped = calloc(2 * n, sizeof(char *))};
    const bool has_room = cards && p && p->peer && p->shown && p->mapped;
    bool all = ar_all(comm, has_room && memory->introduce(&own));
    if (all) {
        error =
            PMPI_Allgather(&own, (int)sizeof own, MPI_BYTE, cards, (int)sizeof own, MPI_BYTE, comm);
        all = ar_all(comm, !error && meet_all(p, cards));
    }
    free(cards);
    if (!all) {
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
            in_place->memory->leave(in_place->peer[i]);
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
