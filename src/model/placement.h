/* Placements: which ranks share a node.  Pure.
 *
 *   HxR, HxR,block    H nodes of R ranks each; ranks 0 to R-1 are on the first node
 *   HxR,cyclic        rank r is on node r modulo H
 *   a host file       a line for each rank in the order of ranks, or for each rank by its number:
 *                       HOST            as hostname prints it, and as Slurm's SLURM_HOSTFILE has it
 *                       HOST:N          the next N ranks
 *                       HOST slots=N    likewise, as in Open MPI's host files
 *                       node[01-04,7]   several hosts, as Slurm writes them, each with its ranks
 *                       rank N=HOST     as Open MPI's rank files have it; what follows is ignored
 *                     what host files say of limits, binding and interfaces is passed over;
 *                     '#' begins a comment; nodes may have any number of ranks, in any order
 */
#ifndef AR_PLACEMENT_H
#define AR_PLACEMENT_H

#include <stdbool.h>

#include "select/words.h"

#define AR_PLACEMENT_RANKS_MAX 65536

/* What a shape may be, for messages. */
#define AR_PLACEMENT_SHAPE "H nodes of R ranks each, such as 2x4, 2x4,block or 2x4,cyclic"

struct ar_placement {
    int nranks;
    int *node_of; /* of each rank, as in struct ar_params; owned; NULL: unknown */
    int nnodes;
    int most; /* ranks on one node */
};

/* Is the text meant as HxR rather than as the name of a file?  It begins with a number and an x. */
bool ar_placement_is_shape(const char *text);

/* Reads HxR with what may follow.  AR_OK, and the placement is the caller's to fini; AR_ERR_SYNTAX,
 * and why tells what is wrong and what is allowed; AR_ERR_MEMORY. */
int ar_placement_parse_shape(struct ar_placement *placement, const char *text, struct ar_text *why);

/* The same for the text of a host file; why begins with the line. */
int ar_placement_parse_hosts(struct ar_placement *placement, const char *text, struct ar_text *why);

void ar_placement_fini(struct ar_placement *placement);

/* Numbers nodes by their first ranks, as struct ar_params wants them: node_of has the first rank of
 * each rank's node, and gets its number. */
void ar_placement_number(int *node_of, int nranks);

/* Who may be the ranks of the placement where ranks have nodes already, by real_node_of: player[r]
 * gets a real rank for rank r, so that ranks share a real node just where they share one of the
 * placement.  AR_OK; AR_ERR_PARAM: the nodes have other sizes; AR_ERR_MEMORY. */
int ar_placement_seat(int *player, const struct ar_placement *placement, const int *real_node_of);

#define AR_PLACEMENT_TEXT 256

/* Prints "6 ranks on 3 nodes (0 1 | 2 3 | 4 5)" into text, which it returns; nnodes 0: unknown. The
 * ranks of each node stand there if they are few and the placement has them on several. */
char *ar_placement_print(const struct ar_placement *placement, int nranks, int nnodes,
                         char text[AR_PLACEMENT_TEXT]);

#endif
