/* ALLREDUCE_TUNE=online: calls of a communicator try what may be faster, and the winner
 * stays.  Each size (by powers of two) and class of type has a search of its own
 * (tuning/online.h), for whose verdicts the ranks agree on times in one small allreduce.
 *
 * What trials cost beyond the choice of the moment, and the agreeing, stays below a share of the
 * time in allreduce (ALLREDUCE_TUNE_OVERHEAD), but for what the last trial went over. */
#ifndef AR_TUNER_H
#define AR_TUNER_H

#include "communicator/communicator.h"

struct ar_tuner;
struct ar_tuned;

/* Of a new communicator whose configuration asks for it; NULL without memory, of which the caller
 * makes an error. */
struct ar_tuner *ar_tuner_create(struct ar_communicator *c);
void ar_tuner_destroy(struct ar_tuner *tuner);

/* What the next call of count elements of r runs, and in *tuned the search that it belongs to; NULL
 * where the configuration names something.  MPI_SUCCESS or MPI_ERR_NO_MEM in *error. */
const struct ar_pick *ar_tuner_pick(struct ar_communicator *c, MPI_Comm comm,
                                    struct ar_tuned **tuned, const struct ar_reduction *r,
                                    size_t count, int *error);

/* May the next call run something else than this one? */
bool ar_tuned_is_settled(const struct ar_tuned *tuned);

/* Counts a call to come; is its time wanted? */
bool ar_tuned_counts(struct ar_tuned *tuned);

/* Takes the time of a call whose time was wanted.  Collective at the end of a batch of calls.
 * MPI_SUCCESS or an error of MPI's. */
int ar_tuner_note(struct ar_communicator *c, MPI_Comm comm, struct ar_tuned *tuned, int64_t ns);

#endif
