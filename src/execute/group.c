#include <config.h>

#include "execute/group.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "execute/quiet.h"

bool
ar_world_is_there(void)
{
    int initialized = 0;
    PMPI_Initialized(&initialized);
    return initialized;
}

/* In Open MPI every way to compare groups takes a time that grows with the square of their size.
 * But there a copy shares its original's group, so the handles are equal. */
bool
ar_comm_is_like_world(MPI_Comm comm)
{
    MPI_Group ranks, world;
    if (!ar_world_is_there())
        return false;
    PMPI_Comm_group(comm, &ranks);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    const bool is_like = ranks == world;
    PMPI_Group_free(&ranks);
    PMPI_Group_free(&world);
    return is_like;
}

static atomic_bool has_merged;

void
ar_comm_note_merge(void)
{
    atomic_store(&has_merged, true);
}

bool
ar_comm_leaves_world(MPI_Comm comm)
{
    MPI_Group world;
    int size = 0;
    if (!atomic_load(&has_merged) || !ar_world_is_there())
        return false;
    PMPI_Comm_size(comm, &size);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    const bool covers = ar_group_covers(world, comm, size);
    PMPI_Group_free(&world);
    return !covers;
}

/* Made from the group of MPI_COMM_WORLD: a group that came from a session could not outlive it. */
MPI_Group
ar_group_of(MPI_Comm comm, int nranks)
{
    MPI_Group ranks, world, common = MPI_GROUP_NULL;
    int size = 0;
    if (!ar_world_is_there())
        return MPI_GROUP_NULL;
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    if (ar_comm_is_like_world(comm))
        return world;
    PMPI_Comm_group(comm, &ranks);
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
        all[i] = numbers[i] = i;
    PMPI_Comm_group(comm, &ranks);
    bool found = ranks == group || /* as that of a copy of the world may be */
                 PMPI_Group_translate_ranks(ranks, nranks, all, group, numbers) == MPI_SUCCESS;
    PMPI_Group_free(&ranks);
    free(all);
    for (int i = 0; i < nranks && found; i++)
        found = numbers[i] != MPI_UNDEFINED;
    return found;
}

void
ar_world_find(int *rank, int *nranks)
{
    int finalized = 0;
    PMPI_Finalized(&finalized);
    if (!ar_world_is_there() || finalized)
        return;
    PMPI_Comm_size(MPI_COMM_WORLD, nranks);
    PMPI_Comm_rank(MPI_COMM_WORLD, rank);
}

int *
ar_world_ranks(MPI_Comm comm, int nranks)
{
    MPI_Group world;
    int *const numbers = ar_world_is_there() ? malloc((size_t)nranks * sizeof *numbers) : NULL;
    if (!numbers)
        return NULL;
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    const bool found = ar_group_number(numbers, world, comm, nranks);
    PMPI_Group_free(&world);
    if (found)
        return numbers;
    free(numbers);
    return NULL;
}

/* Part after part, without memory that a single rank could lack. */
bool
ar_group_covers(MPI_Group group, MPI_Comm comm, int nranks)
{
    enum { PART = 256 };
    int all[PART], numbers[PART];
    MPI_Group ranks;
    PMPI_Comm_group(comm, &ranks);
    const bool is_same = ranks == group; /* as that of a copy of the world may be */
    bool covers = true;
    for (int first = 0; first < nranks && covers && !is_same; first += PART) {
        const int n = nranks - first < PART ? nranks - first : PART;
        for (int i = 0; i < n; i++)
            all[i] = first + i;
        covers = PMPI_Group_translate_ranks(ranks, n, all, group, numbers) == MPI_SUCCESS;
        for (int i = 0; i < n && covers; i++)
            covers = numbers[i] != MPI_UNDEFINED;
    }
    PMPI_Group_free(&ranks);
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

/* --- parts of a communicator --- */

#ifdef AR_MPI_IS_OPENMPI

/* Of communicators that the program had copied by MPI_Comm_idup; MPI_KEYVAL_INVALID as long as
 * there are none. */
static atomic_int copied = MPI_KEYVAL_INVALID;

static void
create_keyval(void)
{
    int keyval;
    if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL) ==
        MPI_SUCCESS)
        atomic_store(&copied, keyval);
}

void
ar_comm_note_copy(MPI_Comm comm)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, create_keyval);
    if (atomic_load(&copied) != MPI_KEYVAL_INVALID)
        PMPI_Comm_set_attr(comm, atomic_load(&copied), NULL);
}

/* A split may never return while a copy is under way, and nobody knows when the copy is complete.
 * PMPI_Comm_create_group would return, but its messages may match a receive of the program's from
 * any source.  That comm was copied is known alike on all ranks. */
int
ar_comm_split(MPI_Comm *part, MPI_Comm comm, const int *colour_of, int rank, int nranks)
{
    const int keyval = atomic_load(&copied);
    int found = 0;
    void *value;
    (void)nranks;
    if (keyval != MPI_KEYVAL_INVALID)
        PMPI_Comm_get_attr(comm, keyval, &value, &found);
    return found ? MPI_ERR_COMM
                 : PMPI_Comm_split(comm, colour_of ? colour_of[rank] : 0, rank, part);
}

#else

void
ar_comm_note_copy(MPI_Comm comm)
{
    (void)comm;
}

int
ar_comm_split(MPI_Comm *part, MPI_Comm comm, const int *colour_of, int rank, int nranks)
{
    (void)nranks;
    return PMPI_Comm_split(comm, colour_of ? colour_of[rank] : 0, rank, part);
}

#endif

bool
ar_comm_own(MPI_Comm *own, MPI_Comm comm)
{
    int rank, nranks;
    struct ar_quiet quiet;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &nranks);
    ar_quiet_begin(&quiet, comm);
    const bool is_made = ar_comm_split(own, comm, NULL, rank, nranks) == MPI_SUCCESS;
    const bool is_made_by_all = ar_all(comm, is_made);
    ar_quiet_end(&quiet);
    if (is_made && !is_made_by_all)
        PMPI_Comm_free(own);
    return is_made_by_all;
}
