/* Every algorithm's emitter, one file each; contracts in registry.h. */
#ifndef AR_ALGORITHMS_H
#define AR_ALGORITHMS_H

#include "algorithms/registry.h"

ar_emit_fn ar_ring;
ar_emit_fn ar_butterfly;

#endif
