#include <config.h>

#include "execute/progress.h"

#include <stdatomic.h>

#define TAG_MOST 32767 /* the least MPI_TAG_UB that MPI allows */

int
ar_progress(MPI_Comm comm)
{
    static _Atomic int tag = TAG_MOST;
    int rank, found = 0;
    const int asked = atomic_load_explicit(&tag, memory_order_relaxed);
    int error = PMPI_Comm_rank(comm, &rank);
    if (!error)
        error = PMPI_Iprobe(rank, asked, comm, &found, MPI_STATUS_IGNORE);
    if (!error && found)
        atomic_store_explicit(&tag, asked > 0 ? asked - 1 : TAG_MOST, memory_order_relaxed);
    return error;
}
