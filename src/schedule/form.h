/* Is what is to be proved a schedule at all?  It may come from anywhere.  Pure. */
#ifndef AR_FORM_H
#define AR_FORM_H

#include <stddef.h>
#include <stdint.h>

#include "schedule/schedule.h"

/* Elements of TMP at most: beyond, sums of offsets would wrap, and a region could not hold them. */
#define AR_TMP_MOST (SIZE_MAX >> 3)

/* Why s is no schedule for this rank of nranks and count elements, a static text; *step is then set
 * where it is about one of the steps.  NULL: it is one. */
const char *ar_schedule_find_flaw(const struct ar_schedule *s, int rank, int nranks, size_t count,
                                  size_t *step);

#endif
