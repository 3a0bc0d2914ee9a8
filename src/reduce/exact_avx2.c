/* Exact sums with AVX2. */
#ifdef __x86_64__
#define AR_TABLE  ar_exact_kernels_avx2
#define AR_TARGET AR_TARGET_AVX2
#include "reduce/exact_template.h"
#endif
