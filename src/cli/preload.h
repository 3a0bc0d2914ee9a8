/* The library to preload: where it is, and whether it suits a program. */
#ifndef AR_PRELOAD_H
#define AR_PRELOAD_H

#include "cli/executable.h"

#define AR_PRELOAD_NAME "liballreduce.so"

/* The library beside this program in its build tree, or where both are installed.
 * Malloced; NULL if it is in none of these places. */
char *ar_preload_find(void);

/* A name of path that stays right in another folder.  Malloced; NULL without
 * memory. */
char *ar_path_absolute(const char *path);

/* Puts library into LD_PRELOAD, first of all: a tool behind it still sees the
 * calls that it leaves to MPI, one before it may pass it by.  What the user has
 * there stays, but for another liballreduce.so.  0, or -1 without memory. */
int ar_preload_set(const char *library);

/* With LD_PRELOAD as ar_preload_set leaves it: will the program have the library,
 * and no second MPI with it?  If not, or if that cannot be told, says so on stderr,
 * with who in front; 0 if it may run. */
int ar_preload_check(const struct ar_executable *executable, const char *library, const char *who);

#endif
