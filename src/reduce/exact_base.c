/* Exact sums on every processor of the architecture. */
#define AR_TABLE ar_exact_kernels_base
#define AR_TARGET
#include "reduce/exact_template.h"
