/* Instruction sets that kernels are compiled for. */
#ifndef AR_ISA_H
#define AR_ISA_H

enum ar_isa { AR_ISA_BASE, AR_ISA_AVX2, AR_ISA_AVX512, AR_ISAS };

/* The widest one that this processor and system run. */
enum ar_isa ar_isa_best(void);

#endif
