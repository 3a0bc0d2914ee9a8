/* The programs that do what needs MPI, one for each MPI library: allreduce-mpich,
 * allreduce-openmpi. They are all of allreduce; that itself needs none. */
#ifndef AR_HELPER_H
#define AR_HELPER_H

#include <limits.h>
#include <stdbool.h>

/* The helper for a family (as in stub/engines.h): in the build tree or where it is installed.
 * False: there is none. */
bool ar_helper_find(char path[PATH_MAX], const char *family);

#endif
