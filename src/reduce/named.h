/* The predefined ops and the named types: which op each type takes, and by which
 * kernel. */
#ifndef AR_NAMED_H
#define AR_NAMED_H

#include <stdatomic.h>

#include "reduce/kernels.h"

#define AR_CANDIDATES 2

/* Classes whose kernels may give a type's bits, to be tried in this order. */
struct ar_candidates {
    int n;
    enum ar_class class[AR_CANDIDATES];
};

struct ar_named {
    struct ar_reduction geometry; /* all but op and kernel */
    unsigned ops;                 /* bit 1 << enum ar_op for each op the type takes */
    struct ar_candidates candidates;
    _Atomic(ar_kernel_fn *) kernel[AR_OPS]; /* set by the first ar_named_kernel */
};

/* The named type behind a handle; NULL if it is none of those that take a
 * predefined op.  Borrowed, lives for ever.  Needs an initialised MPI. */
struct ar_named *ar_named_find(MPI_Datatype type);

/* The names of the named types, as in "MPI_FLOAT", rows from 0 on; NULL past the end. */
const char *ar_named_name(size_t row);

/* The type of a row that has a name; NULL where this MPI does not have it.  Needs an
 * initialised MPI. */
struct ar_named *ar_named_at(size_t row);

enum ar_op_kind {
    AR_OP_PREDEFINED,
    AR_OP_REFUSED, /* no allreduce takes it: MPI_OP_NULL, MPI_REPLACE, MPI_NO_OP */
    AR_OP_USER
};

/* What an op handle is; for AR_OP_PREDEFINED sets *which. */
enum ar_op_kind ar_op_find(enum ar_op *which, MPI_Op op);

/* The name, as in "MPI_SUM", and the handle of an op. */
const char *ar_op_name(enum ar_op op);
MPI_Op ar_op_handle(enum ar_op op);

/* The kernel for op on type, which takes it; NULL if none gives the bits of PMPI_Reduce_local.  The
 * first call for a pair decides on admission, which takes some 100 us. */
ar_kernel_fn *ar_named_kernel(struct ar_named *type, MPI_Op op, enum ar_op which);

#endif
