/* Calls that bring an info object to a communicator: MPI libraries drop keys that they do not know,
 * so the one that is ours is read on the way.  And the call that copies a communicator while others
 * go on. */
#include "communicator/carrier.h"
#include "communicator/wish.h"
#include "shim/next.h"

AR_EXPORT int
MPI_Comm_set_info(MPI_Comm comm, MPI_Info info)
{
    const int error = ar_next_get()->comm_set_info(comm, info);
    if (!error)
        ar_wish_from_info(comm, info);
    return error;
}

AR_EXPORT int
MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm)
{
    const int error = ar_next_get()->comm_dup_with_info(comm, info, newcomm);
    if (!error)
        ar_wish_from_info(*newcomm, info);
    return error;
}

AR_EXPORT int
MPI_Comm_idup(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request)
{
    const int error = ar_next_get()->comm_idup(comm, newcomm, request);
    if (!error)
        ar_carrier_note_copy(comm);
    return error;
}

#ifdef AR_MPI_IS_OPENMPI
/* Open MPI's Fortran bindings call this one. */
AR_EXPORT int
PMPI_Comm_idup(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request)
{
    const int error = ar_next_get()->library_comm_idup(comm, newcomm, request);
    if (!error)
        ar_carrier_note_copy(comm);
    return error;
}
#endif
