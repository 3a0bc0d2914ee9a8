/* The MPI library of this process: where its symbols are, and which ABI they have. */
#ifndef AR_LIBRARY_H
#define AR_LIBRARY_H

#include <limits.h>
#include <stdbool.h>

struct ar_library {
    const char *family; /* whose ABI: "mpich", "openmpi" or "abi", that of MPI 5; NULL: not known */
    char path[PATH_MAX]; /* of the object that defines PMPI_Get_library_version */
    char soname[256];    /* "" where it has none: the program itself */
    char version[8192];  /* what PMPI_Get_library_version says */
};

/* Finds the library and makes its symbols global, so that an engine finds them where the library
 * was loaded privately, as interpreters load their modules.  False: the process has none yet, or a
 * static one that exports nothing. */
bool ar_library_find(struct ar_library *library);

/* The symbol's first definition behind this object: where the linker would look next, else in any
 * object of the process, however it was loaded.  NULL: there is none. */
void *ar_library_symbol(const char *name);

/* If the user asks what calls did (ALLREDUCE_VERBOSE, _STATS, _VERIFY) and this process has used
 * MPI, rank 0 says that no call of this function has arrived.  It also says which object has the
 * one that the program finds, unless it is this one.  To be called if that is so. */
void ar_library_tell_no_call(const char *name);

#endif
