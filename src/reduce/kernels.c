/* The choice among instruction sets.
 *
 * It is made by a table at the first use, not by target_clones: their resolvers
 * run while the library is being relocated, in every process that inherits the
 * preload (launchers and shells among them) and before anything is initialised.
 */
#include "reduce/kernels.h"

enum ar_isa
ar_isa_best(void)
{
#ifdef __x86_64__
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return AR_ISA_AVX512;
    if (__builtin_cpu_supports("avx2"))
        return AR_ISA_AVX2;
#endif
    return AR_ISA_BASE;
}

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
