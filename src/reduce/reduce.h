/* Reductions: dst = a op b over count elements, for any MPI op and type.
 *
 * Predefined ops on named types run kernels of our own that give the bits of
 * PMPI_Reduce_local; user ops and everything else run PMPI_Reduce_local.
 */
#ifndef AR_REDUCE_H
#define AR_REDUCE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "select/traits.h"

/* dst[i] = a[i] op b[i] for i in 0..count-1.  dst may be a or b, and overlaps neither otherwise. */
typedef void ar_kernel_fn(void *dst, const void *a, const void *b, size_t count);

/* The op of a program may see memory of ours, which is aligned so. */
#define AR_OPERAND_ALIGNMENT ((size_t)64)

/* Of an op that gets whole vectors.  It may load several elements at once, if they are aligned as
 * the program's buffers are.  So operands in memory of ours are moved where they are less aligned
 * than these or malloc's memory. */
struct ar_aligned {
    const void *in, *out; /* the program's buffers, which the op gets as they are */
    size_t alignment;
    char *areas;       /* room for two operands; owned; NULL: nothing was moved yet */
    size_t area_bytes; /* of each */
};

/* An op on a type, resolved: all that moving and combining elements needs. */
struct ar_reduction {
    MPI_Op op;
    MPI_Datatype type;
    MPI_Comm comm;                    /* named to PMPI_Pack, which copies elements with holes;
                                         MPI_COMM_SELF from resolve: where a program has none (it
                                         uses sessions alone) set any communicator that it has */
    ar_kernel_fn *kernel;             /* NULL: PMPI_Reduce_local */
    const struct ar_packing *packing; /* elements are packed copies of others; NULL: they are not */
    struct ar_aligned *operands;      /* NULL: the op takes them wherever they stand */
    bool commutative;
    enum ar_op which;              /* the op; AR_OPS: the program's own */
    enum ar_type_class type_class; /* AR_TYPE_OTHER under such an op */
    bool named;         /* op and type are predefined: the handles' meaning never changes */
    bool basic;         /* the type is predefined, and laid out alike on all ranks */
    bool dense;         /* elements are contiguous and without gaps: memcpy moves them */
    size_t size;        /* data bytes an element (MPI_Type_size) */
    ptrdiff_t extent;   /* bytes from one element to the next */
    ptrdiff_t true_lb;  /* first byte of an element from its address */
    size_t true_extent; /* bytes from an element's first to its last byte */
};

/* The part of a reduction that is the type's: sets type, comm (to MPI_COMM_SELF), size, extent,
 * true_lb, true_extent and dense of *r.  False, with *r untouched, if MPI does not know the type or
 * its size is too large for an int. */
bool ar_geometry_get(struct ar_reduction *r, MPI_Datatype type);

/* The class of an error code; MPI_ERR_OTHER if MPI does not know the code. */
int ar_error_class(int error);

/* Resolves op on type.  False, with *r untouched, if the handle is invalid or the type does not
 * take the op: the native call then deals with it.  Decides alike on all ranks.  Thread-safe. */
bool ar_reduction_resolve(struct ar_reduction *r, MPI_Op op, MPI_Datatype type);

/* A call on these buffers begins; *o is zero before the first one.  end frees what *o owns. */
void ar_aligned_begin(struct ar_aligned *o, const void *in, const void *out);
void ar_aligned_end(struct ar_aligned *o);

/* dst = a op b.  dst may be a or b.  Where dst is a, b is undefined afterwards.  All three point to
 * elements as an MPI buffer does (true_lb is added by MPI).  MPI_SUCCESS, the error class of
 * PMPI_Reduce_local, or MPI_ERR_NO_MEM if operands had to be moved. */
int ar_reduction_apply(const struct ar_reduction *r, void *dst, const void *a, void *b,
                       size_t count);

/* dst = src; gaps between and inside the elements of dst stay untouched.  dst may be src.
 * MPI_SUCCESS, MPI_ERR_NO_MEM, or the error class of the PMPI call. */
int ar_reduction_copy(const struct ar_reduction *r, void *dst, const void *src, size_t count);

/* Pack elements side by side without any gap, in the order of the type's signature, and unpack
 * them.  MPI sends them in this form, so it is the same on all ranks, however these lay them out.
 * They take count * size bytes if ar_reduction_packs says so.  MPI_SUCCESS or the error class of
 * the PMPI call. */
bool ar_reduction_packs(const struct ar_reduction *r);
int ar_reduction_pack(const struct ar_reduction *r, void *packed, const void *src, size_t count);
int ar_reduction_unpack(const struct ar_reduction *r, void *dst, const void *packed, size_t count);

/* Bytes that a scratch buffer for count elements takes; such a buffer, aligned for operands, to be
 * freed, or NULL; and the address of element 0 in a buffer (the one to hand to MPI), as aligned as
 * that.  Elements may lie in each other's gaps, and backwards. */
size_t ar_reduction_room_bytes(const struct ar_reduction *r, size_t count);
void *ar_reduction_room_allocate(const struct ar_reduction *r, size_t count);
void *ar_reduction_base(const struct ar_reduction *r, void *scratch, size_t count);

/* From the address of element 0 to the first byte of count elements, which may lie backwards, and
 * how many bytes there are from that to their last one. */
ptrdiff_t ar_reduction_first_byte(const struct ar_reduction *r, size_t count);
size_t ar_reduction_span_bytes(const struct ar_reduction *r, size_t count);

#endif
