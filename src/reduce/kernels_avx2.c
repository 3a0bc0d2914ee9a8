/* Vector kernels for AVX2. */
#ifdef __x86_64__
#define AR_TABLE  ar_kernels_avx2
#define AR_TARGET AR_TARGET_AVX2
#include "reduce/kernels_template.h"
#endif
