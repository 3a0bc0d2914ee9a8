/* The figure: an allreduce as people draw it, round by round: blocks, arrows, and what every rank
 * holds.  Pure but for the printer's FILE.
 *
 * A block is a longest run of elements that no message splits: A, B, C, ... */
#ifndef AR_FIGURE_H
#define AR_FIGURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "schedule/holdings.h"
#include "schedule/schedule.h"

#define AR_CAPTION_ROOM 512

/* A short text of a picture; what is too long is cut. */
struct ar_caption {
    char at[AR_CAPTION_ROOM];
    size_t length;
};

/* The messages between two ranks that arrive together. */
struct ar_arrow {
    int from, to;
    bool reduces;            /* the receiver combines what it gets with its own */
    struct ar_caption label; /* the blocks: "A", "B-D", "2A" for two values of A */
};

/* A picture of one moment; fields are to be read alone. */
struct ar_figure {
    const struct ar_schedule *schedules; /* borrowed */
    int nranks;
    size_t count;
    struct ar_holdings trace;
    bool *starts;     /* does a block start at this element? count + 1 entries */
    size_t *block_of; /* of an element */
    size_t *first;    /* element of a block; nblocks + 1 entries */
    size_t nblocks;
    size_t *times;           /* scratch of a label: how often each block is sent */
    struct ar_arrow *arrows; /* of the round that ran last */
    size_t narrows;
};

/* Figures of nranks <= AR_HOLDINGS_RANKS_MAX schedules that ar_check has proved; rounds
 * are counted along the messages that wait for each other.  AR_ERR_PARAM beyond;
 * AR_ERR_MEMORY.  On success the figure stands before round 0 and is the caller's to
 * fini. */
int ar_figure_init(struct ar_figure *f, const struct ar_schedule *schedules, int nranks);
void ar_figure_fini(struct ar_figure *f);

/* The last round.  Round 0 is what ranks do at home before any message. */
size_t ar_figure_rounds(const struct ar_figure *f);

/* Runs one round; rounds run in their order. */
void ar_figure_run(struct ar_figure *f, size_t round);

/* Goes back to before round 0.  AR_ERR_MEMORY. */
int ar_figure_restart(struct ar_figure *f);

/* What rank holds of a block and still has use for: "013" over these ranks, "2/3" two
 * values, "0..3" for 0/1/2/3, "all", "." for nothing. */
struct ar_caption ar_figure_held(const struct ar_figure *f, int rank, size_t block);

/* Ranks in the largest partial result that rank holds of a block; 0: it holds none. */
int ar_figure_held_ranks(const struct ar_figure *f, int rank, size_t block);

/* What the rank did without a message in the round: '+' it reduced, '=' it copied,
 * '|' neither. */
char ar_figure_work(const struct ar_figure *f, int rank, size_t round);

/* Prints the figure in ASCII:
 *
 *            0      1      2
 *   round 1  |A--->+|B--->+|        rank 0 sends block A to rank 1, which combines it;
 *            |+<----------C|        without the +, the receiver stores what it gets
 *      A     .      01     2        what each rank holds of the block after the round:
 *      B     0      .      12       the ranks whose contributions are in it,
 *      C     02     1      .        all of them, or nothing of use any more (.)
 *
 * Several partial results of one block are parted by a slash, 0..3 stands for 0/1/2/3.  Lifelines
 * marked + or = reduce or copy at home.  2A: two values of A.  Errors of ar_figure_init; those of
 * the file stay in the file (ferror). */
int ar_figure_print(FILE *file, const struct ar_schedule *schedules, int nranks);

/* "C". */
void ar_caption_block(struct ar_caption *t, size_t block);

#endif
