/* ALLREDUCE_TRACE: what the calls on all communicators did and when, noted while they run, gathered
 * from all ranks at the end and written by rank 0.  Thread-safe.
 *
 * A layer below the communicators, as statistics are. */
#ifndef AR_STATISTICS_TIMELINE_H
#define AR_STATISTICS_TIMELINE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "config/config.h"
#include "report/events.h"
#include "report/trace.h"

struct ar_timeline; /* of one communicator */

/* *made gets the timeline of comm, whose ranks agreed on config, if that asks for one and memory
 * lasts; else NULL.  Until now the set-up of comm has taken the time since since_ns.  Collective
 * over comm.  MPI_SUCCESS or an error of MPI's. */
int ar_timeline_attach(struct ar_timeline **made, const struct ar_config *config, MPI_Comm comm,
                       uint64_t since_ns);

/* The communicator is freed; what was noted is kept.  May be NULL. */
void ar_timeline_detach(struct ar_timeline *timeline);

/* A call arrives.  Returns the log for its events; NULL if they are not kept, and then the call
 * must neither leave nor be dropped. */
struct ar_events *ar_timeline_arrive(struct ar_timeline *timeline);

/* That call has left at left_ns. */
void ar_timeline_leave(struct ar_timeline *timeline, const struct ar_trace_kind *kind,
                       uint64_t bytes, uint64_t left_ns);

/* That call has failed: nothing of it is kept. */
void ar_timeline_drop(struct ar_timeline *timeline);

/* Writes, once.  is_together: collective over all ranks of the world; otherwise MPI may have ended,
 * and each rank writes its calls that have ended. */
void ar_timeline_end(bool is_together);

#endif
