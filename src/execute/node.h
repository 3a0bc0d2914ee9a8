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

#include "execute/wait.h"
#include "reduce/reduce.h"

struct ar_node; /* the memory of one communicator, mapped */

/* Maps memory that the nranks ranks of comm share, for chunks of up to chunk_bytes
 * (a multiple of 64; rank 0's counts): ar_node_memory_bytes in all.  Collective over comm.  NULL on
 * all ranks where any of them fails: ranks on several nodes, no or full /dev/shm.  Nothing is left
 * in /dev/shm whatever happens to the job after this.  *cpus: how many CPUs the ranks may use
 * together. */
struct ar_node *ar_node_create(MPI_Comm comm, int rank, int nranks, size_t chunk_bytes, int *cpus);
void ar_node_destroy(struct ar_node *node);

/* How many CPUs the ranks of comm, all on one node, may use together.  Collective. */
int ar_node_cpus(MPI_Comm comm, int rank);

size_t ar_node_memory_bytes(int nranks, size_t chunk_bytes);

/* What a run works on: count >= 1 elements; in may be out; comm is polled for
 * MPI's progress while waiting. */
struct ar_node_run {
    struct ar_node *node;
    const struct ar_reduction *reduction;
    const char *in;
    char *out;
    size_t count;
    MPI_Comm comm;
    struct ar_wait wait;
};

/* MPI_SUCCESS, or an error of PMPI_Reduce_local or of progressing MPI. */
int ar_node_allreduce(const struct ar_node_run *run);

#endif
