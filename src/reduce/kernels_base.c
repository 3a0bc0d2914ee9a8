/* Vector kernels for every processor of the architecture. */
#define AR_TABLE ar_kernels_base
#define AR_TARGET
#include "reduce/kernels_template.h"
