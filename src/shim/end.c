/* The end of MPI and of sessions' communicators: what ranks do together at that time they do here,
 * in calls that all of them make.  They could not do it in attribute callbacks, because the order
 * of ours and other libraries' callbacks may differ from rank to rank.
 *
 * Fortran: Open MPI's bindings call PMPI_Finalize, and MPICH's mpi_f08 calls no C name at all.  A
 * tool that is found before us calls PMPI_Finalize, too. */
#include "call/leave.h"
#include "communicator/communicator.h"
#include "communicator/process.h"
#include "record/statistics.h"
#include "shim/next.h"

int
ar_shim_finalize(void)
{
    ar_process_close(true);
    return ar_next->finalize();
}

int
ar_shim_library_finalize(void)
{
    ar_process_close(true);
    return ar_next->library_finalize();
}

#ifndef AR_MPI_IS_OPENMPI
void
ar_shim_finalize_f08(int *error)
{
    ar_process_close(true);
    ar_next->finalize_f08(error);
}
#endif

static void
part(const MPI_Comm *comm)
{
    if (!comm || *comm == MPI_COMM_NULL || !ar_statistics_are_parted())
        return;
    const struct ar_communicator *const c = ar_communicator_find(*comm);
    if (c && c->config && !c->agreement.has_versions && c->config->stats_file)
        ar_statistics_part(*comm);
}

struct freeing {
    MPI_Comm *comm;
    int (*next)(MPI_Comm *);
};

static int
run_next(void *with)
{
    const struct freeing *const f = with;
    ar_communicator_free_begin(f->comm ? *f->comm : MPI_COMM_NULL);
    return f->next(f->comm);
}

static void
end_freeing(void *with)
{
    (void)with;
    ar_communicator_free_end();
}

static int
end_communicator(MPI_Comm *comm, int (*next)(MPI_Comm *))
{
    struct freeing f = {comm, next};
    part(comm);
    return ar_call_until(run_next, &f, end_freeing);
}

int
ar_shim_comm_free(MPI_Comm *comm)
{
    return end_communicator(comm, ar_next->comm_free);
}

int
ar_shim_comm_disconnect(MPI_Comm *comm)
{
    return end_communicator(comm, ar_next->comm_disconnect);
}
