/* A program and the library to preload into it: where they are, and whether they suit each other.
 */
#ifndef AR_PRELOAD_H
#define AR_PRELOAD_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

/* --- an executable file before it is started (executable.c) --- */

enum ar_executable_kind {
    AR_EXECUTABLE_DYNAMIC, /* an ELF file that names a dynamic linker */
    AR_EXECUTABLE_STATIC,  /* an ELF file that does without */
    AR_EXECUTABLE_SCRIPT   /* anything else that can be run */
};

struct ar_executable {
    char path[PATH_MAX];
    enum ar_executable_kind kind;
    char linker[PATH_MAX]; /* AR_EXECUTABLE_DYNAMIC: the dynamic linker it names */
    bool privileged;       /* gets rights of its file, so its linker takes no preload */
    bool has_pmpi;         /* its file holds the name PMPI_Allreduce */
};

/* Finds name as execvp does and reads its file.  0, or why it cannot be run: ENOENT, EACCES,
 * ENOEXEC (an ELF file that makes no sense), ... */
int ar_executable_examine(struct ar_executable *executable, const char *name);

/* Is it an ELF file without that text? */
bool ar_elf_lacks(const char *path, const char *text);

/* What its dynamic linker would load for it with the present environment, a line for each library:
 * "\tNAME => PATH (ADDRESS)", "\tPATH (ADDRESS)", or what it complains about.  Nothing of the
 * program runs.  Malloced; NULL if it cannot be asked. */
char *ar_executable_libraries(const struct ar_executable *executable);

/* --- the library (preload.c) --- */

#define AR_PRELOAD_NAME "liballreduce.so"

/* The library beside this program in its build tree, or where both are installed.
 * Malloced; NULL if it is in none of these places. */
char *ar_preload_find(void);

/* Puts library at the head of LD_PRELOAD: a tool after it
 * still sees the calls that it leaves to MPI, and one before it may bypass it.  Only the runtimes
 * of sanitizers stay before it, since they must come first.  The user's other entries stay after
 * it, except for another liballreduce.so.  NULL: only takes ours out.  0, or -1 without memory. */
int ar_preload_set(const char *library);

/* Whose ABI has the MPI library that the program would load?  As ar_soname_is_mpi says it; NULL:
 * none that is known, or that cannot be told. */
const char *ar_preload_family(const struct ar_executable *executable);

/* With LD_PRELOAD as ar_preload_set leaves it: will the program have the library, does a sanitizer
 * allow that, is there an engine for its MPI, and was it started by a launcher of its own MPI?  If
 * not, or if that cannot be told, writes why to the stream; 0 if it may run. */
int ar_preload_check(const struct ar_executable *executable, const char *library, FILE *to);

#endif
