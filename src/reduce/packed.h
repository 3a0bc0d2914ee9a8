/* Elements that lie in each other's gaps, or backwards.  MPI demands that the elements of one call
 * do not collide, but several vectors side by side in scratch memory would.  So a schedule runs on
 * packed copies of them, and only an op sees them as the program lays them out.  No other rank
 * notices. */
#ifndef AR_PACKED_H
#define AR_PACKED_H

#include "reduce/reduce.h"

/* A call on packed copies. */
struct ar_packing {
    const struct ar_reduction *r; /* the program's */
    struct ar_reduction packed;   /* what the schedule runs on */
    char *packed_in, *packed_out; /* its buffers; owned; one and the same in place */
    char *out;                    /* the program's */
    size_t count;
    char *area[2]; /* an operand of count elements each; owned */
};

/* Do r's elements lie in each other's gaps, or backwards? */
bool ar_reduction_interleaves(const struct ar_reduction *r);

/* The layout of the copies, without a type: to plan by. */
struct ar_reduction ar_reduction_packed(const struct ar_reduction *r);

/* init packs the count elements of in.  fini has to follow in any case, and unpacks the result if
 * error is MPI_SUCCESS.  Both return MPI_SUCCESS, MPI_ERR_NO_MEM, error, or that of a PMPI call. */
int ar_packing_init(struct ar_packing *p, const struct ar_reduction *r, const void *in, void *out,
                    size_t count);
int ar_packing_fini(struct ar_packing *p, int error);

/* dst = a op b of packed elements; any of the three may be the same. */
int ar_packing_apply(const struct ar_packing *p, char *dst, char *a, char *b, size_t count);

#endif
