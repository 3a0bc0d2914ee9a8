/* The choice among instruction sets.
 *
 * It is made by tables at the first use, not by target_clones: their resolvers
 * run while the library is being relocated, in every process that inherits the
 * preload (launchers and shells among them) and before anything is initialised.
 */
#include "reduce/isa.h"

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
