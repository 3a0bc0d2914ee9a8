/* How loops are made vectors of, and for which instruction set. */
#ifndef AR_VECTOR_H
#define AR_VECTOR_H

/* No iteration depends on another one. */
#ifdef __clang__
#define AR_LOOP _Pragma("clang loop vectorize(assume_safety)")
#else
#define AR_LOOP _Pragma("GCC ivdep")
#endif

/* Users' buffers have any type and may be less aligned than their elements. */
#define AR_ELEMENT(T) T __attribute__((may_alias, aligned(1)))

/* Attributes of functions: their instruction set, and vectors as wide as it has. */
#define AR_TARGET_AVX2 __attribute__((target("avx2")))
#ifdef __clang__
#define AR_TARGET_AVX512                                                                           \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"), min_vector_width(512)))
#else
#define AR_TARGET_AVX512                                                                           \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")))
#endif

#endif
