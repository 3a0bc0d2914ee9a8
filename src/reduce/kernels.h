/* Three-operand kernels, by class of element and op.
 *
 * A class is an element's representation.  Several MPI types share one, and where MPI libraries
 * disagree about bits, a type has several classes to choose from (see named.c).  Each instruction
 * set has a table of its own.
 */
#ifndef AR_KERNELS_H
#define AR_KERNELS_H

#include "reduce/isa.h"
#include "reduce/reduce.h"

enum ar_class {
    AR_I8,
    AR_I16,
    AR_I32,
    AR_I64,
    AR_U8,
    AR_U16,
    AR_U32,
    AR_U64,
    AR_BOOL, /* 0 or 1 in a byte; logical ops work bitwise, so other values give what they give */
    AR_F32,
    AR_F64,
    AR_F32_SPLIT, /* as AR_F32, operands swapped but in the last count % 4 elements */
    AR_F64_SPLIT, /* as AR_F64, operands swapped but in the last count % 2 elements */
    AR_LONG_DOUBLE,
    AR_COMPLEX_F32, /* sum b + a; C's product, with its care for infinities */
    AR_COMPLEX_F64,
    AR_COMPLEX_LONG_DOUBLE,
    AR_COMPLEX_F32_SWAPPED, /* sum a + b */
    AR_COMPLEX_F64_SWAPPED,
    AR_COMPLEX_LONG_DOUBLE_PLAIN, /* the textbook product */
    AR_PAIR_F32_INT,
    AR_PAIR_F64_INT,
    AR_PAIR_LONG_INT,
    AR_PAIR_INT_INT,
    AR_PAIR_SHORT_INT,
    AR_PAIR_LONG_DOUBLE_INT,
    AR_PAIR_F32_F32,
    AR_PAIR_F64_F64,
    AR_CLASSES,
    AR_NO_CLASS = AR_CLASSES
};

/* NULL where an instruction set has nothing better than the one before it. */
struct ar_kernels {
    ar_kernel_fn *of[AR_CLASSES][AR_OPS];
};

/* Each is made in a file of its own. */
extern const struct ar_kernels ar_kernels_base;
extern const struct ar_kernels ar_kernels_avx2;
extern const struct ar_kernels ar_kernels_avx512;

/* The kernel for isa, or for the widest instruction set below it that has one; NULL if the class
 * does not take the op. */
ar_kernel_fn *ar_kernel_get(enum ar_isa isa, enum ar_class class, enum ar_op op);

#endif
