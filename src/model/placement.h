/* Placements: which ranks share a node.  Pure.
 *
 *   HxR, HxR,block    H nodes of R ranks each; ranks 0 to R-1 are on the first node
 *   HxR,cyclic        rank r is on node r modulo H
 *   a host file       a line for each rank, in the order of ranks:
 *                       HOST            as hostname prints it, and as Slurm's SLURM_HOSTFILE has it
 *                       HOST:N          as N such lines; likewise HOST slots=N
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

#define AR_PLACEMENT_TEXT 256

/* Prints "6 ranks on 3 nodes (0 1 | 2 3 | 4 5)" into text, which it returns; nnodes 0: unknown. The
 * ranks of each node stand there if they are few and the placement has them on several. */
char *ar_placement_print(const struct ar_placement *placement, int nranks, int nnodes,
                         char text[AR_PLACEMENT_TEXT]);

#endif
