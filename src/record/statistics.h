/* The statistics of this process: what was recorded of the calls on all communicators, gathered
 * from all ranks at the end and written where ALLREDUCE_STATS says.  ALLREDUCE_VERBOSE prints from
 * the same numbers.  Thread-safe.
 *
 * A layer below the communicators, which hand over their calls' records: it knows no more of them
 * than the recorder that it has lent them. */
#ifndef AR_STATISTICS_H
#define AR_STATISTICS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "config/config.h"
#include "record/record.h"

/* At the process's first allreduce: what its own settings (NULL: there are none) ask for. */
void ar_statistics_begin(const struct ar_config *config);

/* A recorder for the calls on comm, to be detached, if its configuration asks for one; NULL:
 * nothing is recorded.  config: NULL where comm agreed on none, and this process's own counts.
 * setup_ns: what the set-up of comm took until now. */
struct ar_recorder *ar_statistics_attach(const struct ar_config *config, MPI_Comm comm,
                                         uint64_t setup_ns);

/* Takes over the numbers of a recorder whose communicator is freed, and destroys it.  May be NULL.
 */
void ar_statistics_detach(struct ar_recorder *recorder);

/* The program has named comm, on which there may be no recorder; MPI_COMM_NULL: it may have named
 * any communicator, and none is freed meanwhile. */
void ar_statistics_rename(MPI_Comm comm);

/* Are numbers to be gathered when communicators are freed?  They are in programs without a world,
 * where we cannot see the end, and before one begins. */
bool ar_statistics_are_parted(void);

/* To be called in that case before comm is freed, if its configuration has a file for statistics.
 * Gathers and writes if none of its ranks had a larger communicator.  Collective over comm. */
void ar_statistics_part(MPI_Comm comm);

/* Counts a call that the MPI library took and that no communicator's state is concerned with.  With
 * MPI_COMM_NULL type, op and count are ignored: nothing is known of the message. */
void ar_statistics_count(enum ar_entry entry, const char *reason, MPI_Comm comm, MPI_Datatype type,
                         MPI_Op op, uint64_t count, const struct ar_caller *caller);

/* What came of verifying a call. */
enum ar_verified {
    AR_VERIFIED_RIGHT,
    AR_VERIFIED_BY_RANKS, /* the same bits on all ranks; nothing is known of other orders */
    AR_VERIFIED_USERS,    /* the same, but not the native ones, of an op that may round */
    AR_VERIFIED_WRONG,
    AR_VERIFIED_UNLIKE, /* not run: the ranks differ in the size of their message, or in the op */
    AR_VERIFIED_NOT,    /* for lack of memory, or of a way to compare */
    AR_VERIFIED_KINDS
};

/* Counts a call; how many of the kind were there before? */
unsigned long ar_verified_count(enum ar_verified kind);

/* Does this rank say at the end what calls were like?  Rank 0 does, and so does each that has
 * met only higher ranks on its communicators.  No rank knows whether rank 0 makes an allreduce
 * at all, and to ask the others could hang. */
bool ar_statistics_speaks(void);

/* Prints and writes, once.  is_together: collective over all ranks of the world; otherwise MPI may
 * have ended. */
void ar_statistics_end(bool is_together);

#endif
