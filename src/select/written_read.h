/* Reads the file of a schedule that somebody wrote: doc/schedules.md describes its form.  Pure. */
#ifndef AR_WRITTEN_READ_H
#define AR_WRITTEN_READ_H

#include "schedule/written.h"
#include "select/words.h"

/* Reads the text.  On success *w is the caller's to fini.  AR_ERR_SYNTAX, and why tells the line,
 * the column and what is allowed; AR_ERR_MEMORY. */
int ar_written_read(struct ar_written *w, const char *text, struct ar_text *why);

#endif
