/* liballreduce: handwritten MPI_Allreduce algorithms under unmodified programs.
 *
 * Programs do not need this header: they preload the library.  It is for programs
 * that choose the algorithm themselves, and for tools that ask what is
 * loaded.  Link with what pkg-config --libs liballreduce prints, before the MPI library.
 */
#ifndef ALLREDUCE_H
#define ALLREDUCE_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* "1.0.0 (mpich)": the version of the library, and the ABI of this process's MPI library.  It is
 * "no engine" instead of an ABI if the library has no engine for that one: then no call is
 * intercepted, and allreduce_choose returns an error.  A static string. */
const char *allreduce_version(void);

/* Name of algorithm i = 0, 1, ... as in ALLREDUCE_ALGO; NULL past the last one, and without an
 * engine.  A static string. */
const char *allreduce_algorithm_name(unsigned i);

/* From now on these clauses, in the grammar of ALLREDUCE_ALGO (allreduce-rules(5)), choose
 * what runs on comm: "ring", "butterfly:0-8K;rhd".  The environment takes precedence:
 * they apply to calls that no clause of ALLREDUCE_ALGO matches.  Copies of comm by
 * MPI_Comm_dup inherit them; "" revokes them.
 *
 * Collective over comm; if ranks give different clauses, those of rank 0 apply.
 * Returns MPI_SUCCESS; MPI_ERR_ARG, on all ranks, if the clauses cannot be
 * understood (the reason is printed on stderr); MPI_ERR_COMM if comm is an
 * intercommunicator; or another MPI error class.  On errors nothing changes.
 * Calls no error handler.  A rank that has no memory for what the others wait for ends
 * the job, as in MPI_Allreduce. */
int allreduce_choose(MPI_Comm comm, const char *clauses);

/* What the last MPI_Allreduce on comm ran, in the grammar of ALLREDUCE_ALGO, or "native".
 * If reason is not NULL, *reason gets the reason, as explained in allreduce(7).  Returns
 * NULL if there was no such call, or if it had no elements or invalid arguments.  Not
 * collective.  Both texts are valid until this thread calls this function again. */
const char *allreduce_last(MPI_Comm comm, const char **reason);

#ifdef __cplusplus
}
#endif

#endif
