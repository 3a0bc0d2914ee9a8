/* Accesses: a schedule as its rank runs it where all ranks share memory.  Pure.
 *
 * A rank has an area, which all ranks read and only it writes; two ranks may exchange their areas
 * from chunk to chunk (execute/node.c).  Whatever a round of the schedule sends, to one rank or to
 * many, is stored in the area once; then the round's flag is raised.  A receiver awaits that flag
 * and reads the data where they stand.  It combines them there, or loads them into its own buffers
 * if the schedule wants them in OUT or needs them in one piece.
 *
 * In place there are no areas: a receiver reads the sender's own buffers.  Only what is sent from
 * OUT and received into OUT is given: the sender stores it in the receiver's OUT.
 *
 * Nothing in an area is overwritten before the vector's next chunk, so a receive into TMP moves
 * nothing: TMP stands for the sender's area until the schedule writes there.
 */
#ifndef AR_ACCESSES_H
#define AR_ACCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schedule/schedule.h"

/* The bytes of a cache line, and the most bytes stored for a flag that still stand in the flag's
 * own line. */
#define AR_LINE_BYTES ((size_t)64)
#define AR_TINY_BYTES ((size_t)48)

/* A rank that awaits a flag asks for the lines of so many flags of its stage together, from that
 * one on, and for what they announce in the area where that is short enough (ar_ahead_bytes()).
 * Where a chunk is a whole call, a rank that has raised a flag for at most AR_SHORT_BYTES takes the
 * lines back that it will store to for that flag in the next call. */
#define AR_AHEAD_FLAGS 8
#define AR_SHORT_BYTES ((size_t)256)

/* Ranks that ask for lines which are still being written take them away from the writer, again and
 * again.  Measured with messages of 256 bytes (doc/measured/2026-11-26.md): asking for them
 * makes these take up to 1.9 times as long on 3 to 16 cores of a Xeon of 2023.  With two ranks
 * on an EPYC they take 0.9 times as long. */
static inline size_t
ar_ahead_bytes(int nranks)
{
    return nranks == 2 ? AR_SHORT_BYTES : AR_SHORT_BYTES / 2;
}

/* The flag of data that need none, such as those that are there before the schedule begins. */
#define AR_NO_FLAG (-1)

/* It is not known which element of the vector. */
#define AR_NO_ELEMENT SIZE_MAX

/* Which element of the vector is a region's first?  What stands in TMP is not followed. */
static inline size_t
ar_region_first(struct ar_region region)
{
    return region.buffer == AR_TMP ? AR_NO_ELEMENT : region.offset;
}

enum ar_access_kind {
    AR_ACCESS_STORE,  /* dst = a, where dst is in this rank's area */
    AR_ACCESS_RAISE,  /* raise dst's flag, this rank's own: all that was stored for it is there */
    AR_ACCESS_AWAIT,  /* await a's flag, another rank's */
    AR_ACCESS_LOAD,   /* dst = a, where a is in another rank's area or buffer */
    AR_ACCESS_GIVE,   /* dst = a, where dst is in another rank's buffer */
    AR_ACCESS_COPY,   /* dst = a, both this rank's own */
    AR_ACCESS_COMBINE /* dst = a op b; a and b may be another rank's, too */
};

/* Elements of one of the rank's buffers, or of an area. */
struct ar_access_place {
    bool is_shared;        /* in an area */
    bool is_peers;         /* in another rank's buffer: in place alone */
    enum ar_buffer buffer; /* where it is in no area */
    int rank;              /* whose area it is, or whose buffer if it is another rank's */
    int flag;              /* of the round that stored it there, numbered from 0; AR_NO_FLAG in
                              another's IN, which needs none, and where something is given */
    size_t begin;          /* in the area: where all that was stored for the flag begins */
    size_t length;         /* of all that was stored for the flag */
    size_t offset;         /* of the place: from begin in an area, from 0 in a buffer */
    size_t first;          /* element of the vector that is there, or comes there; AR_NO_ELEMENT */
};

struct ar_access {
    enum ar_access_kind kind;
    size_t length; /* elements */
    struct ar_access_place dst, a, b;
    size_t first; /* element of the vector; 0: RAISE, AWAIT */
};

/* What one rank does.  Stage 0 stores what the first round sends; stage i + 1 does the rest of
 * round i and stores what round i + 1 sends. */
struct ar_accesses {
    int rank;
    int nranks;
    struct ar_access *all; /* owned */
    size_t n;
    size_t *stage_end; /* owned; stage i is all[stage_end[i-1]] to before all[stage_end[i]] */
    size_t nstages;
    size_t tmp_begin, tmp_end; /* what is used of TMP */
    /* Of each access it is known which elements of the vector it moves or combines.  Since an
     * element depends only on the same element of other ranks, the accesses of a shorter vector are
     * these without the elements behind its end. */
    bool can_end_early;
    /* Of all ranks: */
    size_t area_length; /* elements of the largest area */
    int nflags;         /* most of a rank */
    /* Chunks may overlap: in each round each rank awaits all that read what it stored for that
     * round, and reads what it awaits in that round alone. */
    bool meets_readers;
    size_t nmet; /* then the rounds, >= 1, after which each rank knows that all have begun */
};

/* The chunk that begins in a tick, where chunks overlap; SIZE_MAX, a number that no chunk has, if
 * none does.  In each tick a rank runs stage j of the chunk that began at tick - j, for all j.  A
 * chunk begins one tick after the one before.  Only the third waits until the first one's nmet
 * rounds are done, since it overwrites what others may still read of an earlier call
 * (execute/node.c). */
size_t ar_accesses_chunk_at(size_t tick, size_t nmet);

/* Emits the schedule of a rank into *s, which has not been initialised.  AR_OK, and the caller
 * finishes it; else an error, and nothing is left to finish. */
typedef int ar_schedule_source(void *context, struct ar_schedule *s, int rank);

/* Translates the schedule of rank; those of all nranks are asked for, once each.  What is stored
 * for a flag begins at a multiple of as many elements of element_bytes (>= 1) as a cache line has,
 * so that no line has two flags' elements.  AR_OK; an error of the source; AR_ERR_MEMORY;
 * AR_ERR_PROOF where a receive meets no send. */
int ar_accesses_init(struct ar_accesses *accesses, int rank, int nranks, size_t element_bytes,
                     ar_schedule_source *source, void *context);

/* The same for ranks that can read each other's IN and OUT, and write OUT.  No area is used.  All
 * ranks have met before, so that what is sent from IN needs no flag.  They meet again before any of
 * them returns to its program, so that what is given in the last round needs none.
 *
 * The schedule must not overwrite what it sends from OUT, or from IN where that is OUT, before it
 * has received something that shows that the receivers have read it.  A receiver must be done with
 * the region of OUT that it is given before the sender could combine it.  shm meets both
 * conditions, flat and in groups (test/mpi/test_protocol.c proves it up to 9 ranks).  AR_ERR_STEP
 * where something of TMP is sent; AR_ERR_PROOF where a send meets no receive. */
int ar_accesses_init_in_place(struct ar_accesses *accesses, int rank, int nranks,
                              ar_schedule_source *source, void *context);

/* A meeting of all ranks, as there is one before a call in place and one after it.  The rank
 * raises its first flag and awaits those of all others, the next rank's first.  AR_OK;
 * AR_ERR_MEMORY. */
int ar_accesses_init_meeting(struct ar_accesses *accesses, int rank, int nranks);
void ar_accesses_fini(struct ar_accesses *accesses);

#endif
