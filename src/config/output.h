/* Files that we write: each appears whole or not at all, with what it has replaced until then.  No
 * MPI, no state.
 *
 * A new file is made in the folder where it will be, without a name where the file system can do
 * that, and gets its name when all is written: a process that is killed meanwhile leaves nothing,
 * and who reads finds the old file or the new one.  Its mode is that of any new file, by umask.  A
 * symbolic link of that name is replaced, never followed.
 *
 * What is no regular file is written to at once: a device such as /dev/null; a FIFO of this user's
 * that somebody reads; and this process's own descriptors by the names /dev/stdout, /dev/stderr and
 * /dev/fd/N. */
#ifndef AR_OUTPUT_H
#define AR_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

struct ar_output {
    FILE *file;       /* what to write to; not to be closed by the caller.  It has no fileno */
    int fd;           /* below it */
    int folder;       /* of a new file; -1: written to at once */
    int error;        /* errno of the first write that failed, or 0 */
    const char *name; /* in the folder */
    char made[32];    /* the name that it has until it is whole; "": none */
};

/* Can a file of this name be written?  Nothing is made.  0, or errno. */
int ar_output_check(const char *path);

/* Is it written to at once? */
bool ar_output_is_direct(const char *path);

/* Begins it.  0, or errno, and there is nothing to end.  path is borrowed until ar_output_end. */
int ar_output_begin(struct ar_output *output, const char *path);

/* Ends it.  0, or errno of what failed first: then nothing has changed, but for what was written to
 * directly. */
int ar_output_end(struct ar_output *output);

/* Ends it as if nothing had been begun. */
void ar_output_drop(struct ar_output *output);

#endif
