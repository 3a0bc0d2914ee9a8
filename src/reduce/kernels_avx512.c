/* Vector kernels for AVX-512. */
#ifdef __x86_64__
#define AR_TABLE  ar_kernels_avx512
#define AR_TARGET AR_TARGET_AVX512
#include "reduce/kernels_template.h"
#endif
