/* Nonblocking and persistent allreduces: the MPI library's own, but counted. */
#include "communicator/process.h"
#include "record/statistics.h"
#include "shim/next.h"

/* Only calls that MPI accepted are counted: handles that it refused must not be used. */
static int
end(int error, enum ar_entry entry, MPI_Comm comm, MPI_Datatype type, MPI_Op op, MPI_Count count,
    struct ar_caller caller)
{
    if (error)
        return error;
    ar_process_begin();
    ar_statistics_count(
        entry, entry == AR_ENTRY_IALLREDUCE ? "nonblocking, not taken" : "persistent, not taken",
        comm, type, op, (uint64_t)count, &caller);
    return MPI_SUCCESS;
}

int
ar_shim_iallreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                   MPI_Comm comm, MPI_Request *request)
{
    const struct ar_caller caller = AR_CALLER;
    return end(ar_next->iallreduce(sendbuf, recvbuf, count, datatype, op, comm, request),
               AR_ENTRY_IALLREDUCE, comm, datatype, op, count, caller);
}

/* Called by Open MPI's Fortran bindings and by tools that are found before us. */
int
ar_shim_library_iallreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
                           MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    const struct ar_caller caller = AR_CALLER;
    const int error =
        ar_next->library_iallreduce(sendbuf, recvbuf, count, datatype, op, comm, request);
    if (ar_next_is_caller(caller.address))
        return error;
    return end(error, AR_ENTRY_IALLREDUCE, comm, datatype, op, count, caller);
}

int
ar_shim_iallreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                     MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    const struct ar_caller caller = AR_CALLER;
    return end(ar_next->iallreduce_c(sendbuf, recvbuf, count, datatype, op, comm, request),
               AR_ENTRY_IALLREDUCE, comm, datatype, op, count, caller);
}

int
ar_shim_allreduce_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
                       MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    const struct ar_caller caller = AR_CALLER;
    return end(ar_next->allreduce_init(sendbuf, recvbuf, count, datatype, op, comm, info, request),
               AR_ENTRY_ALLREDUCE_INIT, comm, datatype, op, count, caller);
}

int
ar_shim_allreduce_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                         MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    const struct ar_caller caller = AR_CALLER;
    return end(
        ar_next->allreduce_init_c(sendbuf, recvbuf, count, datatype, op, comm, info, request),
        AR_ENTRY_ALLREDUCE_INIT, comm, datatype, op, count, caller);
}
