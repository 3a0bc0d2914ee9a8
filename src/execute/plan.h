/* A plan: an algorithm's schedule for one communicator, count and type, cut
 * into segments, with all the memory that running it needs, except for the scratch memory. */
#ifndef AR_PLAN_H
#define AR_PLAN_H

#include <mpi.h>
#include <stddef.h>

#include "algorithms/registry.h"
#include "execute/channel.h"
#include "execute/stores.h"
#include "reduce/reduce.h"
#include "schedule/schedule.h"

/* A schedule, and when each of its steps folds: see schedule/folding.h. */
struct ar_routine {
    struct ar_schedule schedule;
    unsigned char *folding; /* enum ar_folding of each step */
};

/* One segment in flight. */
struct ar_instance {
    const struct ar_routine *routine;
    size_t segment;    /* number of the segment */
    size_t round;      /* the round under way */
    int posted;        /* requests of this round */
    int pending;       /* of them, not complete */
    uint64_t begun_ns; /* when the round began, if events are recorded */
};

struct ar_plan {
    struct ar_routine full; /* of a whole segment */
    struct ar_routine tail; /* of the last segment if it is shorter */
    size_t count;
    size_t segment; /* elements per segment */
    size_t nsegments;
    int window;       /* segments in flight; instance i runs segments i, i + window, ... */
    int messages;     /* most in a round, at least 1 */
    size_t tmp_bytes; /* of an instance: TMP, then what recv_reduce receives */
    size_t instance_bytes;
    struct ar_instance *instances; /* window of them */
    int moving;                    /* transfers under way */
    int requested;                 /* requests under way */
    MPI_Request *requests;         /* messages for each instance; MPI_REQUEST_NULL if unused */
    struct ar_transfer *transfers; /* as many: instead of requests, on a channel */
    int *completed;                /* room for as many indices into either */
    MPI_Status *statuses;          /* of as many requests that have completed */
    struct ar_stores stores;       /* of what goes through a channel; at first it never streams */
};

/* Makes the plan of rank for count (>= 1) elements of r, of size >= 1.  A segment is as long as
 * params say, but short enough (at least one element) that the scratch memory of all segments in
 * flight fits into scratch_bytes.  Gaps between the elements of a derived type are not counted.
 * Segments depend only on the size of r, so that they are alike on ranks whose types differ in
 * extent.  At most `most` segments (>= 1) are in flight, on which their length does not depend.
 * AR_OK; AR_ERR_MEMORY; AR_ERR_STEP (a bug of the algorithm). */
int ar_plan_create(struct ar_plan **made, const struct ar_algorithm *algorithm,
                   const struct ar_params *params, int rank, int nranks, size_t count,
                   const struct ar_reduction *r, size_t scratch_bytes, int most);
void ar_plan_destroy(struct ar_plan *plan);

/* Scratch memory that running the plan needs, in bytes. */
size_t ar_plan_scratch_bytes(const struct ar_plan *plan);

/* Does the plan send anything that can go past the caches, if it goes through a channel? */
bool ar_plan_can_stream(const struct ar_plan *plan, const struct ar_reduction *r);

/* What the plan itself occupies, in bytes. */
size_t ar_plan_memory_bytes(const struct ar_plan *plan);

#endif
