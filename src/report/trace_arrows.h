/* Which event of one rank brought about which event of another: the arrows of a timeline.  Pure. */
#ifndef AR_TRACE_ARROWS_H
#define AR_TRACE_ARROWS_H

#include "report/trace.h"

/* Where an event is. */
struct ar_trace_place {
    const struct ar_event *event;
    const struct ar_trace_log *log;
    const struct ar_trace_rank *rank;
    const struct ar_trace_kind *kinds; /* the log's */
    size_t log_number;                 /* among the rank's own */
};

/* Calls visit with each event, in the order of ranks and logs. */
void ar_trace_walk(const struct ar_trace *trace,
                   void (*visit)(void *state, const struct ar_trace_place *place), void *state);

struct ar_trace_arrow {
    struct ar_trace_place from, to;
};

/* The arrows, *n of them, for the caller to free: from where a message was sent to where it was
 * received, and from where a flag was raised to where it was seen.  An end without another end has
 * no arrow.  NULL without memory.
 *
 * Messages of a lane between two ranks match in the order of posting, as MPI matches them.  On
 * either side that is the order of segment, round and step. */
struct ar_trace_arrow *ar_trace_arrows(const struct ar_trace *trace, size_t *n);

#endif
