/* Exact sums with AVX-512. */
#ifdef __x86_64__
#define AR_TABLE  ar_exact_kernels_avx512
#define AR_TARGET AR_TARGET_AVX512
#include "reduce/exact_template.h"
#endif
