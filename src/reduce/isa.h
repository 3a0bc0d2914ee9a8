/* Instruction sets that kernels are compiled for, and how loops are made vectors of. */
#ifndef AR_ISA_H
#define AR_ISA_H

enum ar_isa { AR_ISA_BASE, AR_ISA_AVX2, AR_ISA_AVX512, AR_ISAS };

/* The widest one that this processor and system run. */
enum ar_isa ar_isa_best(void);

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
