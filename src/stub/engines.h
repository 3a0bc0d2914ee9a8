/* The engines that are installed with a preloaded library: for which MPI libraries, and where.  For
 * the library itself, and for the program, which looks before a job starts. */
#ifndef AR_ENGINES_H
#define AR_ENGINES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* Is this the soname of an MPI library?  *family is whose ABI it has: "mpich", "openmpi", or "abi",
 * that of MPI 5; NULL where the number is another one. */
bool ar_soname_is_mpi(const char *soname, const char **family);

/* Is this soname that of a development version, whose number says nothing about the ABI?  MPICH and
 * Open MPI number their libraries when they release them. */
bool ar_soname_is_unreleased(const char *soname);

/* "MPICH's ABI", for people. */
const char *ar_family_title(const char *family);

enum { AR_ENGINE_PATH = PATH_MAX + 64 };

/* The engine for a family that belongs to the library of this absolute path: installed beside it,
 * built beside it, or where this build is configured to be installed.  False: there is none. */
bool ar_engine_find(char path[AR_ENGINE_PATH], const char *library, const char *family);

/* The families for which there is one: "mpich, openmpi", or "none". */
void ar_engines_list(char *text, size_t room, const char *library);

#endif
