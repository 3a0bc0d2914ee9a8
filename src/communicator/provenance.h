/* Where rules were tuned: a line in the rules file, "#! tuned: name=value; ...". */
#ifndef AR_PROVENANCE_H
#define AR_PROVENANCE_H

#include <stddef.h>

#define AR_PROVENANCE_TEXT 512

/* "mpi=...; cpu=...; ranks=...": what of this job makes rules good or bad.  Cut to room.  Needs an
 * initialised MPI. */
void ar_provenance_of_job(char *text, size_t room, int nranks);

/* Says on stderr, in a line, in what the job differs from tuned, a text of the same kind that may
 * have more in it; nothing where it does not. */
void ar_provenance_check(const char *tuned, int nranks);

#endif
