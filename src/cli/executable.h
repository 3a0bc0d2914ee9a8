/* An executable file before it is started: where it is, and what a preload can do to it. */
#ifndef AR_EXECUTABLE_H
#define AR_EXECUTABLE_H

#include <limits.h>
#include <stdbool.h>

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

/* What its dynamic linker would load for it with the present environment, a line for each library:
 * "\tNAME => PATH (ADDRESS)", "\tPATH (ADDRESS)", or what it complains about.  Nothing of the
 * program runs.  Malloced; NULL if it cannot be asked. */
char *ar_executable_libraries(const struct ar_executable *executable);

#endif
