/* What the statistics say of each rank: where it ran, what it spent in allreduces, and how often it
 * came to one first, last, or late.  Pure. */
#ifndef AR_RANK_ROWS_H
#define AR_RANK_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "report/arrivals.h"

#define AR_HOST_TEXT 65 /* Linux has names of 64 characters */
#define AR_CPUS_TEXT 64

/* A plain block of memory: ranks send it to each other as bytes. */
struct ar_rank_row {
    int rank; /* in the world */
    char host[AR_HOST_TEXT];
    char cpus[AR_CPUS_TEXT]; /* that it was bound to at its first allreduce, as "0-3, 8" */
    uint64_t calls;
    uint64_t bytes; /* of the messages */
    uint64_t ns;
    uint64_t wait_ns; /* of algorithms of ours, as in struct ar_counts; UINT64_MAX: none ran */
    uint64_t setup_ns;
    uint64_t compared; /* of its calls: those in which its time was compared with all other ranks';
                          of these calls it was: */
    uint64_t first;
    uint64_t last;
    uint64_t late;    /* last, and awaited: see ar_arrival_is_late */
    uint64_t late_ns; /* how long the first rank awaited it in these calls */
};

/* In the order of ranks, each once. */
struct ar_rank_rows {
    struct ar_rank_row *rows;
    size_t n;
    size_t room;
};

/* Rows whose bytes are all zero are none. */
void ar_rank_rows_fini(struct ar_rank_rows *rows);

/* Adds the numbers to those of the same rank.  Returns its row, which stays where it is until the
 * next one is added; NULL without memory. */
struct ar_rank_row *ar_rank_rows_add(struct ar_rank_rows *rows, const struct ar_rank_row *row);

/* Counts who came first, last and late to the calls of all communicators that are complete. */
void ar_rank_rows_count(struct ar_rank_rows *rows, const struct ar_arrivals_list *list);

/* On how many hosts the ranks were. */
int ar_rank_rows_hosts(const struct ar_rank_rows *rows);

/* Copies the rows of the ranks that were late most often, at most room of them, in the order of
 * ranks.  Returns how many there are; none without memory. */
size_t ar_rank_rows_pick(const struct ar_rank_rows *rows, struct ar_rank_row *picked, size_t room);

#endif
