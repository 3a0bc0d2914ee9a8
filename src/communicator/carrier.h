/* What is kept of groups of ranks: that they agree, where they are, and private communicators.  An
 * MPI library has some 2000 communicators per program, so we make only a few.  One serves all
 * communicators whose ranks are among its own, each with tags of its own. */
#ifndef AR_CARRIER_H
#define AR_CARRIER_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "execute/crowd.h"
#include "execute/wire.h"

struct ar_carrier;

/* A communicator's share of a carrier. */
struct ar_carriage {
    struct ar_carrier *carrier; /* NULL: nothing */
    struct ar_wire wire;
    int *rank_of;  /* of the wire; owned */
    int *node_of;  /* the node of each rank as MPI sees it, numbered by their first ranks; NULL
                      before there is a carrier.  Owned */
    bool is_apart; /* the ranks are known to be on several hosts, and so share no memory; alike on
                      all ranks */
    struct ar_crowd crowd; /* of the carrier's ranks on this node, when it was made */
    int on_host;           /* the carrier's ranks on this one's host, whose nodes may be containers;
                              0: unknown */
    int range; /* of tags that rank 0 assigned; -1: this is another rank, or there is none */
};

/* A range of tags that rank 0 of a communicator has taken for it: what it tells the others. */
struct ar_carriage_offer {
    uint64_t number; /* of the carrier; 0: none was found */
    int range;
    int leader; /* rank 0's number there */
};

/* By rank 0: takes tags of a carrier that has all the members; *offer has none otherwise. */
void ar_carriage_find(struct ar_carriage_offer *offer, const struct ar_members *members);

/* This rank's share, by an offer that has one.  MPI_SUCCESS, or MPI_ERR_NO_MEM on this rank alone.
 */
int ar_carriage_take(struct ar_carriage *carriage, const struct ar_carriage_offer *offer,
                     const struct ar_circle *all);

/* Gives all ranks of a communicator a carrier, a new one if need be; is_alike: they agree, as of
 * ar_group_is_alike.  Collective over it.  False, alike on all ranks, if MPI has no more
 * communicators, or if a rank has used its share of them; *error: MPI_SUCCESS, an error of MPI's,
 * or MPI_ERR_NO_MEM on this rank alone. */
bool ar_carriage_borrow(struct ar_carriage *carriage, const struct ar_circle *all, bool is_alike,
                        int *error);

/* Returns the share.  A carrier that is no longer usable is freed; mpi_lives: in MPI, too. */
void ar_carriage_return(struct ar_carriage *carriage, bool mpi_lives);

/* Does this process know that the members, some of whose communicators were compared, have the same
 * version and settings?  What counts is what a communicator's rank 0 knows. */
bool ar_group_is_alike(const struct ar_members *members);

/* They do.  Takes the members over, which may be NULL. */
void ar_group_note_alike(struct ar_members *members);

/* Do all ranks of a communicator that is no copy of the world know, each by itself, that they agree
 * and are on several nodes?  They do where a carrier is kept that has them all, and no thread of
 * any of its ranks calls MPI while another one does.  All of them made it together, before this
 * call.  *error: MPI_SUCCESS, or MPI_ERR_NO_MEM on this rank alone. */
bool ar_group_is_known_apart(const struct ar_circle *all, int *error);

/* Sets node_of to the first rank on each rank's node.  Collective over comm.  MPI_SUCCESS, an error
 * of MPI's, or MPI_ERR_NO_MEM: on all ranks, or on this rank alone once no rank waits for it. */
int ar_carrier_find_nodes(int *node_of, MPI_Comm comm, int rank, int nranks);

/* Frees the communicators of all carriers, while MPI can still be called. */
void ar_carriers_close(void);

#endif
