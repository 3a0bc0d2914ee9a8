/* A program before it is started: where it is, and what a preload can do to it. */
#ifndef AR_PROGRAM_H
#define AR_PROGRAM_H

#include <limits.h>
#include <stdbool.h>

enum ar_program_kind {
    AR_PROGRAM_DYNAMIC, /* an ELF file that names a dynamic linker */
    AR_PROGRAM_STATIC,  /* an ELF file that does without */
    AR_PROGRAM_SCRIPT   /* anything else that can be run */
};

struct ar_program {
    char path[PATH_MAX];
    enum ar_program_kind kind;
    char linker[PATH_MAX]; /* AR_PROGRAM_DYNAMIC: the dynamic linker it names */
    bool privileged;       /* gets rights of its file, so its linker takes no preload */
};

/* Finds name as execvp does and reads the head of the file.  0, or why it cannot be
 * run: ENOENT, EACCES, ENOEXEC (an ELF file that makes no sense), ... */
int ar_program_examine(struct ar_program *program, const char *name);

/* Does its file hold this text? */
bool ar_program_mentions(const struct ar_program *program, const char *text);

/* What the program's dynamic linker would load for it with the present environment,
 * a line for each library: "\tNAME => PATH (ADDRESS)", "\tPATH (ADDRESS)", or what it
 * complains about.  Nothing of the program runs.  Malloced; NULL if it cannot be asked. */
char *ar_program_libraries(const struct ar_program *program);

struct ar_mpi_library {
    const char *family; /* as AR_MPI_FAMILY; NULL: there is none */
    char name[64];      /* "libmpich.so.12" */
};

/* The first MPI library in such lines that is not of the family other_than
 * (NULL: of any). */
struct ar_mpi_library ar_mpi_library_find(const char *libraries, const char *other_than);

#endif
