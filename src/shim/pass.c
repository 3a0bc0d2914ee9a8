/* Nonblocking and persistent allreduces: the MPI library's own, but counted. */
#include <config.h>
#include <mpi.h>
#include <pthread.h>

#include "communicator/process.h"
#include "communicator/statistics.h"
#include "shim/native.h"

#define AR_EXPORT __attribute__((visibility("default")))

typedef int iallreduce_fn(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Request *);
static iallreduce_fn *next_iallreduce = PMPI_Iallreduce;
#ifdef AR_MPI_IS_OPENMPI
static iallreduce_fn *library_iallreduce = PMPI_Iallreduce;
#endif

#ifdef HAVE_PMPI_ALLREDUCE_C
typedef int iallreduce_c_fn(const void *, void *, MPI_Count, MPI_Datatype, MPI_Op, MPI_Comm,
                            MPI_Request *);
static iallreduce_c_fn *next_iallreduce_c = PMPI_Iallreduce_c;
#endif

#ifdef HAVE_PMPI_ALLREDUCE_INIT
typedef int init_fn(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Info,
                    MPI_Request *);
static init_fn *next_init = PMPI_Allreduce_init;
#ifdef HAVE_PMPI_ALLREDUCE_C
typedef int init_c_fn(const void *, void *, MPI_Count, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Info,
                      MPI_Request *);
static init_c_fn *next_init_c = PMPI_Allreduce_init_c;
#endif
#endif

static void
find_next(void)
{
    ar_native_find(&next_iallreduce, "MPI_Iallreduce");
#ifdef AR_MPI_IS_OPENMPI
    ar_native_find(&library_iallreduce, "PMPI_Iallreduce");
#endif
#ifdef HAVE_PMPI_ALLREDUCE_C
    ar_native_find(&next_iallreduce_c, "MPI_Iallreduce_c");
#endif
#ifdef HAVE_PMPI_ALLREDUCE_INIT
    ar_native_find(&next_init, "MPI_Allreduce_init");
#ifdef HAVE_PMPI_ALLREDUCE_C
    ar_native_find(&next_init_c, "MPI_Allreduce_init_c");
#endif
#endif
}

static void
begin(struct ar_native_mark *mark)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_next);
    ar_native_begin(mark);
}

/* Only what MPI took is counted: handles that it refused must not be looked at. */
static int
end(const struct ar_native_mark *mark, int error, enum ar_entry entry, MPI_Comm comm,
    MPI_Datatype type, MPI_Op op, MPI_Count count)
{
    ar_native_end(mark);
    if (error)
        return error;
    ar_process_get();
    ar_statistics_count_message(
        entry, entry == AR_ENTRY_IALLREDUCE ? "nonblocking, not taken" : "persistent, not taken",
        comm, type, op, (uint64_t)count);
    return MPI_SUCCESS;
}

AR_EXPORT int
MPI_Iallreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
               MPI_Comm comm, MPI_Request *request)
{
    struct ar_native_mark mark;
    begin(&mark);
    return end(&mark, next_iallreduce(sendbuf, recvbuf, count, datatype, op, comm, request),
               AR_ENTRY_IALLREDUCE, comm, datatype, op, count);
}

#ifdef AR_MPI_IS_OPENMPI
/* Open MPI's Fortran bindings call this one. */
AR_EXPORT int
PMPI_Iallreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                MPI_Comm comm, MPI_Request *request)
{
    const bool is_on_its_way = ar_native_is_running();
    struct ar_native_mark mark;
    begin(&mark);
    const int error = library_iallreduce(sendbuf, recvbuf, count, datatype, op, comm, request);
    if (!is_on_its_way)
        return end(&mark, error, AR_ENTRY_IALLREDUCE, comm, datatype, op, count);
    ar_native_end(&mark);
    return error;
}
#endif

#ifdef HAVE_PMPI_ALLREDUCE_C
AR_EXPORT int
MPI_Iallreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                 MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    struct ar_native_mark mark;
    begin(&mark);
    return end(&mark, next_iallreduce_c(sendbuf, recvbuf, count, datatype, op, comm, request),
               AR_ENTRY_IALLREDUCE, comm, datatype, op, count);
}
#endif

#ifdef HAVE_PMPI_ALLREDUCE_INIT
AR_EXPORT int
MPI_Allreduce_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                   MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct ar_native_mark mark;
    begin(&mark);
    return end(&mark, next_init(sendbuf, recvbuf, count, datatype, op, comm, info, request),
               AR_ENTRY_ALLREDUCE_INIT, comm, datatype, op, count);
}

#ifdef HAVE_PMPI_ALLREDUCE_C
AR_EXPORT int
MPI_Allreduce_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                     MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct ar_native_mark mark;
    begin(&mark);
    return end(&mark, next_init_c(sendbuf, recvbuf, count, datatype, op, comm, info, request),
               AR_ENTRY_ALLREDUCE_INIT, comm, datatype, op, count);
}
#endif
#endif
