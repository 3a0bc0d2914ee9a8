/* The choice among the tables of kernels: the widest instruction set that has one. */
#include "reduce/kernels.h"

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
    return ar_kernels_scalar.of[class][op];
}
