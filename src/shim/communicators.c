/* Calls that give a communicator an info object: MPI libraries drop keys that they do not know, so
 * we read our own key here.  And the calls that copy a communicator while other calls go on, or
 * join groups that may be of two worlds, and those that name one. */
#include <stdlib.h>

#include "communicator/process.h"
#include "communicator/program_clauses.h"
#include "execute/group.h"
#include "record/statistics.h"
#include "shim/next.h"

#define INFO_KEY "allreduce_algo"

/* Collective over comm.  Nothing happens where no rank's info (which may be MPI_INFO_NULL) has the
 * key; clauses that cannot be understood are ignored, as hints are. */
static void
choose_by_info(MPI_Comm comm, MPI_Info info)
{
    char *value = NULL;
    int length = 0, found = 0, inter = 0;
    if (info != MPI_INFO_NULL && !PMPI_Info_get_valuelen(info, INFO_KEY, &length, &found) && found)
        value = malloc((size_t)length + 1);
    if (value)
        PMPI_Info_get(info, INFO_KEY, length, value, &found);
    int any = value != NULL;
    PMPI_Comm_test_inter(comm, &inter);
    if (!inter && !ar_comm_leaves_world(comm) &&
        ar_reduce_all(&any, 1, MPI_INT, MPI_LOR, comm) == MPI_SUCCESS && any) {
        ar_process_begin();
        ar_program_clauses_set(comm, value ? value : "");
    }
    free(value);
}

static int
set_info(int (*next)(MPI_Comm, MPI_Info), MPI_Comm comm, MPI_Info info)
{
    const int error = next(comm, info);
    if (!error)
        choose_by_info(comm, info);
    return error;
}

int
ar_shim_comm_set_info(MPI_Comm comm, MPI_Info info)
{
    return set_info(ar_next->comm_set_info, comm, info);
}

int
ar_shim_library_comm_set_info(MPI_Comm comm, MPI_Info info)
{
    return set_info(ar_next->library_comm_set_info, comm, info);
}

static int
dup_with_info(int (*next)(MPI_Comm, MPI_Info, MPI_Comm *), MPI_Comm comm, MPI_Info info,
              MPI_Comm *newcomm)
{
    const int error = next(comm, info, newcomm);
    if (!error)
        choose_by_info(*newcomm, info);
    return error;
}

int
ar_shim_comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm)
{
    return dup_with_info(ar_next->comm_dup_with_info, comm, info, newcomm);
}

int
ar_shim_library_comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm)
{
    return dup_with_info(ar_next->library_comm_dup_with_info, comm, info, newcomm);
}

/* A copy that is under way.  A choice in its info is not read: the copy cannot be used yet, and the
 * ranks need not wait for each other here. */
static int
note_copy(MPI_Comm comm, int error)
{
    if (!error)
        ar_comm_note_copy(comm);
    return error;
}

int
ar_shim_comm_idup(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request)
{
    return note_copy(comm, ar_next->comm_idup(comm, newcomm, request));
}

int
ar_shim_library_comm_idup(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request)
{
    return note_copy(comm, ar_next->library_comm_idup(comm, newcomm, request));
}

int
ar_shim_comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm, MPI_Request *request)
{
    return note_copy(comm, ar_next->comm_idup_with_info(comm, info, newcomm, request));
}

int
ar_shim_library_comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm,
                                    MPI_Request *request)
{
    return note_copy(comm, ar_next->library_comm_idup_with_info(comm, info, newcomm, request));
}

static int
note_merge(int error)
{
    if (!error)
        ar_comm_note_merge();
    return error;
}

int
ar_shim_intercomm_merge(MPI_Comm inter, int is_high, MPI_Comm *merged)
{
    return note_merge(ar_next->intercomm_merge(inter, is_high, merged));
}

int
ar_shim_library_intercomm_merge(MPI_Comm inter, int is_high, MPI_Comm *merged)
{
    return note_merge(ar_next->library_intercomm_merge(inter, is_high, merged));
}

/* --- names --- */

/* Statistics are also written where MPI can no longer be asked for a name, as by the thread that a
 * signal wakes and at an exit without MPI_Finalize.  So the name is taken here. */

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
