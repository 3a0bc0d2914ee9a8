/* Rows of the registry as schedules that one could have written in a file.  Pure. */
#ifndef AR_WRITTEN_ROW_H
#define AR_WRITTEN_ROW_H

#include "algorithms/registry.h"
#include "schedule/written.h"

/* Makes w of the row's schedules, with as few blocks as the row's cuts need.  The form is that of
 * messages of about emission->count elements.  On success w is the caller's to fini.  AR_ERR_PARAM
 * where more blocks are needed than a file may have, and errors as of ar_algorithm_emit and
 * ar_written_make. */
int ar_written_row_make(struct ar_written *w, const struct ar_emission *emission);

#endif
