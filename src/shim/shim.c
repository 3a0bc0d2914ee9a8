/* The symbols that we put in front of the MPI library's.
 *
 * Under MPICH, C and Fortran calls arrive at MPI_Allreduce.  Open MPI's Fortran bindings call
 * PMPI_Allreduce, and so does a tool that is found before us when it passes a call on.  Therefore
 * PMPI_Allreduce is interposed, too; the library's own is reached by RTLD_NEXT. */
#include <pthread.h>

#include "call/allreduce.h"
#include "communicator/process.h"
#include "record/deadline.h"
#include "record/statistics.h"
#include "shim/next.h"

static void
begin_native(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, ar_job_check_family);
    ar_deadline_enter(AR_DEADLINE_NATIVE, NULL);
}

static int
end_native(int error)
{
    ar_deadline_enter(AR_DEADLINE_CHECKS, NULL);
    return error;
}

/* By the next MPI_Allreduce behind us, which may be another tool's. */
static int
run_next(const struct ar_call *call)
{
    begin_native();
    return end_native(ar_next->allreduce(call->in, call->out, (int)call->count, call->type,
                                         call->op, call->comm));
}

int
ar_shim_allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                  MPI_Comm comm)
{
    const struct ar_call call = {sendbuf, recvbuf,  count,     datatype, op,
                                 comm,    run_next, AR_CALLER, NULL};
    return ar_allreduce(&call);
}

static int
run_next_c(const struct ar_call *call)
{
    begin_native();
    return end_native(
        ar_next->allreduce_c(call->in, call->out, call->count, call->type, call->op, call->comm));
}

int
ar_shim_allreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                    MPI_Op op, MPI_Comm comm)
{
    const struct ar_call call = {sendbuf, recvbuf,    count,     datatype, op,
                                 comm,    run_next_c, AR_CALLER, NULL};
    return ar_allreduce(&call);
}

/* For a call that has passed all tools, or comes from one.  It goes on past the tools behind us. */
static int
run_library(const struct ar_call *call)
{
    begin_native();
    return end_native(ar_next->library_allreduce(call->in, call->out, (int)call->count, call->type,
                                                 call->op, call->comm));
}

int
ar_shim_library_allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
                          MPI_Op op, MPI_Comm comm)
{
    const struct ar_call call = {sendbuf, recvbuf,     count,     datatype, op,
                                 comm,    run_library, AR_CALLER, NULL};
    if (ar_next_is_caller(call.caller.address))
        return ar_next->library_allreduce(sendbuf, recvbuf, count, datatype, op, comm);
    return ar_allreduce(&call);
}

static int
run_library_c(const struct ar_call *call)
{
    begin_native();
    return end_native(ar_next->library_allreduce_c(call->in, call->out, call->count, call->type,
                                                   call->op, call->comm));
}

int
ar_shim_library_allreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count,
                            MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    const struct ar_call call = {sendbuf, recvbuf,       count,     datatype, op,
                                 comm,    run_library_c, AR_CALLER, NULL};
    if (ar_next_is_caller(call.caller.address))
        return ar_next->library_allreduce_c(sendbuf, recvbuf, count, datatype, op, comm);
    return ar_allreduce(&call);
}

/* --- nonblocking and persistent ones: the MPI library's own, but counted --- */

/* Only calls that MPI accepted are counted: handles that it refused must not be used. */
static int
count_call(int error, enum ar_entry entry, MPI_Comm comm, MPI_Datatype type, MPI_Op op,
           MPI_Count count, struct ar_caller caller)
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
    return count_call(ar_next->iallreduce(sendbuf, recvbuf, count, datatype, op, comm, request),
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
    return count_call(error, AR_ENTRY_IALLREDUCE, comm, datatype, op, count, caller);
}

int
ar_shim_iallreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                     MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    const struct ar_caller caller = AR_CALLER;
    return count_call(ar_next->iallreduce_c(sendbuf, recvbuf, count, datatype, op, comm, request),
                      AR_ENTRY_IALLREDUCE, comm, datatype, op, count, caller);
}

int
ar_shim_allreduce_init(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
                       MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    const struct ar_caller caller = AR_CALLER;
    return count_call(
        ar_next->allreduce_init(sendbuf, recvbuf, count, datatype, op, comm, info, request),
        AR_ENTRY_ALLREDUCE_INIT, comm, datatype, op, count, caller);
}

int
ar_shim_allreduce_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                         MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    const struct ar_caller caller = AR_CALLER;
    return count_call(
        ar_next->allreduce_init_c(sendbuf, recvbuf, count, datatype, op, comm, info, request),
        AR_ENTRY_ALLREDUCE_INIT, comm, datatype, op, count, caller);
}
