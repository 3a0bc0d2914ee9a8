/* Ranks of a node that read each other's buffers in place: their processes, and where their buffers
 * are in the current call. */
#ifndef AR_IN_PLACE_H
#define AR_IN_PLACE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "execute/trial.h"
#include "execute/xpmem.h"
#include "schedule/schedule.h"

/* What a rank tells at a meeting. */
struct ar_shown {
    uint64_t at[2]; /* the addresses of its IN and OUT; 0: they cannot be shared */
    uint64_t knows; /* which agreements it offers, and the fastest way of each */
};

/* The buffers of all ranks in a call. */
struct ar_agreement {
    bool is_made; /* all ranks have mapped all of them */
    size_t bytes;
    struct ar_trial trial; /* of calls with these buffers */
    struct ar_shown mine;
    struct ar_shown *shown; /* owned; by each rank except this one */
    char **mapped; /* owned; the first byte of each rank's buffers, by ar_in_place_at; NULL: not
                      mapped, as this rank's own */
};

/* Buffers that a program uses again are neither mapped nor asked for again.  All ranks keep the
 * same two agreements, at the same numbers, since each call succeeds on all or on none; and each
 * has room for that of the current call. */
#define AR_AGREEMENTS 3

/* What a rank knows: a bit for each agreement that it offers, and the fastest way of each in two
 * bits, from this one on.  That of rank 0 counts. */
#define AR_BEST_BIT AR_AGREEMENTS
_Static_assert(AR_TRIAL_WAYS <= 4 && AR_BEST_BIT + 2 * AR_AGREEMENTS <= 64, "all has room");

struct ar_in_place {
    int rank, nranks;
    struct ar_xpmem_peer **peer; /* owned; of each rank but this one */
    struct ar_agreement agreements[AR_AGREEMENTS];
    unsigned next; /* the agreement that is not made: room for that of the current call */
    /* Of the current call: */
    uint64_t common;     /* a bit for each agreement that all ranks offer */
    uint64_t in_use;     /* and for each of which something may be mapped */
    uint64_t best;       /* what rank 0 has told of the fastest ways */
    int agreed;          /* the agreement whose buffers the call uses again; -1: none */
    char *const *mapped; /* what the call uses: of an agreement */
    /* Why the last call went through slots.  missed: a rank could not show or map its buffers.
     * yielded: slots were on trial, or known to be the fastest way. */
    bool missed, yielded;
    /* All ranks know that the next `settled` calls of settled_count elements go through slots. */
    unsigned settled;
    size_t settled_count;
    unsigned settled_way; /* AR_WAY_SLOTS or AR_WAY_STREAMED */
    int last_agreed;      /* of the call before, if it met */
};

static inline int
ar_in_place_at(int rank, enum ar_buffer buffer)
{
    return 2 * rank + (buffer == AR_OUT);
}

/* Why *made is NULL, in the tables: "no XPMEM on all ranks: through slots". */
extern const char ar_in_place_lacking[];

/* The nranks ranks of comm, all on one node, make their memory known to each other.  Collective
 * over comm.  MPI_SUCCESS, with *made NULL on all ranks if one of them cannot or lacks memory; or
 * an MPI error. */
int ar_in_place_create(struct ar_in_place **made, MPI_Comm comm, int rank, int nranks);
void ar_in_place_destroy(struct ar_in_place *in_place);

/* For nranks ranks that have not met yet.  NULL without memory. */
struct ar_in_place *ar_in_place_allocate(int rank, int nranks);

/* Begins a call: what a rank tells the others, namely its buffers, of this size in bytes each, and
 * which agreements it offers.  in may be out.  Unmap must follow. */
struct ar_shown ar_in_place_show(struct ar_in_place *p, const void *in, const void *out,
                                 size_t bytes);

/* Takes what a rank tells.  False if it has no place for a buffer. */
bool ar_in_place_learn(struct ar_in_place *p, int rank, const struct ar_shown *told);

/* All ranks have told: whether they all offered the same agreement; then it is used. */
bool ar_in_place_is_agreed(struct ar_in_place *p);

/* The trial of the buffers that the call uses again, and the way that is best for them; NULL: they
 * are new. */
struct ar_trial *ar_in_place_trial(struct ar_in_place *p);
unsigned ar_in_place_best(const struct ar_in_place *p);

/* A call of count elements goes this way.  goes_on: it is the fastest way, and through slots, so
 * the next calls of as many elements go it, too, without meeting about their buffers.  Then calls
 * meet again, until two in a row have the same buffers and the next row begins.  So buffers that
 * take turns are not left out.  All ranks know the same, since they have gone the same ways. */
void ar_in_place_settle(struct ar_in_place *p, bool goes_on, unsigned way, size_t count);

/* A call of count elements that tries ways begins: does it go settled_way, without meeting? */
bool ar_in_place_skips_meeting(struct ar_in_place *p, size_t count);

/* Maps what all other ranks have shown; false if that fails. */
bool ar_in_place_map(struct ar_in_place *p, size_t bytes);

/* Keeps the agreement, so that later calls find it: all ranks have mapped what the others have
 * shown, and this rank has shown mine. */
void ar_in_place_agree(struct ar_in_place *p, const struct ar_shown *mine, size_t bytes);
void ar_in_place_unmap(struct ar_in_place *p);

/* To and from memory that the ranks share. */
static inline void
ar_shown_tell(void *to, const struct ar_shown *shown)
{
    memcpy(to, shown, sizeof *shown);
}

static inline struct ar_shown
ar_shown_read(const void *from)
{
    struct ar_shown shown;
    memcpy(&shown, from, sizeof shown);
    return shown;
}

#endif
