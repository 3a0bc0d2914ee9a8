/* Messages between ranks of a node through shared memory.  The point-to-point executor uses them
 * instead of PMPI_Isend and PMPI_Irecv if it can.
 *
 * AR_CHANNEL_QUEUES queues of a few cells each lead from every rank to every other.  A queue
 * carries messages in order, cut into cells.  Messages need no header, because both ends know their
 * lengths.
 */
#ifndef AR_CHANNEL_H
#define AR_CHANNEL_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "execute/arena.h"
#include "reduce/reduce.h"
#include "schedule/schedule.h"

/* Messages have tags from 0 to this, exclusively. */
#define AR_CHANNEL_QUEUES 4

/* What this rank knows of the two queues of one tag between it and another rank. */
struct ar_queue_end {
    uint64_t sent, taken; /* cells so far, by this rank */
    unsigned sends_begun, sends_ended;
    unsigned receives_begun, receives_ended;
};

struct ar_channel {
    int rank;
    int nranks;
    size_t cell_bytes;
    struct ar_piece piece;
    struct ar_queue_end *ends; /* for each tag, for each rank; owned */
    unsigned polls;
    bool streams; /* what is sent goes past the caches: of the run under way */
    bool failed;  /* a call ended with an error: messages may be left in the queues */
};

enum ar_transfer_kind { AR_TRANSFER_NONE, AR_TRANSFER_SEND, AR_TRANSFER_RECEIVE, AR_TRANSFER_FOLD };

/* A message under way: zeroed, then begun, then polled until it is NONE again. */
struct ar_transfer {
    enum ar_transfer_kind kind;
    enum ar_order order; /* of a fold */
    int peer;
    int tag;
    unsigned turn;    /* among the messages of its queue */
    const char *from; /* of a send; of a fold: the operand to combine with what arrives */
    char *to;         /* of a receive, or a fold */
    size_t length;    /* elements */
    size_t done;
};

/* Whether nranks ranks can have a channel; the memory of the queues is limited. */
bool ar_channel_serves(int nranks);

/* Size of the slot that holds a queue, if its cells are of this size, a multiple of 64. */
size_t ar_channel_slot_bytes(size_t cell_bytes);

/* Makes the channel of the circle's ranks.  Collective over it.  False, alike on all ranks, if
 * ar_piece_borrow fails or a rank lacks memory. */
bool ar_channel_init(struct ar_channel *channel, const struct ar_circle *circle, int kind);
void ar_channel_fini(struct ar_channel *channel);

/* Whether elements of r fit.  Alike on all ranks. */
bool ar_channel_takes(const struct ar_channel *channel, const struct ar_reduction *r);

/* Begins the message that the fields kind .. length describe. */
void ar_channel_begin(struct ar_channel *channel, struct ar_transfer *transfer);

/* dst = local op received, or the other way round. */
static inline int
ar_fold(const struct ar_reduction *r, enum ar_order order, char *dst, char *local, char *received,
        size_t count)
{
    return order == AR_LOCAL_FIRST ? ar_reduction_apply(r, dst, local, received, count)
                                   : ar_reduction_apply(r, dst, received, local, count);
}

/* Moves what can be moved of n transfers of r.  Like PMPI_Testsome, it returns in completed the
 * indices of those that ended, and in *found their number.  It also progresses MPI on comm.
 * MPI_SUCCESS, or an error of the reduction or of MPI. */
int ar_channel_poll(struct ar_channel *channel, const struct ar_reduction *r,
                    struct ar_transfer *transfers, int n, MPI_Comm comm, int *found,
                    int *completed);

#endif
