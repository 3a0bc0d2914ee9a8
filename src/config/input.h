/* Files that a user names for reading: whatever they are, reading them neither waits for ever nor
 * fills the memory.  No MPI, no state. */
#ifndef AR_INPUT_H
#define AR_INPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "select/words.h"

#define AR_INPUT_MAX (1 << 20) /* the most bytes of a line, and of most texts */

/* Opens the file without waiting: a FIFO without a writer is empty.  NULL with errno; EISDIR for a
 * folder. */
FILE *ar_input_open(const char *path);

/* Reads the whole file of at most so many bytes, without the byte-order mark of UTF-8 that it may
 * begin with.  AR_OK, and *text is the caller's to free; AR_ERR_SYNTAX, and " " and the reason are
 * added to why: too long, no text, or a read error; AR_ERR_MEMORY. */
int ar_input_text(char **text, FILE *file, size_t most, struct ar_text *why);

/* Reads the next line, without its end, into line, which has AR_INPUT_MAX bytes.  False at the end
 * of the file, with *why NULL, and if the line cannot be read, with the reason in *why. */
bool ar_input_line(char *line, FILE *file, const char **why);

#endif
