/* Which ranks share a node.  Pure: the map is searched, never copied, so that
 * every function here takes O(nranks) and no memory. */
#ifndef AR_NODES_H
#define AR_NODES_H

#include "algorithms/phases.h"

struct ar_nodes {
    const int *node_of; /* as in struct ar_params; borrowed; NULL: all on node 0 */
    int nranks;
    int count;      /* of nodes */
    int mine;       /* node of the emitting rank */
    int local_rank; /* ranks of that node before this one */
    int local_size; /* ranks of that node */
};

struct ar_nodes ar_nodes_make(int rank, int nranks, const int *node_of);

/* Ranks of each node if all nodes have equally many, else 0. */
int ar_nodes_even(const struct ar_nodes *nodes);

/* Ranks of the smallest node. */
int ar_nodes_least(const struct ar_nodes *nodes);

/* Rank i of a node, 0 <= i < ranks of the node. */
int ar_nodes_rank(const struct ar_nodes *nodes, int node, int i);

/* Number of rank among the ranks of its node. */
int ar_nodes_local_rank(const struct ar_nodes *nodes, int rank);

/* The ranks of this rank's node; member 0 is its leader. */
struct ar_group ar_nodes_local(const struct ar_nodes *nodes);

/* The leaders of all nodes.  Only for a leader: local_rank is 0. */
struct ar_group ar_nodes_leaders(const struct ar_nodes *nodes);

/* The ranks of all nodes that have this rank's local_rank; every node has such a rank. */
struct ar_group ar_nodes_lane(const struct ar_nodes *nodes);

#endif
