/* Where MPI ends, and sessions' communicators: what ranks do together then, they do here, in calls
 * that all of them make.  Attribute callbacks are no place for it: their order among those of other
 * libraries is each rank's own.
 *
 * Fortran: under Open MPI the bindings call PMPI_Finalize; MPICH's mpi_f08 passes by all C names.
 */
#include <config.h>
#include <mpi.h>
#include <pthread.h>

#include "communicator/process.h"
#include "communicator/statistics.h"
#include "shim/native.h"

#define AR_EXPORT __attribute__((visibility("default")))

typedef int finalize_fn(void);
typedef int free_fn(MPI_Comm *);
static finalize_fn *next_finalize = PMPI_Finalize;
static free_fn *next_free = PMPI_Comm_free;
static free_fn *next_disconnect = PMPI_Comm_disconnect;
#ifdef AR_MPI_IS_OPENMPI
static finalize_fn *library_finalize = PMPI_Finalize;
#else
typedef void finalize_f08_fn(int *);
static finalize_f08_fn *next_finalize_f08;
#endif

static void
find_next(void)
{
    ar_native_find(&next_finalize, "MPI_Finalize");
    ar_native_find(&next_free, "MPI_Comm_free");
    ar_native_find(&next_disconnect, "MPI_Comm_disconnect");
#ifdef AR_MPI_IS_OPENMPI
    ar_native_find(&library_finalize, "PMPI_Finalize");
#else
    ar_native_find(&next_finalize_f08, "mpi_finalize_f08_");
#endif
}

static void
look_up(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_next);
}

AR_EXPORT int
MPI_Finalize(void)
{
    look_up();
    ar_process_close(AR_CLOSE_TOGETHER);
    return next_finalize();
}

#ifdef AR_MPI_IS_OPENMPI
AR_EXPORT int
PMPI_Finalize(void)
{
    look_up();
    ar_process_close(AR_CLOSE_TOGETHER);
    return library_finalize();
}
#else
AR_EXPORT void mpi_finalize_f08_(int *error);

AR_EXPORT void
mpi_finalize_f08_(int *error)
{
    look_up();
    ar_process_close(AR_CLOSE_TOGETHER);
    next_finalize_f08(error);
}
#endif

static void
part(const MPI_Comm *comm)
{
    look_up();
    if (comm && *comm != MPI_COMM_NULL && ar_statistics_are_parted())
        ar_statistics_part(*comm);
}

AR_EXPORT int
MPI_Comm_free(MPI_Comm *comm)
{
    part(comm);
    return next_free(comm);
}

AR_EXPORT int
MPI_Comm_disconnect(MPI_Comm *comm)
{
    part(comm);
    return next_disconnect(comm);
}
