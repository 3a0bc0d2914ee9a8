/* The statistics of this process: what all communicators recorded, gathered from
 * all ranks at the end and written where ALLREDUCE_STATS says.  ALLREDUCE_VERBOSE
 * prints from the same numbers.  Thread-safe. */
#ifndef AR_STATISTICS_H
#define AR_STATISTICS_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "communicator/communicator.h"
#include "communicator/process.h"

/* At the process's first allreduce: what its own settings ask for.  world_rank: -1
 * where there is no world. */
void ar_statistics_begin(const struct ar_config *config, int world_rank);

/* Gives the new state of comm a recorder, if the configuration asks for one; the
 * making of the state took setup_ns. */
void ar_statistics_attach(struct ar_communicator *c, MPI_Comm comm, uint64_t setup_ns);

/* After a change of c's configuration. */
void ar_statistics_relabel(struct ar_communicator *c);

/* Are numbers to be gathered when communicators go?  In programs without a world, where no end is
 * to be seen. */
bool ar_statistics_are_parted(void);

/* Then: before comm goes, gathers and writes if it is the largest communicator that any of its
 * ranks had.  Collective over comm. */
void ar_statistics_part(MPI_Comm comm);

/* Takes over the numbers of a state that goes. */
void ar_statistics_detach(struct ar_communicator *c);

/* Labels a decision of a communicator that has a recorder. */
void ar_statistics_label(struct ar_communicator *c, struct ar_decision *d);

/* The record of a decision's calls with this type and op, on a communicator that
 * has a recorder; NULL without memory. */
struct ar_record *ar_statistics_record(struct ar_communicator *c, struct ar_decision *d,
                                       const struct ar_reduction *r);

/* The same of a communicator whose calls are always native; *bytes: of the message. */
struct ar_record *ar_statistics_native_record(struct ar_communicator *c, MPI_Datatype type,
                                              MPI_Op op, size_t count, uint64_t *bytes);

/* Counts a call that MPI took, and that no communicator's state has to do with. */
void ar_statistics_count(enum ar_entry entry, const char *reason);

/* The same of a message, whose size is counted too. */
void ar_statistics_count_message(enum ar_entry entry, const char *reason, MPI_Comm comm,
                                 MPI_Datatype type, MPI_Op op, uint64_t count);

/* Prints and writes, once; alone where MPI may have ended. */
void ar_statistics_end(enum ar_close how);

#endif
