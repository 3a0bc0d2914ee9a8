/* The vector kernels of one instruction set, as a table named AR_TABLE, with each function compiled
 * under the attribute AR_TARGET.
 *
 * If both operands are NaN, x86 keeps the payload of the left one, and C does not say which one
 * that is.  MPI libraries compute b op a, since PMPI_Reduce_local(a, b) works in b.  Kernels that
 * are written like this, and load b first, make compilers do the same here.  Admission
 * (admission.h) catches a compiler that does not.
 */
#include <stdint.h>

#include "reduce/kernels.h"

/* dst is a, or b, or apart from both: no iteration depends on another one. */
#define KERNEL(class, op, T, expression)                                                           \
    static AR_TARGET void class##_##op(void *dst_, const void *a_, const void *b_, size_t count)   \
    {                                                                                              \
        AR_ELEMENT(T) *const dst = dst_;                                                           \
        const AR_ELEMENT(T) *const pa = a_, *const pb = b_;                                        \
        AR_LOOP for (size_t i = 0; i < count; i++)                                                 \
        {                                                                                          \
            const T b = pb[i], a = pa[i];                                                          \
            dst[i] = (expression);                                                                 \
        }                                                                                          \
    }

/* Some MPI libraries add complex numbers as b + a, some as a + b. */
#define COMPLEX_SUM(class, real, first, second)                                                    \
    static void class##_SUM(void *dst, const void *a, const void *b, size_t count)                 \
    {                                                                                              \
        real##_SUM(dst, first, second, 2 * count);                                                 \
    }

/* Ops for which signed and unsigned elements are alike.  1u keeps the product of
 * short ones from overflowing int. */
#define BITS_CELLS(X, U, T)                                                                        \
    X(U, SUM, T, b + a)                                                                            \
    X(U, PROD, T, 1u * b * a)                                                                      \
    X(U, LAND, T, b &&a)                                                                           \
    X(U, LOR, T, b || a)                                                                           \
    X(U, LXOR, T, !b != !a)                                                                        \
    X(U, BAND, T, b &a)                                                                            \
    X(U, BOR, T, b | a)                                                                            \
    X(U, BXOR, T, b ^ a)

#define ORDER_CELLS(X, class, T)                                                                   \
    X(class, MAX, T, b > a ? b : a)                                                                \
    X(class, MIN, T, b < a ? b : a)

#define FLOAT_CELLS(X, class, T)                                                                   \
    X(class, SUM, T, b + a)                                                                        \
    X(class, PROD, T, (b)*a)                                                                       \
    ORDER_CELLS(X, class, T)

#define ALL_BITS_CELLS(X8, X16, X32, X64)                                                          \
    BITS_CELLS(X8, U8, uint8_t)                                                                    \
    BITS_CELLS(X16, U16, uint16_t)                                                                 \
    BITS_CELLS(X32, U32, uint32_t)                                                                 \
    BITS_CELLS(X64, U64, uint64_t)

#define ALL_REAL_CELLS(X)                                                                          \
    ORDER_CELLS(X, I8, int8_t)                                                                     \
    ORDER_CELLS(X, I16, int16_t)                                                                   \
    ORDER_CELLS(X, I32, int32_t)                                                                   \
    ORDER_CELLS(X, I64, int64_t)                                                                   \
    ORDER_CELLS(X, U8, uint8_t)                                                                    \
    ORDER_CELLS(X, U16, uint16_t)                                                                  \
    ORDER_CELLS(X, U32, uint32_t)                                                                  \
    ORDER_CELLS(X, U64, uint64_t)                                                                  \
    FLOAT_CELLS(X, F32, float)                                                                     \
    FLOAT_CELLS(X, F64, double)

ALL_BITS_CELLS(KERNEL, KERNEL, KERNEL, KERNEL)
ALL_REAL_CELLS(KERNEL)
COMPLEX_SUM(COMPLEX_F32, F32, a, b)
COMPLEX_SUM(COMPLEX_F64, F64, a, b)
COMPLEX_SUM(COMPLEX_F32_SWAPPED, F32, b, a)
COMPLEX_SUM(COMPLEX_F64_SWAPPED, F64, b, a)

/* Float kernels whose bits are those of an MPI library that computes a op b in
 * 16-byte vectors and b op a in what remains. */
#define SPLIT_KERNEL(class, op, T, expression)                                                     \
    static void class##_SPLIT_##op(void *dst, const void *a, const void *b, size_t count)          \
    {                                                                                              \
        const size_t body = count - count % (16 / sizeof(T)), bytes = body * sizeof(T);            \
        class##_##op(dst, b, a, body);                                                             \
        class##_##op((char *)dst + bytes, (const char *)a + bytes, (const char *)b + bytes,        \
                     count - body);                                                                \
    }

FLOAT_CELLS(SPLIT_KERNEL, F32, float)
FLOAT_CELLS(SPLIT_KERNEL, F64, double)

#define ROW(class, op, ...)       [AR_##class][AR_##op] = class##_##op,
#define SPLIT_ROW(class, op, ...) [AR_##class##_SPLIT][AR_##op] = class##_SPLIT_##op,
#define ROWS_8(U, op, ...)        ROW(U, op)[AR_I8][AR_##op] = U##_##op,
#define ROWS_16(U, op, ...)       ROW(U, op)[AR_I16][AR_##op] = U##_##op,
#define ROWS_32(U, op, ...)       ROW(U, op)[AR_I32][AR_##op] = U##_##op,
#define ROWS_64(U, op, ...)       ROW(U, op)[AR_I64][AR_##op] = U##_##op,

/* clang-format off */
const struct ar_kernels AR_TABLE = {.of = {
    ALL_BITS_CELLS(ROWS_8, ROWS_16, ROWS_32, ROWS_64)
    ALL_REAL_CELLS(ROW)
    ROW(COMPLEX_F32, SUM)
    ROW(COMPLEX_F64, SUM)
    ROW(COMPLEX_F32_SWAPPED, SUM)
    ROW(COMPLEX_F64_SWAPPED, SUM)
    FLOAT_CELLS(SPLIT_ROW, F32, float)
    FLOAT_CELLS(SPLIT_ROW, F64, double)
    [AR_BOOL][AR_LAND] = U8_BAND,
    [AR_BOOL][AR_LOR] = U8_BOR,
    [AR_BOOL][AR_LXOR] = U8_BXOR,
}};
/* clang-format on */
