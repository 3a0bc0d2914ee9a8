/* Files that are read because a user has named them: nothing that such a name may be makes us wait
 * for ever or fill the memory.  No MPI, no state. */
#ifndef AR_INPUT_H
#define AR_INPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "select/words.h"

#define AR_INPUT_MAX (1 << 20) /* bytes of a text, and of a line */

/* Opens it without waiting: a FIFO to which nobody writes is empty.  NULL with errno; EISDIR for a
 * folder. */
FILE *ar_input_open(const char *path);

/* Reads it whole.  AR_OK, and *text is the caller's to free; AR_ERR_SYNTAX, and why gets " " and
 * the reason: too long, no text, or a failure to read; AR_ERR_MEMORY. */
int ar_input_text(char **text, FILE *file, struct ar_text *why);

/* Reads the next line into line, of AR_INPUT_MAX bytes, without its end.  False at the end of the
 * file, with *why NULL; and with *why the reason where there is no such line. */
bool ar_input_line(char *line, FILE *file, const char **why);

#endif
