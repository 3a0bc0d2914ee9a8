/* Which ranks share a node.  Pure.  Without an index of the map it is searched, so that every
 * function here takes O(nranks).  Whoever asks more than a few times, or on behalf of several
 * ranks, makes an index; ar_algorithm_emit makes one for the rank that it emits for. */
#ifndef AR_NODES_H
#define AR_NODES_H

#include <stdbool.h>

#include "algorithms/phases.h"
#include "algorithms/registry.h"

/* How many nodes a map has, as in struct ar_params, of nranks entries. */
int ar_nodes_count(const int *node_of, int nranks);

/* Do the ranks of each node of a map follow each other? */
bool ar_nodes_are_blocks(const int *node_of, int nranks);

/* The map by node.  All arrays are owned. */
struct ar_node_index {
    int count;       /* of nodes */
    int least;       /* ranks of the smallest */
    int most;        /* ranks of the largest */
    int *first;      /* in ranks, of each node; count + 1 entries */
    int *ranks;      /* of node after node, each node's in order */
    int *local_rank; /* of each rank */
};

/* AR_OK, and the index is the caller's to fini; AR_ERR_MEMORY. */
int ar_node_index_init(struct ar_node_index *index, const int *node_of, int nranks);
void ar_node_index_fini(struct ar_node_index *index);

struct ar_nodes {
    const int *node_of;                /* as in struct ar_params; borrowed; NULL: all on node 0 */
    const struct ar_node_index *index; /* of node_of; borrowed; NULL: none */
    int nranks;
    int count;      /* of nodes */
    int mine;       /* node of the emitting rank */
    int local_rank; /* ranks of that node before this one */
    int local_size; /* ranks of that node */
};

struct ar_nodes ar_nodes_make(int rank, int nranks, const struct ar_params *params);

/* Ranks of each node if all nodes have equally many, else 0. */
int ar_nodes_even(const struct ar_nodes *nodes);

/* Ranks of the smallest node, and of the largest. */
void ar_nodes_sizes(const struct ar_nodes *nodes, int *least, int *most);
int ar_nodes_least(const struct ar_nodes *nodes);

/* Rank i of a node, 0 <= i < ranks of the node. */
int ar_nodes_rank(const struct ar_nodes *nodes, int node, int i);

/* The ring of all ranks, in their order or node after node, each node's in order.  Only as many
 * messages as there are nodes then go from one node to another, wherever the ranks are. */
struct ar_loop ar_nodes_ring(int rank, int nranks, const struct ar_params *params);

/* The ranks of this rank's node; member 0 is its leader. */
struct ar_group ar_nodes_local(const struct ar_nodes *nodes);

/* The ranks of all nodes that have this rank's local_rank, which every node has: of a leader, the
 * leaders. */
struct ar_group ar_nodes_lane(const struct ar_nodes *nodes);

/* Emits the reduction of the vectors of a node's ranks to member 0, its leader, along a binomial
 * tree or all at once.  Returns where the contribution is from then on. */
enum ar_buffer ar_nodes_reduce(struct ar_schedule *s, const struct ar_group *local,
                               enum ar_intra intra);

/* Emits the broadcast of the leader's OUT to the OUT of its node's ranks, the same way back. */
void ar_nodes_broadcast(struct ar_schedule *s, const struct ar_group *local, enum ar_intra intra);

#endif
