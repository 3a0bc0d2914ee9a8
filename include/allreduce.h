/* liballreduce: handwritten MPI_Allreduce algorithms under unmodified programs.
 *
 * Programs need nothing of this header: they preload the library.  It is for those
 * that would rather choose themselves, and for tools that want to know what is
 * loaded.  Link with what pkg-config --libs liballreduce says, before the MPI library.
 */
#ifndef ALLREDUCE_H
#define ALLREDUCE_H

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* "0.1.0 (mpich)": version of the library, and whose ABI the MPI library of this process has, or
 * "no engine" where the library has none for it: then no call is taken, and allreduce_choose
 * returns an error.  A static string. */
const char *allreduce_version(void);

/* Name of algorithm i = 0, 1, ... as ALLREDUCE_ALGO takes it; NULL past the last, and without
 * engine. A static string. */
const char *allreduce_algorithm_name(unsigned i);

/* From now on these clauses, in the grammar of ALLREDUCE_ALGO (allreduce(7)), choose
 * what runs on comm: "ring", "butterfly:0-8K;rhd".  The environment comes first: they
 * are asked where ALLREDUCE_ALGO says nothing.  Copies of comm by MPI_Comm_dup inherit
 * them; "" takes them back.
 *
 * Collective over comm; where ranks give different clauses, those of rank 0 count.
 * Returns MPI_SUCCESS; MPI_ERR_ARG, on all ranks, where the clauses cannot be
 * understood, having said why on stderr; MPI_ERR_COMM where comm is an
 * intercommunicator; or another error class of MPI's.  On errors all is as before.
 * Calls no error handler. */
int allreduce_choose(MPI_Comm comm, const char *clauses);

/* What the last MPI_Allreduce on comm ran, as ALLREDUCE_ALGO writes it, or "native";
 * *reason, if reason is not NULL, gets why, as allreduce(7) explains it.  NULL where
 * there was none, or it had no elements or bad arguments.  Not collective.  The text is
 * this thread's until it calls this function again; the reason is a static string. */
const char *allreduce_last(MPI_Comm comm, const char **reason);

#ifdef __cplusplus
}
#endif

#endif
