/* The node executor: ranks of one node exchange through shared memory.
 *
 * Short messages: each rank writes its vector into its slot and combines all
 * slots.  Long ones go in chunks; each rank combines its slice of a chunk and
 * fetches the others' slices.  Either way element i is
 * x0 op (x1 op (x2 op ...)) over the ranks in order, whatever the message's size.
 */
#ifndef AR_NODE_H
#define AR_NODE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "execute/arena.h"
#include "execute/wait.h"
#include "reduce/reduce.h"

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

/* What is fastest in shared memory: every measured figure of the node executor.  The grammar
 * overrides them: shm(segment=...,whole=...). */
struct ar_node_tuning {
    size_t chunk_bytes; /* of a long message; a multiple of 64 */
    size_t whole_bytes; /* up to here every rank combines everything; above, its slice */
};

/* A chunk of the memory that a communicator takes for short messages alone: a program may have
 * thousands. */
#define AR_SHORT_CHUNK ((size_t)2048)

/* For nranks ranks on one node; is_crowded: they share cores. */
struct ar_node_tuning ar_node_tune(int nranks, bool is_crowded);

/* Bytes of one slot.  Each rank has four: slot t of rank i is number t * stride + i. */
size_t ar_node_slot_bytes(size_t chunk_bytes);

/* Does an element of r fit into the memory?  Alike on all ranks. */
bool ar_node_takes(const struct ar_node *node, const struct ar_reduction *r);

/* Do count elements fit at once, so that an op gets all of them in one call?  Alike on all
 * ranks. */
bool ar_node_takes_whole(const struct ar_node *node, const struct ar_reduction *r, size_t count);

/* Scratch that a run takes, in bytes: none for predefined types.  whole is how many elements the op
 * gets at once; 0 means as many as are fast. */
size_t ar_node_scratch_bytes(const struct ar_reduction *r, size_t whole);

/* What a run works on: count >= 1 elements; in may be out.  While a rank waits it polls comm, so
 * that MPI progresses. */
struct ar_node_run {
    struct ar_node *node;
    const struct ar_reduction *reduction;
    const char *in;
    char *out;
    char *scratch; /* ar_node_scratch_bytes, aligned as malloc's */
    size_t count;
    bool whole;         /* the op gets all of them in one call: ar_node_takes_whole, and
                           whole_bytes are enough */
    size_t segment;     /* elements of a chunk at most */
    size_t whole_bytes; /* up to here every rank combines everything; 0: what is fastest */
    MPI_Comm comm;
    struct ar_wait wait;
    uint64_t *waited_ticks; /* gets the time of polls in vain added; NULL: nobody asks */
};

/* Adds to each rank's marks AR_AWAITED_GIVING and _COMING where another thread's run waits for that
 * rank; see wait.h. */
void ar_node_awaited(const struct ar_node_run *run, unsigned char *marks);

/* MPI_SUCCESS, or an error of PMPI_Reduce_local or of progressing MPI. */
int ar_node_allreduce(const struct ar_node_run *run);

#endif
