/* The trace: what every rank holds while the schedules run, symbolically, for
 * pictures and teaching.  Pure. */
#ifndef AR_HOLDINGS_H
#define AR_HOLDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schedule/schedule.h"
#include "schedule/unit_times.h"

#define AR_HOLDINGS_RANKS_MAX 64 /* whose contributions are told apart */

/* A partial result: which element of the vector it is about, and which ranks' contributions are in
 * it (bit r: rank r, of the first AR_HOLDINGS_RANKS_MAX). */
struct ar_cell {
    size_t element;
    uint64_t ranks;
};

struct ar_holder {
    struct ar_cell *memory[3]; /* by enum ar_buffer */
    size_t length[3];
    size_t round; /* the one it is in */
};

/* Time is counted in messages: each takes 1, all else nothing. */
struct ar_holdings {
    const struct ar_schedule *schedules; /* borrowed */
    int nranks;
    struct ar_unit_times timeline;
    size_t next; /* the first time at which nothing has run yet */
    struct ar_holder *holders;
    struct ar_cell *cells;     /* of all memories and payloads */
    struct ar_cell **payloads; /* by the timeline's step index; of sends that were posted */
    void (*ended)(void *context, int rank, size_t round); /* is told of each; NULL: nobody */
    void *context;
};

/* Time 0 of schedules that ar_check has proved.  AR_ERR_MEMORY.  On success the trace is the
 * caller's to fini. */
int ar_holdings_init(struct ar_holdings *trace, const struct ar_schedule *schedules, int nranks);
void ar_holdings_fini(struct ar_holdings *trace);

/* Runs every round that ends by this time. */
void ar_holdings_advance(struct ar_holdings *trace, size_t time);

/* Is the cell of use to the rank: will it be read, or is it part of the result? */
bool ar_holdings_is_live(const struct ar_holdings *trace, int rank, enum ar_buffer buffer,
                         size_t i);

/* What a send carries, step.a.length cells; its round must have been entered. */
const struct ar_cell *ar_holdings_payload(const struct ar_holdings *trace, int rank, size_t step);

#endif
