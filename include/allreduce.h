/* liballreduce: handwritten MPI_Allreduce algorithms under unmodified programs.
 *
 * Programs need nothing of this header: they preload the library.  It is for
 * tools that want to know what is loaded.  No function here calls MPI.
 */
#ifndef ALLREDUCE_H
#define ALLREDUCE_H

#ifdef __cplusplus
extern "C" {
#endif

/* "0.1.0 (mpich)": version of the library and the MPI family it was built for.
 * A static string. */
const char *allreduce_version(void);

/* Name of algorithm i = 0, 1, ... as ALLREDUCE_ALGO takes it; NULL past the last.
 * A static string. */
const char *allreduce_algorithm_name(unsigned i);

#ifdef __cplusplus
}
#endif

#endif
