/* Schedules in the form in which people write them; allreduce-schedule(5) describes it.  Pure. */
#ifndef AR_WRITTEN_PRINT_H
#define AR_WRITTEN_PRINT_H

#include <stdio.h>

#include "schedule/written.h"

/* Makes w of the proved schedules of all ranks, which have one element in each of nblocks blocks.
 * Steps stay what they are, but for two things.  Each piece of TMP has blocks of its own, so that
 * its places are others.  A step becomes several where it is about blocks that do not follow each
 * other, or about whole vectors side by side.  On success w, which has no name, is the caller's to
 * fini.  AR_ERR_PROOF, AR_ERR_MEMORY. */
int ar_written_make(struct ar_written *w, const struct ar_schedule *schedules, int nranks,
                    int nblocks);

/* Prints the text that ar_written_read reads back, one line for each rank.  comment: a line above,
 * of what it is.  Errors of the file stay in the file (ferror). */
void ar_written_print(FILE *file, const struct ar_written *w, const char *comment);

#endif
