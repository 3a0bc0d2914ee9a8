/* The node executor: ranks that share memory run a schedule by loads and stores.
 *
 * Each rank has a slot, which all ranks read and only it writes, unless two ranks exchange theirs
 * (node.c).  It stores there what the schedule sends, and raises a flag for each round.  It waits
 * for what others send, and reads it in their slots: see schedule/accesses.h.  Ranks that can map
 * each other's memory may read their buffers in place instead.  A long vector is cut into chunks,
 * each with a schedule of its own.
 */
#ifndef AR_NODE_H
#define AR_NODE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "algorithms/registry.h"
#include "execute/arena.h"
#include "execute/wait.h"
#include "reduce/reduce.h"
#include "report/events.h"

/* The memory of one communicator. */
struct ar_node {
    int rank;
    int nranks;
    size_t chunk_bytes;
    size_t exchanged_bytes;      /* two ranks exchange their areas in chunks of so many; 0: never */
    bool is_crowded;             /* ranks share cores; alike on all ranks */
    struct ar_shm_tuning tuning; /* what is fastest, unless a run says otherwise */
    uint64_t sequence;           /* of the last chunk */
    unsigned turned;  /* a bit for each turn: the next chunk there that is exchanged has its areas
                         with the other rank's slots */
    uint64_t awaited; /* what this rank waits for, after a long wait; see node_slots.h */
    bool failed;      /* a call ended with an error: the ranks' sequences may differ */
    struct ar_piece piece;
};

/* Which memory.  Memory of one kind is reused by later communicators. */
struct ar_node_size {
    int kind;
    size_t chunk_bytes; /* a multiple of 64; rank 0's applies */
    int spare;          /* pieces for further communicators, made along with this one's */
};

/* Borrows memory that the nranks ranks of comm share.  Collective over comm.  False, alike on all
 * ranks, if ar_piece_borrow fails. */
bool ar_node_init(struct ar_node *node, MPI_Comm comm, int rank, int nranks,
                  struct ar_node_size size);

/* The same with a piece that was offered.  Not collective. */
void ar_node_take(struct ar_node *node, int rank, int nranks, const struct ar_piece_offer *offer);
void ar_node_fini(struct ar_node *node);

/* The chunk of the memory that a communicator takes for short messages only, because a program may
 * have thousands of communicators. */
#define AR_SHORT_CHUNK ((size_t)2048)

/* Bytes of the second-level cache; AR_USUAL_CACHE if the system does not report them. */
size_t ar_second_level_cache(void);

/* Bytes of the third-level cache of the first core on which this thread may run; 0: there is none,
 * or the system does not tell. */
size_t ar_third_level_cache(void);

/* The fastest figures on this machine: see ar_shm_tune. */
struct ar_shm_tuning ar_node_tune(int nranks, bool is_crowded);

/* Bytes of one slot.  Each rank has four: slot t of rank i is number t * stride + i. */
size_t ar_node_slot_bytes(size_t chunk_bytes);

struct ar_in_place;
struct ar_node_plan;

/* Whether an element of r fits into the memory.  Alike on all ranks. */
bool ar_node_takes(const struct ar_node *node, const struct ar_reduction *r);

/* Whether count elements fit at once, so that an op gets all of them in one call.  Alike on all
 * ranks. */
bool ar_node_takes_whole(const struct ar_node *node, const struct ar_reduction *r, size_t count);

/* The operands of a run; in may be out.  A waiting rank polls comm, so that MPI progresses. */
struct ar_node_run {
    struct ar_node *node;
    struct ar_node_plan *plan;
    size_t count;                         /* the plan's, or less if it can end early; >= 1 */
    struct ar_in_place *in_place;         /* if the plan can run in place; else NULL */
    bool tries_ways;                      /* then whichever way is the fastest */
    const struct ar_reduction *reduction; /* laid out as the plan's; any op */
    const char *in;
    char *out;
    char *scratch; /* ar_node_plan_scratch_bytes, aligned to 64 */
    MPI_Comm comm;
    struct ar_wait wait;
    uint64_t *waited_ticks;   /* the time of unsuccessful polls is added here; or NULL */
    struct ar_events *events; /* records what the run does; or NULL */
};

/* Adds AR_AWAITED_GIVING and _COMING to the marks of each rank for which another thread's run
 * waits; see wait.h. */
void ar_node_awaited(const struct ar_node_run *run, unsigned char *marks);

/* Runs in place if every rank can share its buffers in this call and map those of all others;
 * otherwise all ranks go through the slots.  A run that tries ways may do so all the same.
 * MPI_SUCCESS, or an error of PMPI_Reduce_local or of MPI's progress. */
int ar_node_allreduce(const struct ar_node_run *run);

#endif
