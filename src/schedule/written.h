/* A schedule that somebody wrote, for all ranks and any count: its steps name blocks, into which a
 * vector is cut when the schedule is emitted.  Pure. */
#ifndef AR_WRITTEN_H
#define AR_WRITTEN_H

#include <stdbool.h>
#include <stddef.h>

#include "schedule/schedule.h"

#define AR_WRITTEN_VERSION "allreduce-schedule 1" /* the first line */

#define AR_WRITTEN_NAME       64
#define AR_WRITTEN_RANKS_MAX  10000
#define AR_WRITTEN_BLOCKS_MAX 100000
#define AR_WRITTEN_STEPS_MAX  1000000            /* of all ranks together */
#define AR_WRITTEN_TEXT_MAX   ((size_t)64 << 20) /* bytes: for steps that are all written out */

/* The words of the kinds of steps, by enum ar_step_kind; NULL-terminated. */
extern const char *const ar_written_words[];

/* Blocks first .. first+n-1 of IN or OUT, or of those that a piece of TMP has room for. */
struct ar_written_region {
    enum ar_buffer buffer;
    int first, n;
    int piece;
};

struct ar_written_step {
    enum ar_step_kind kind;
    enum ar_order order;
    int peer;
    struct ar_written_region dst, a, b; /* those that the kind has; all of the same blocks */
    int line;                           /* of the file */
    bool ends_round;
};

struct ar_written_rank {
    struct ar_written_step *steps; /* owned */
    size_t n, room;
};

struct ar_written_piece {
    char name[AR_WRITTEN_NAME];
    int first, n;
};

struct ar_written {
    char name[AR_WRITTEN_NAME];
    int nranks, nblocks;
    struct ar_written_rank *ranks; /* owned */
    struct ar_written_piece *pieces;
    size_t npieces, pieces_room;
};

void ar_written_fini(struct ar_written *w);

/* Adds a step to those of the rank.  AR_OK, AR_ERR_MEMORY. */
int ar_written_append(struct ar_written *w, int rank, const struct ar_written_step *step);

/* Initialises s and emits rank's schedule for count elements.  On error s is finished. AR_ERR_STEP,
 * AR_ERR_MEMORY. */
int ar_written_emit(struct ar_schedule *s, const struct ar_written *w, int rank, size_t count);

#endif
