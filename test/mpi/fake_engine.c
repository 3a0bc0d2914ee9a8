/* An engine of another version. */
#include <mpi.h>
#include <stddef.h>

#include "shim/entries.h"

AR_EXPORT const struct ar_mpi_engine ar_mpi_engine = {
    .interface = AR_ENGINE_INTERFACE + 1,
    .version = "0.0.0",
};
