/* The choice among the tables of kernels, and the kernels that vector instructions do not speed up:
 * long double, C's complex product, and the pairs of MAXLOC and MINLOC. */
#include <complex.h>
#include <float.h>
#include <string.h>

#include "reduce/kernels.h"

/* The bytes of a long double that hold its value: the x87 format is shorter than its storage, and a
 * store leaves the rest as it is. */
enum { LD_BYTES = LDBL_MANT_DIG == 64 ? 10 : sizeof(long double) };

/* PMPI_Reduce_local(a, b) leaves the padding of b in the result.  The padding is stored second,
 * since a compiler may take a store of the value for one of all bytes. */
static inline void
ld_store(long double *dst, long double value, const long double *b)
{
    unsigned char padding[sizeof *dst];
    memcpy(padding, b, sizeof padding);
    memcpy(dst, &value, LD_BYTES);
    memcpy((char *)dst + LD_BYTES, padding + LD_BYTES, sizeof padding - LD_BYTES);
}

#define LD_KERNEL(op, expression)                                                                  \
    static void LONG_DOUBLE_##op(void *dst_, const void *a_, const void *b_, size_t count)         \
    {                                                                                              \
        long double *const dst = dst_;                                                             \
        const long double *const pa = a_, *const pb = b_;                                          \
        for (size_t i = 0; i < count; i++) {                                                       \
            const long double b = pb[i], a = pa[i];                                                \
            ld_store(&dst[i], (expression), &pb[i]);                                               \
        }                                                                                          \
    }

LD_KERNEL(SUM, b + a)
LD_KERNEL(PROD, (b)*a)
LD_KERNEL(MAX, b > a ? b : a)
LD_KERNEL(MIN, b < a ? b : a)

static void
COMPLEX_LONG_DOUBLE_SUM(void *dst, const void *a, const void *b, size_t count)
{
    LONG_DOUBLE_SUM(dst, a, b, 2 * count);
}

static void
COMPLEX_LONG_DOUBLE_PROD(void *dst_, const void *a_, const void *b_, size_t count)
{
    long double *const dst = dst_;
    const long double _Complex *const pa = a_, *const pb = b_;
    for (size_t i = 0; i < count; i++) {
        const long double _Complex product = pb[i] * pa[i];
        const long double *const b = (const long double *)&pb[i];
        ld_store(&dst[2 * i], creall(product), &b[0]);
        ld_store(&dst[2 * i + 1], cimagl(product), &b[1]);
    }
}

static void
COMPLEX_LONG_DOUBLE_PLAIN_PROD(void *dst_, const void *a_, const void *b_, size_t count)
{
    long double *dst = dst_;
    const long double *a = a_, *b = b_;
    for (size_t i = 0; i < count; i++, dst += 2, a += 2, b += 2) {
        const long double real = b[0] * a[0] - b[1] * a[1];
        const long double imaginary = b[1] * a[0] + b[0] * a[1];
        ld_store(&dst[0], real, &b[0]);
        ld_store(&dst[1], imaginary, &b[1]);
    }
}

typedef float _Complex COMPLEX_F32_number __attribute__((may_alias, aligned(1)));
typedef double _Complex COMPLEX_F64_number __attribute__((may_alias, aligned(1)));

#define COMPLEX_PROD_KERNEL(class)                                                                 \
    static void class##_PROD(void *dst_, const void *a_, const void *b_, size_t count)             \
    {                                                                                              \
        class##_number *const dst = dst_;                                                          \
        const class##_number *const a = a_, *const b = b_;                                         \
        for (size_t i = 0; i < count; i++)                                                         \
            dst[i] = b[i] * a[i];                                                                  \
    }

COMPLEX_PROD_KERNEL(COMPLEX_F32)
COMPLEX_PROD_KERNEL(COMPLEX_F64)

/* Pairs of a value v and an index k.  Ties take the lower index; b's value stays, as it does where
 * NaN compares to nothing.  Gaps are never written. */
#define STORE(dst, value, b)    (*(dst) = (value))
#define LD_STORE(dst, value, b) ld_store(dst, value, b)

#define PAIR_KERNEL(class, op, V, K, better, STORE)                                                \
    static void class##_##op(void *dst_, const void *a_, const void *b_, size_t count)             \
    {                                                                                              \
        struct pair {                                                                              \
            V v;                                                                                   \
            K k;                                                                                   \
        } __attribute__((may_alias)) *const dst = dst_;                                            \
        const struct pair *const pa = a_, *const pb = b_;                                          \
        for (size_t i = 0; i < count; i++) {                                                       \
            const V av = pa[i].v, bv = pb[i].v;                                                    \
            const K ak = pa[i].k, bk = pb[i].k;                                                    \
            const K lower = bk < ak ? bk : ak;                                                     \
            STORE(&dst[i].v, av better bv ? av : bv, &pb[i].v);                                    \
            dst[i].k = av better bv ? ak : av == bv ? lower : bk;                                  \
        }                                                                                          \
    }

#define PAIR_CELLS(X, class, V, K, STORE)                                                          \
    X(class, MAXLOC, V, K, >, STORE)                                                               \
    X(class, MINLOC, V, K, <, STORE)

#define ALL_PAIR_CELLS(X)                                                                          \
    PAIR_CELLS(X, PAIR_F32_INT, float, int, STORE)                                                 \
    PAIR_CELLS(X, PAIR_F64_INT, double, int, STORE)                                                \
    PAIR_CELLS(X, PAIR_LONG_INT, long, int, STORE)                                                 \
    PAIR_CELLS(X, PAIR_INT_INT, int, int, STORE)                                                   \
    PAIR_CELLS(X, PAIR_SHORT_INT, short, int, STORE)                                               \
    PAIR_CELLS(X, PAIR_LONG_DOUBLE_INT, long double, int, LD_STORE)                                \
    PAIR_CELLS(X, PAIR_F32_F32, float, float, STORE)                                               \
    PAIR_CELLS(X, PAIR_F64_F64, double, double, STORE)

ALL_PAIR_CELLS(PAIR_KERNEL)

#define ROW(class, op, ...) [AR_##class][AR_##op] = class##_##op,

/* clang-format off */
static const struct ar_kernels scalar = {.of = {
    ROW(LONG_DOUBLE, SUM)
    ROW(LONG_DOUBLE, PROD)
    ROW(LONG_DOUBLE, MAX)
    ROW(LONG_DOUBLE, MIN)
    ROW(COMPLEX_F32, PROD)
    ROW(COMPLEX_F64, PROD)
    ROW(COMPLEX_LONG_DOUBLE, SUM)
    ROW(COMPLEX_LONG_DOUBLE, PROD)
    ROW(COMPLEX_LONG_DOUBLE_PLAIN, PROD)
    ALL_PAIR_CELLS(ROW)
}};
/* clang-format on */

ar_kernel_fn *
ar_kernel_get(enum ar_isa isa, enum ar_class class, enum ar_op op)
{
    static const struct ar_kernels *const tables[AR_ISAS] = {
        [AR_ISA_BASE] = &ar_kernels_base,
#ifdef __x86_64__
        [AR_ISA_AVX2] = &ar_kernels_avx2,
        [AR_ISA_AVX512] = &ar_kernels_avx512,
#endif
    };
    for (int i = isa; i >= AR_ISA_BASE; i--)
        if (tables[i] && tables[i]->of[class][op])
            return tables[i]->of[class][op];
    return scalar.of[class][op];
}
