/* Calls of a communicator try what may be faster, and the winner stays.  Each size (by powers of
 * two) and class of type has a search of its own (tuning/online.h), for whose verdicts the ranks
 * agree on times in one small allreduce.  With ALLREDUCE_TUNE=online all candidates are tried.
 * With rivals, the default, only the MPI library's own allreduce and the next best that formulas
 * propose are tried.  They are tried only where auto's choice is a prediction: by messages, and on
 * more ranks than it was measured on.  There they are not tried where ranks share cores, except
 * with crowded.
 *
 * What trials cost beyond the choice of the moment, and the agreeing, stays below a share of the
 * time in allreduce (ALLREDUCE_TUNE_OVERHEAD), but for what the last trial went over. */
#ifndef AR_TUNER_H
#define AR_TUNER_H

#include "communicator/communicator.h"

struct ar_decision;
struct ar_tuner;
struct ar_tuned;

/* Of a communicator that has none yet.  NULL without memory, of which the caller makes an error. */
struct ar_tuner *ar_tuner_create(const struct ar_communicator *c);
void ar_tuner_destroy(struct ar_tuner *tuner);

/* What the next call of count elements of r runs on a communicator with a tuner; NULL: what the
 * configuration says.  place is alike on all ranks.  In *tuned the search that it belongs to, or
 * NULL.  MPI_SUCCESS or MPI_ERR_NO_MEM in *error. */
const struct ar_pick *ar_tuner_pick(struct ar_communicator *c, MPI_Comm comm,
                                    struct ar_tuned **tuned, const struct ar_reduction *r,
                                    size_t count, enum ar_place place, int *error);

/* After d was decided by the configuration for a call of count elements of r: begins to compare it
 * with rivals if that is due, and then *tuned is the search.  MPI_SUCCESS or MPI_ERR_NO_MEM. */
int ar_tuner_doubt(struct ar_communicator *c, struct ar_tuned **tuned, const struct ar_decision *d,
                   const struct ar_reduction *r, size_t count);

/* Is no rival of the current choice on trial?  Otherwise the next call may run something else. */
bool ar_tuned_is_settled(const struct ar_tuned *tuned);

/* Counts a call to come; is its time wanted? */
bool ar_tuned_counts(struct ar_tuned *tuned);

/* Takes the time of a call whose time was wanted.  Collective at the end of a batch of calls.
 * MPI_SUCCESS or an error of MPI's. */
int ar_tuner_note(struct ar_communicator *c, MPI_Comm comm, struct ar_tuned *tuned, int64_t ns);

#endif
