/* Private communicators.  An MPI library has some 2000 communicators per program, so we make only a
 * few: one serves all communicators whose ranks are among its own, each with tags of its own. */
#ifndef AR_CARRIER_H
#define AR_CARRIER_H

#include <mpi.h>
#include <stdbool.h>

#include "execute/wire.h"

struct ar_carrier;

/* A communicator's share of a carrier. */
struct ar_carriage {
    struct ar_carrier *carrier; /* NULL: nothing */
    struct ar_wire wire;
    int *rank_of; /* of the wire; owned */
    int *node_of; /* the node of each rank as MPI sees it, numbered by their first ranks; NULL
                     before there is a carrier.  Owned */
    int on_host;  /* ranks on this one's host, whose nodes may be containers: those of the carrier,
                     and so maybe more than the communicator's; 0: unknown */
    int range;    /* of tags that rank 0 assigned; -1: this is another rank, or there is none */
};

/* Gives the nranks ranks of comm a carrier, a new one if need be.  Collective over comm.  False,
 * alike on all ranks, if MPI has no more communicators, or if a rank has used its share of them;
 * *error: MPI_SUCCESS, an error of MPI's, or MPI_ERR_NO_MEM on this rank alone. */
bool ar_carriage_borrow(struct ar_carriage *carriage, MPI_Comm comm, int rank, int nranks,
                        int *error);

/* Does this process know, by a carrier that it keeps, that comm's nranks ranks are on several
 * hosts, and so share no memory?  False, too, if memory runs out. */
bool ar_carriers_are_apart(MPI_Comm comm, int nranks);

/* Returns the share.  A carrier that is no longer usable is freed; mpi_lives: in MPI, too. */
void ar_carriage_return(struct ar_carriage *carriage, bool mpi_lives);

/* A communicator of the ranks of comm on this rank's node, in the same order: comm itself if it
 * has one node, otherwise a quiet one for the caller to free.  Collective over comm; MPI_COMM_NULL,
 * alike on a node's ranks, if MPI has none left. */
MPI_Comm ar_carriage_node(const struct ar_carriage *carriage, MPI_Comm comm, int rank, int nranks);

/* Sets node_of to the first rank on each rank's node.  Collective over comm.  MPI_SUCCESS, an error
 * of MPI's, or MPI_ERR_NO_MEM: on all ranks, or on this rank alone once no rank waits for it. */
int ar_carrier_find_nodes(int *node_of, MPI_Comm comm, int rank, int nranks);

/* Frees the communicators of all carriers, while MPI can still be called. */
void ar_carriers_close(void);

#endif
