/* Agreement between the ranks of a communicator.  Ranks with different environments must not choose
 * differently, which would cause a deadlock.  So they compare their configuration once, and if they
 * differ that of rank 0 applies. */
#ifndef AR_AGREE_H
#define AR_AGREE_H

#include <stddef.h>

#include "communicator/communicator.h"
#include "communicator/transport.h"

/* The number changes whenever the messages between ranks change, in set-up or in calls. */
#define AR_PROTOCOL "33"

/* What rank 0 knows: the ranks have the same configuration and version; one of them also has a
 * runtime for accelerators; and rank 0 has no XPMEM. */
enum { AR_ALIKE = 1, AR_ALIKE_WITH_DEVICES = 2, AR_LACKS_XPMEM = 4 };

/* What rank 0 tells the others first. */
struct ar_beginning {
    unsigned char known; /* of these bits */
    struct ar_engine_offer offer;
};

/* All of it but the rules; the same in every version, or ranks of two could not find out that they
 * differ. */
#define AR_BEGINNING_BYTES 128
_Static_assert(offsetof(struct ar_beginning, offer.rules) <= AR_BEGINNING_BYTES, "it has no room");
_Static_assert(AR_BEGINNING_BYTES <= sizeof(struct ar_beginning), "there is as much");

/* The first exchange on comm: a broadcast, and one more of the rules, if rank 0 has some.  Rank 0
 * has taken what it offers.  r and count: of the call before which it is done, or NULL.  Collective
 * over comm.  MPI_SUCCESS or an MPI error. */
int ar_agree_to_begin(struct ar_beginning *beginning, struct ar_communicator *c, MPI_Comm comm,
                      const struct ar_reduction *r, size_t count);

/* Agrees on the configuration: c->config and, if ranks differ, c->agreement.own_config (rank 0's);
 * and on whether any rank has a runtime for accelerators (devices.h). Collective over comm.  A
 * configuration that does not parse ends the job here.  known: by ar_agree_to_begin.  MPI_SUCCESS,
 * an error of MPI's, or MPI_ERR_NO_MEM on this rank alone. */
int ar_agree_at_start(struct ar_communicator *c, MPI_Comm comm, struct ar_config *mine,
                      unsigned char known);

/* Agrees on a configuration that the program changed: if ranks differ, *config becomes rank 0's
 * and the previous one is destroyed.  Collective over comm.  MPI_SUCCESS, an error of MPI's, or
 * MPI_ERR_NO_MEM on this rank alone. */
int ar_agree_on(struct ar_communicator *c, MPI_Comm comm, struct ar_config **config);

/* Waits for n requests that may take long, as schedules do: the awaited rank may need this core.
 * Each rank decides for itself how it waits.  MPI_SUCCESS or an error of MPI's. */
int ar_complete(struct ar_wait wait, int n, MPI_Request *requests);

/* All ranks get rank 0's bytes, and wait for them like ar_complete.  Collective over comm.
 * MPI_SUCCESS or an error of MPI's. */
int ar_broadcast(struct ar_wait wait, MPI_Comm comm, void *data, int bytes);

/* The same for a text, which is malloced or NULL on rank 0, and NULL on the others.  Also
 * MPI_ERR_NO_MEM, on this rank alone. */
int ar_broadcast_text(const struct ar_communicator *c, MPI_Comm comm, char **text);

#endif
