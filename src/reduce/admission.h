/* Admission: a kernel serves only after it has given the bits of PMPI_Reduce_local here.
 *
 * The MPI standard does not define every bit of a reduction: which NaN, which of +0 and -0, what
 * becomes of a logical 2.  Libraries differ, and one library differs with the processor, its
 * version and its settings (Open MPI has vector code that a user may switch off).
 */
#ifndef AR_ADMISSION_H
#define AR_ADMISSION_H

#include <stdint.h>

#include "reduce/kernels.h"

/* Fills count elements of class, extent bytes apart, with hostile values: NaN of either sign and
 * several payloads, infinities, zeros, extremes, random bits; and gaps and padding with random
 * bits.  *state, not 0, is that of the random numbers, and is advanced. */
void ar_hostile_fill(void *elements, enum ar_class class, size_t extent, size_t count,
                     uint64_t *state);

/* True if kernel, of class, agrees with PMPI_Reduce_local for op on hostile elements of the named
 * type behind geometry, which must take the op, in pieces of many lengths.  Leaves the
 * floating-point environment as it was, and never traps. */
bool ar_kernel_agrees(ar_kernel_fn *kernel, enum ar_class class, MPI_Op op,
                      const struct ar_reduction *geometry);

#endif
