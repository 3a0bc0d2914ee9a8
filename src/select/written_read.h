/* Reads the file of a schedule that somebody wrote: allreduce-schedule(5) has its form.  Pure. */
#ifndef AR_WRITTEN_READ_H
#define AR_WRITTEN_READ_H

#include "algorithms/written_row.h"
#include "select/words.h"

/* Reads the text.  On success *w is the caller's to fini.  AR_ERR_SYNTAX, and why tells the line,
 * the column and what is allowed; AR_ERR_MEMORY. */
int ar_written_read(struct ar_written *w, const char *text, struct ar_text *why);

/* Reads, proves and makes the row of a file's text.  given: what another rank has proved of it;
 * NULL: it is proved here, if that takes no more than this work (see ar_written_work).  AR_OK;
 * AR_ERR_SYNTAX or AR_ERR_PROOF, and why tells what is wrong where; AR_ERR_PARAM, it would take
 * more; AR_ERR_MEMORY. */
int ar_written_row_read(struct ar_written_row *row, const char *text,
                        const struct ar_written_proof *given, size_t most_work,
                        struct ar_text *why);

#endif
