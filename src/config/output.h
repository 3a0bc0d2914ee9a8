/* Files that we write: each appears complete or not at all, and what it replaces stays until then.
 * No MPI, no state.
 *
 * A new file is created in its folder, without a name if the file system supports that, and gets
 * its name when it is complete.  A process that is killed meanwhile leaves nothing behind, except
 * for the complete new file under another name if it was about to replace an old one.  Readers find
 * either the old file or the new one.  Its mode is that of any new file, by umask.  A
 * symbolic link of that name is replaced, never followed.
 *
 * What is not a regular file is written directly: a device such as /dev/null, and a FIFO that
 * belongs to this user and has a reader.  So are this process's own descriptors, by the names
 * /dev/stdout, /dev/stderr and /dev/fd/N. */
#ifndef AR_OUTPUT_H
#define AR_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

struct ar_output {
    FILE *file;       /* to write to; the caller must not close it.  It has no fileno */
    int fd;           /* of the stream */
    int folder;       /* of a new file; -1: written directly */
    int error;        /* errno of the first write that failed, or 0 */
    const char *name; /* in the folder */
    char made[32];    /* the name until the file is complete; "": none */
};

/* Whether a file of this name can be written.  Creates nothing.  0, or errno. */
int ar_output_check(const char *path);

/* Whether it is written directly. */
bool ar_output_is_direct(const char *path);

/* Begins the file.  0, or errno; then there is nothing to end.  path is borrowed until
 * ar_output_end. */
int ar_output_begin(struct ar_output *output, const char *path);

/* Ends the file.  0, or errno of the first failure; then nothing has changed, except what was
 * written directly. */
int ar_output_end(struct ar_output *output);

/* Ends the file as if it had never been begun. */
void ar_output_drop(struct ar_output *output);

#endif
