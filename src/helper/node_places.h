/* Where the ranks of a measurement are, by --nodes. */
#ifndef AR_NODE_PLACES_H
#define AR_NODE_PLACES_H

#include <mpi.h>
#include <stdbool.h>

#include "model/placement.h"

struct ar_node_places {
    const char *text;              /* as it was given; NULL: the ranks are where they are */
    struct ar_placement placement; /* of no node_of where text is NULL; owned */
    bool is_assumed; /* the ranks share one node, and are taken for ranks of several */
};

/* Reads text, which rank 0 does, and sees whether the ranks of MPI_COMM_WORLD can play it: they are
 * on one node, on which other nodes are assumed, or on nodes of the same sizes.  *comm gets them in
 * its order, for the caller to free.  Collective.  An enum ar_exit, having said why; *comm and
 * *places are the caller's where it is AR_EXIT_DONE. */
int ar_node_places_take(struct ar_node_places *places, const char *text, const char *command,
                        MPI_Comm *comm);
void ar_node_places_fini(struct ar_node_places *places);

/* The same for programs: "assumed" or "real"; "" where the ranks are where they are. */
const char *ar_node_places_are(const struct ar_node_places *places);

#define AR_NODE_PLACES_TEXT 512

/* What is to be said beside times: where the ranks are, and what is assumed.  Returns text. */
char *ar_node_places_describe(const struct ar_node_places *places, char text[AR_NODE_PLACES_TEXT]);

#endif
