/* Calls that bring an info object to a communicator: MPI libraries drop keys that
 * they do not know, so the one that is ours is read on the way.  And the call that
 * copies a communicator while others go on. */
#include <config.h>
#include <mpi.h>
#include <pthread.h>

#include "communicator/carrier.h"
#include "communicator/wish.h"
#include "shim/native.h"

#define AR_EXPORT __attribute__((visibility("default")))

typedef int set_info_fn(MPI_Comm, MPI_Info);
typedef int dup_with_info_fn(MPI_Comm, MPI_Info, MPI_Comm *);
static set_info_fn *next_set_info = PMPI_Comm_set_info;
typedef int idup_fn(MPI_Comm, MPI_Comm *, MPI_Request *);
static dup_with_info_fn *next_dup_with_info = PMPI_Comm_dup_with_info;
static idup_fn *next_idup = PMPI_Comm_idup;
#ifdef AR_MPI_IS_OPENMPI
static idup_fn *library_idup = PMPI_Comm_idup;
#endif

static void
find_next(void)
{
    ar_native_find(&next_set_info, "MPI_Comm_set_info");
    ar_native_find(&next_dup_with_info, "MPI_Comm_dup_with_info");
    ar_native_find(&next_idup, "MPI_Comm_idup");
#ifdef AR_MPI_IS_OPENMPI
    ar_native_find(&library_idup, "PMPI_Comm_idup");
#endif
}

static void
look_up(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_next);
}

AR_EXPORT int
MPI_Comm_set_info(MPI_Comm comm, MPI_Info info)
{
    look_up();
    const int error = next_set_info(comm, info);
    if (!error)
        ar_wish_from_info(comm, info);
    return error;
}

AR_EXPORT int
MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm)
{
    look_up();
    const int error = next_dup_with_info(comm, info, newcomm);
    if (!error)
        ar_wish_from_info(*newcomm, info);
    return error;
}

AR_EXPORT int
MPI_Comm_idup(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request)
{
    look_up();
    const int error = next_idup(comm, newcomm, request);
    if (!error)
        ar_carrier_note_copy(comm);
    return error;
}

#ifdef AR_MPI_IS_OPENMPI
/* Open MPI's Fortran bindings call this one. */
AR_EXPORT int
PMPI_Comm_idup(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request)
{
    look_up();
    const int error = library_idup(comm, newcomm, request);
    if (!error)
        ar_carrier_note_copy(comm);
    return error;
}
#endif
