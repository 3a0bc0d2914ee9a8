/* Ranks of a node that read each other's buffers in place: their processes, and where their buffers
 * are in the current call. */
#ifndef AR_IN_PLACE_H
#define AR_IN_PLACE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "execute/peer_memory.h"
#include "schedule/schedule.h"

/* A rank's buffers in a call. */
struct ar_shown {
    struct ar_peer_place place[2]; /* of AR_IN, AR_OUT */
};

struct ar_in_place {
    const struct ar_peer_memory *memory;
    int rank, nranks;
    struct ar_peer **peer; /* owned; of each rank but this one */
    /* Of the current call: */
    struct ar_shown *shown; /* owned; by each rank except this one */
    char **mapped; /* owned; the first byte of each rank's buffers, by ar_in_place_at; NULL: not
                      mapped, as this rank's own */
    bool missed;   /* the last call went through slots: a rank could not show or map its buffers */
};

static inline int
ar_in_place_at(int rank, enum ar_buffer buffer)
{
    return 2 * rank + (buffer == AR_OUT);
}

/* Why *made is NULL, in the tables: "no XPMEM or shared memory on all ranks: through slots". */
extern const char ar_in_place_lacking[];

/* The nranks ranks of comm, all on one node, make their memory known to each other, by XPMEM or
 * else by their heaps.  Collective over comm.  MPI_SUCCESS, with *made NULL on all ranks if one of
 * them cannot or lacks memory; or an MPI error.  *retries, alike on all ranks: they may be able to
 * later, since a rank has no heap yet. */
int ar_in_place_create(struct ar_in_place **made, bool *retries, MPI_Comm comm, int rank,
                       int nranks);
void ar_in_place_destroy(struct ar_in_place *in_place);

/* What a rank sends to the others: its buffers, of this size in bytes each.  in may be out. */
struct ar_shown ar_in_place_show(const struct ar_in_place *in_place, const void *in,
                                 const void *out, size_t bytes);

/* Whether the rank has a place for each buffer. */
bool ar_in_place_is_shown(const struct ar_shown *shown);

/* Maps what all other ranks have shown; false if that fails.  Unmap must follow in both cases. */
bool ar_in_place_map(struct ar_in_place *in_place, size_t bytes);
void ar_in_place_unmap(struct ar_in_place *in_place);

/* To and from memory that the ranks share. */
static inline void
ar_shown_tell(void *to, const struct ar_shown *shown)
{
    memcpy(to, shown, sizeof *shown);
}

static inline void
ar_shown_learn(struct ar_shown *shown, const void *from)
{
    memcpy(shown, from, sizeof *shown);
}

#endif
