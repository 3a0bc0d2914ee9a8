/* A call with device memory that our algorithms run all the same, on copies of its buffers in host
 * memory.  No other rank knows. */
#ifndef AR_CALL_STAGING_H
#define AR_CALL_STAGING_H

#include "call/allreduce.h"
#include "device/device.h"
#include "reduce/reduce.h"

/* Whose device memory a call's buffers are; NULL: the CPU can read them. */
struct ar_owners {
    const struct ar_runtime *in, *out;
};

struct ar_staging {
    struct ar_call call; /* to be run in place of the program's */
    struct ar_owners owners;
    void *in_room, *out_room; /* owned; NULL: the program's own buffer serves */
};

/* Finds out whose memory the buffers of a call are, by the first byte that their first element has.
 * r: of the elements, with r->size > 0.  The buffers may be at any addresses. */
struct ar_owners ar_owners_of(const struct ar_call *call, const struct ar_reduction *r);

/* Copies to the host what the call reads, and a result's room where that has gaps.  Where a runtime
 * cannot copy, the job ends here and below.  MPI_SUCCESS or MPI_ERR_NO_MEM. */
int ar_staging_begin(struct ar_staging *s, const struct ar_call *call, const struct ar_reduction *r,
                     struct ar_owners owners);

/* Must follow ar_staging_begin, whatever that returned.  If error is MPI_SUCCESS, copies the result
 * to the device, where the gaps between elements get what was there at the beginning. */
void ar_staging_end(struct ar_staging *s, const struct ar_call *call, const struct ar_reduction *r,
                    int error);

#endif
