/* MPI_Comm_set_name: statistics are also written where MPI can no longer be asked for a name, as by
 * the thread that a signal wakes and at an exit without MPI_Finalize.  So the name is taken here.
 */
#include "record/statistics.h"
#include "shim/next.h"

int
ar_shim_comm_set_name(MPI_Comm comm, const char *name)
{
    const int error = ar_next->comm_set_name(comm, name);
    if (!error)
        ar_statistics_rename(comm);
    return error;
}

/* Open MPI's Fortran bindings call this one, and so does MPICH's mpi_f08. */
int
ar_shim_library_comm_set_name(MPI_Comm comm, const char *name)
{
    const int error = ar_next->library_comm_set_name(comm, name);
    if (!error)
        ar_statistics_rename(comm);
    return error;
}
