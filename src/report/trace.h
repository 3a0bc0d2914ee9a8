/* A timeline: the events of all ranks, and the file that is written of them, which is Chrome's
 * trace event format (JSON), read by Perfetto and chrome://tracing.  Pure. */
#ifndef AR_REPORT_TRACE_H
#define AR_REPORT_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "report/events.h"
#include "report/table.h"

/* A kind of call.  The event of a call has the number of its kind among those of the log.  Plain
 * memory, like the structs below: ranks send them as bytes. */
struct ar_trace_kind {
    char type[AR_NAME_TEXT];
    char op[AR_NAME_TEXT];
    char ran[AR_CHOICE_TEXT];
    char reason[AR_REASON_TEXT];
};

/* One rank's part of what was noted on one communicator. */
struct ar_trace_log {
    int id[2];  /* alike on its ranks, and on no other communicator */
    int rank;   /* in it */
    int nranks; /* of it */
    char name[AR_COMM_TEXT];
    uint64_t nkinds, nevents;
};

struct ar_trace_rank {
    int rank; /* in the job */
    char host[AR_HOST_TEXT];
    uint64_t nlogs;
    uint64_t lost;     /* calls for which there was no room */
    uint64_t error_ns; /* its times are true to this, against rank 0's; UINT64_MAX: not known */
};

/* Ranks one after the other, so their logs, and so the logs' kinds and events. */
struct ar_trace {
    const struct ar_trace_rank *ranks;
    size_t nranks;
    const struct ar_trace_log *logs;
    const struct ar_trace_kind *kinds;
    const struct ar_event *events;
};

/* Writes the trace; times in it begin with the first event.  An arrow is written where both its
 * ends are there.  False without memory; whether writing failed, ferror tells. */
bool ar_trace_write(FILE *to, const struct ar_trace *trace, const struct ar_run *run);

#endif
