#include "execute/group.h"

#include <stdlib.h>

#include "execute/quiet.h"

/* Made from the group of MPI_COMM_WORLD: a group that came from a session could not outlive it. */
MPI_Group
ar_group_of(MPI_Comm comm, int nranks)
{
    MPI_Group ranks, world, common = MPI_GROUP_NULL;
    int initialized = 0, size = 0;
    PMPI_Initialized(&initialized); /* false with sessions alone */
    if (!initialized)
        return MPI_GROUP_NULL;
    PMPI_Comm_group(comm, &ranks);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Group_intersection(world, ranks, &common);
    PMPI_Group_free(&world);
    PMPI_Group_free(&ranks);
    PMPI_Group_size(common, &size);
    if (size < nranks && common != MPI_GROUP_EMPTY)
        PMPI_Group_free(&common);
    return size < nranks ? MPI_GROUP_NULL : common;
}

bool
ar_group_number(int *numbers, MPI_Group group, MPI_Comm comm, int nranks)
{
    MPI_Group ranks;
    int *const all = malloc((size_t)nranks * sizeof *all);
    if (!all)
        return false;
    for (int i = 0; i < nranks; i++)
        all[i] = i;
    PMPI_Comm_group(comm, &ranks);
    bool found = PMPI_Group_translate_ranks(ranks, nranks, all, group, numbers) == MPI_SUCCESS;
    PMPI_Group_free(&ranks);
    free(all);
    for (int i = 0; i < nranks && found; i++)
        found = numbers[i] != MPI_UNDEFINED;
    return found;
}

bool
ar_group_covers(MPI_Group group, MPI_Comm comm, int nranks)
{
    int *const numbers = malloc((size_t)nranks * sizeof *numbers);
    const bool covers = numbers && ar_group_number(numbers, group, comm, nranks);
    free(numbers);
    return covers;
}

int
ar_reduce_all(void *numbers, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    int rank;
    PMPI_Comm_rank(comm, &rank);
    const void *const in = rank == 0 ? MPI_IN_PLACE : numbers;
    const int error = PMPI_Reduce(in, numbers, n, type, op, 0, comm);
    return error ? error : PMPI_Bcast(numbers, n, type, 0, comm);
}

bool
ar_all(MPI_Comm comm, bool says_yes)
{
    int all = says_yes;
    return ar_reduce_all(&all, 1, MPI_INT, MPI_LAND, comm) == MPI_SUCCESS && all;
}

bool
ar_comm_own(MPI_Comm *own, MPI_Comm comm)
{
    struct ar_quiet quiet;
    ar_quiet_begin(&quiet, comm);
    const bool is_made = PMPI_Comm_split(comm, 0, 0, own) == MPI_SUCCESS;
    const bool is_made_by_all = ar_all(comm, is_made);
    ar_quiet_end(&quiet);
    if (is_made && !is_made_by_all)
        PMPI_Comm_free(own);
    return is_made_by_all;
}
