/* Exact sums with AVX-512. */
#ifdef __x86_64__
#define AR_TABLE ar_grid_kernels_avx512
#ifdef __clang__
#define AR_TARGET                                                                                  \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"), min_vector_width(512)))
#else
#define AR_TARGET                                                                                  \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")))
#endif
#include "reduce/exact_template.h"
#endif
