/* A log of what one rank's calls on one communicator did and when, as the executors note it.  Its
 * memory comes out of an allowance that all logs of the process share.  One thread at a time notes.
 */
#ifndef AR_EVENTS_H
#define AR_EVENTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/clock.h"

enum ar_event_kind {
    AR_EVENT_CALL,    /* from its arrival to its return; step: what it was (report/trace.h) */
    AR_EVENT_SETUP,   /* of the communicator, or choosing what runs and preparing it */
    AR_EVENT_ROUND,   /* of a segment of the message; in shared memory steps of a chunk */
    AR_EVENT_WAIT,    /* polls in vain, until something came from the peer, or was taken by it */
    AR_EVENT_WORK,    /* combining and copying */
    AR_EVENT_SEND,    /* a message is handed to what carries it; step: in the schedule */
    AR_EVENT_RECEIVE, /* it has come; step: likewise */
    AR_EVENT_RAISE,   /* a flag in shared memory tells others that data is there; step: the flag */
    AR_EVENT_SEE      /* the peer's flag was seen; step: the flag */
};

/* A plain block of memory: ranks send it to each other as bytes. */
struct ar_event {
    uint64_t begin_ns, end_ns; /* of the monotonic clock */
    uint64_t bytes;
    uint32_t call; /* its number on the communicator, from 1 */
    uint32_t segment, round, step;
    int32_t peer;       /* rank in the communicator; -1: none, or any */
    uint16_t run;       /* which of the schedules that the call runs, from 1 */
    unsigned char kind; /* enum ar_event_kind */
    unsigned char lane; /* which of the segments in flight */
};

struct ar_events {
    struct ar_event *events; /* owned */
    size_t n, room;
    size_t call_begin;         /* which is the first of the call under way */
    atomic_size_t *left_bytes; /* the allowance */
    uint32_t call;             /* under way */
    uint16_t run;              /* the same; 0: none yet */
    uint64_t waiting_since_ns; /* 0: the last poll was not in vain */
    bool is_full;              /* something could not be noted: nothing more is */
};

/* Makes room for one more; false, and the log is full, where memory or allowance ran out. */
bool ar_events_grow(struct ar_events *log);

/* Takes bytes from the allowance; false where so many are not left. */
bool ar_events_afford(struct ar_events *log, size_t bytes);

/* Notes the event; the log knows call and run. */
static inline void
ar_events_note(struct ar_events *log, struct ar_event event)
{
    if (log->is_full || (log->n == log->room && !ar_events_grow(log)))
        return;
    event.call = log->call;
    event.run = log->run;
    log->events[log->n++] = event;
}

/* Notes work, as one with the event before where that is work at the same place. */
void ar_events_note_work(struct ar_events *log, const struct ar_event *work);

/* If this round of the segment has been noted for the schedule under way, extends it to the end of
 * this event; else false. */
bool ar_events_extend_round(struct ar_events *log, const struct ar_event *round);

/* A call begins, of which these are the events from now on. */
void ar_events_begin(struct ar_events *log, uint32_t call);

/* Of the call under way a schedule begins. */
void ar_events_run(struct ar_events *log);

/* Forgets the events of the call under way. */
void ar_events_drop(struct ar_events *log);

#endif
