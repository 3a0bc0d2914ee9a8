#include <config.h>

#include <allreduce.h>

#include "algorithms/registry.h"

#define AR_EXPORT __attribute__((visibility("default")))

AR_EXPORT const char *
allreduce_version(void)
{
    return PACKAGE_VERSION " (" AR_MPI_FAMILY ")";
}

AR_EXPORT const char *
allreduce_algorithm_name(unsigned i)
{
    const struct ar_algorithm *row = ar_algorithm_at(i);
    return row ? row->name : NULL;
}
