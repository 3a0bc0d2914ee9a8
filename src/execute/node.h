/* The node executor: ranks that share memory run a schedule by loads and stores.
 *
 * Each rank has a slot, which all read and it alone writes: it stores there what the schedule
 * sends, and raises a flag for each round.  What others send is awaited and read in their slots:
 * see schedule/accesses.h.  Ranks that can map each other's memory may read their buffers in place
 * instead.  A long vector goes in chunks, each by a schedule of its own.
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
    bool is_crowded;    /* ranks share cores; alike on all ranks */
    size_t whole_bytes; /* what is fastest, unless a run says otherwise */
    uint64_t sequence;  /* of the last chunk */
    uint64_t awaited;   /* what this rank waits for, once it has waited long; see node.c */
    bool failed;        /* a call ended with an error: the ranks' sequences may differ */
    struct ar_piece piece;
};

/* Which memory; that of one kind is used again by later communicators. */
struct ar_node_size {
    int kind;
    size_t chunk_bytes; /* a multiple of 64; rank 0's counts */
    int spare;          /* pieces for further communicators, made along with this one's */
    int neighbours;     /* ranks of the whole job on the node, where known; rank 0's counts */
};

/* Borrows memory that the nranks ranks of comm share.  Collective over comm.  False, alike on all
 * ranks, where ar_piece_borrow fails. */
bool ar_node_init(struct ar_node *node, MPI_Comm comm, int rank, int nranks,
                  struct ar_node_size size);
void ar_node_fini(struct ar_node *node);

/* A chunk of the memory that a communicator takes for short messages alone: a program may have
 * thousands. */
#define AR_SHORT_CHUNK ((size_t)2048)

/* Bytes; AR_USUAL_CACHE where the system does not say. */
size_t ar_second_level_cache(void);

/* What is fastest here: see ar_shm_tune. */
struct ar_shm_tuning ar_node_tune(int nranks, bool is_crowded);

/* Bytes of one slot.  Each rank has four: slot t of rank i is number t * stride + i. */
size_t ar_node_slot_bytes(size_t chunk_bytes);

struct ar_in_place;
struct ar_node_plan;

/* Does an element of r fit into the memory?  Alike on all ranks. */
bool ar_node_takes(const struct ar_node *node, const struct ar_reduction *r);

/* Do count elements fit at once, so that an op gets all of them in one call?  Alike on all
 * ranks. */
bool ar_node_takes_whole(const struct ar_node *node, const struct ar_reduction *r, size_t count);

/* What a run works on; in may be out.  While a rank waits it polls comm, so that MPI progresses. */
struct ar_node_run {
    struct ar_node *node;
    const struct ar_node_plan *plan;
    struct ar_in_place *in_place;         /* of a plan that can run in place; else NULL */
    const struct ar_reduction *reduction; /* laid out as the plan's; any op */
    const char *in;
    char *out;
    char *scratch; /* ar_node_plan_scratch_bytes, aligned to 64 */
    MPI_Comm comm;
    struct ar_wait wait;
    uint64_t *waited_ticks;   /* gets the time of polls in vain added; NULL: nobody asks */
    struct ar_events *events; /* notes what the run does; NULL: nobody asks */
};

/* Adds to each rank's marks AR_AWAITED_GIVING and _COMING where another thread's run waits for that
 * rank; see wait.h. */
void ar_node_awaited(const struct ar_node_run *run, unsigned char *marks);

/* In place where every rank can show its buffers in this call and map those of all others; else all
 * ranks go through the slots.  MPI_SUCCESS, or an error of PMPI_Reduce_local or of progressing MPI.
 */
int ar_node_allreduce(const struct ar_node_run *run);

#endif
