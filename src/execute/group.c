#include <config.h>

#include "execute/group.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "execute/key.h"

bool
ar_world_is_there(void)
{
    int initialized = 0;
    PMPI_Initialized(&initialized);
    return initialized;
}

bool
ar_world_has_ended(void)
{
    int finalized = 0;
    PMPI_Finalized(&finalized);
    return finalized;
}

static atomic_bool has_merged;

void
ar_comm_note_merge(void)
{
    atomic_store(&has_merged, true);
}

/* Has a rank of comm a number in MPI_COMM_WORLD from lowest to highest, or does MPI fail?  Part
 * after part, without memory that a single rank could lack. */
static bool
has_in_world(MPI_Comm comm, int lowest, int highest)
{
    enum { PART = 256 };
    int nranks, all[PART], numbers[PART];
    MPI_Group ranks, world;
    PMPI_Comm_size(comm, &nranks);
    PMPI_Comm_group(comm, &ranks);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    const bool is_same = ranks == world; /* as that of a copy of the world may be */
    bool has = false;
    for (int first = 0; first < nranks && !has; first += PART) {
        const int n = nranks - first < PART ? nranks - first : PART;
        for (int i = 0; i < n; i++)
            all[i] = numbers[i] = first + i;
        has = !is_same && PMPI_Group_translate_ranks(ranks, n, all, world, numbers) != MPI_SUCCESS;
        for (int i = 0; i < n && !has; i++)
            has = numbers[i] >= lowest && numbers[i] <= highest;
    }
    PMPI_Group_free(&ranks);
    PMPI_Group_free(&world);
    return has;
}

bool
ar_comm_leaves_world(MPI_Comm comm)
{
    return atomic_load(&has_merged) && ar_world_is_there() &&
           has_in_world(comm, MPI_UNDEFINED, MPI_UNDEFINED);
}

bool
ar_comm_has_lower(MPI_Comm comm)
{
    int rank = -1, nranks;
    ar_world_find(&rank, &nranks);
    if (rank >= 0)
        return has_in_world(comm, 0, rank - 1);
    PMPI_Comm_rank(comm, &rank);
    return rank > 0;
}

/* In Open MPI every way to compare groups takes a time that grows with the square of their size.
 * But there a copy shares its original's group, so the handles are equal. */
static bool
number_ranks(int *numbers, MPI_Group group, const struct ar_circle *of)
{
    MPI_Group ranks;
    int *const all = malloc((size_t)of->n * sizeof *all);
    if (!all)
        return false;
    for (int i = 0; i < of->n; i++)
        all[i] = numbers[i] = of->ranks ? of->ranks[i] : i;
    PMPI_Comm_group(of->comm, &ranks);
    bool found = ranks == group ||
                 PMPI_Group_translate_ranks(ranks, of->n, all, group, numbers) == MPI_SUCCESS;
    PMPI_Group_free(&ranks);
    free(all);
    for (int i = 0; i < of->n && found; i++)
        found = numbers[i] != MPI_UNDEFINED;
    return found;
}

void
ar_world_find(int *rank, int *nranks)
{
    if (!ar_world_is_there() || ar_world_has_ended())
        return;
    PMPI_Comm_size(MPI_COMM_WORLD, nranks);
    PMPI_Comm_rank(MPI_COMM_WORLD, rank);
}

static int *
find_in_world(const struct ar_circle *circle)
{
    MPI_Group world;
    int *const numbers = ar_world_is_there() ? malloc((size_t)circle->n * sizeof *numbers) : NULL;
    if (!numbers)
        return NULL;
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    const bool found = number_ranks(numbers, world, circle);
    PMPI_Group_free(&world);
    if (found)
        return numbers;
    free(numbers);
    return NULL;
}

int *
ar_world_ranks(MPI_Comm comm, int nranks)
{
    const struct ar_circle all = {.comm = comm, .n = nranks};
    return find_in_world(&all);
}

static int
compare_members(const void *one, const void *other)
{
    const struct ar_member *const a = one, *const b = other;
    return (a->world > b->world) - (a->world < b->world);
}

struct ar_members *
ar_members_of(const struct ar_circle *circle)
{
    const size_t n = (size_t)circle->n;
    int *const world = find_in_world(circle);
    struct ar_members *const m = world ? malloc(sizeof *m + n * sizeof m->sorted[0]) : NULL;
    if (m) {
        m->n = circle->n;
        for (int i = 0; i < circle->n; i++)
            m->sorted[i] = (struct ar_member){world[i], i};
        qsort(m->sorted, n, sizeof m->sorted[0], compare_members);
    }
    free(world);
    return m;
}

bool
ar_members_number(int *numbers, const struct ar_members *all, const struct ar_members *some)
{
    int i = 0, found = 0;
    if (!all || !some || all->n < some->n)
        return false;
    for (; found < some->n && i < all->n; i++)
        if (all->sorted[i].world == some->sorted[found].world) {
            if (numbers)
                numbers[some->sorted[found].number] = all->sorted[i].number;
            found++;
        }
    return found == some->n;
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

/* --- circles --- */

struct ar_circle
ar_circle_of(MPI_Comm comm, int rank, int nranks)
{
    return (struct ar_circle){.comm = comm, .rank = rank, .n = nranks};
}

int
ar_circle_tell(const struct ar_circle *c, void *data, int bytes)
{
    int error = MPI_SUCCESS;
    if (!c->ranks)
        return PMPI_Bcast(data, bytes, MPI_BYTE, 0, c->comm);
    if (c->rank > 0)
        return PMPI_Recv(data, bytes, MPI_BYTE, c->ranks[0], c->tag, c->comm, MPI_STATUS_IGNORE);
    for (int i = 1; i < c->n && !error; i++)
        error = PMPI_Send(data, bytes, MPI_BYTE, c->ranks[i], c->tag, c->comm);
    return error;
}

/* Part by part, for the sake of small stacks. */
int
ar_circle_unite(const struct ar_circle *c, void *bits, int bytes)
{
    enum { PART = 512 };
    char came[PART];
    int error = MPI_SUCCESS;
    if (!c->ranks)
        return ar_reduce_all(bits, bytes, MPI_BYTE, MPI_BOR, c->comm);
    for (int begin = 0; begin < bytes && !error; begin += PART) {
        const int n = bytes - begin < PART ? bytes - begin : PART;
        char *const own = (char *)bits + begin;
        if (c->rank > 0)
            error = PMPI_Send(own, n, MPI_BYTE, c->ranks[0], c->tag, c->comm);
        for (int i = 1; i < c->n && c->rank == 0 && !error; i++) {
            error = PMPI_Recv(came, n, MPI_BYTE, c->ranks[i], c->tag, c->comm, MPI_STATUS_IGNORE);
            for (int k = 0; k < n; k++)
                own[k] |= came[k];
        }
    }
    return error ? error : ar_circle_tell(c, bits, bytes);
}

bool
ar_circle_all(const struct ar_circle *c, bool says_yes)
{
    unsigned char refuses = !says_yes;
    return ar_circle_unite(c, &refuses, 1) == MPI_SUCCESS && !refuses;
}

/* --- parts of a communicator --- */

#ifdef AR_MPI_IS_OPENMPI

/* Of communicators that the program had copied by MPI_Comm_idup. */
static MPI_Comm_delete_attr_function forget_copy;
static struct ar_key copied = {MPI_COMM_NULL_COPY_FN, forget_copy, 0};

static int
forget_copy(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm;
    (void)keyval;
    (void)value;
    (void)extra;
    ar_key_leave(&copied);
    return MPI_SUCCESS;
}

void
ar_comm_note_copy(MPI_Comm comm)
{
    if (!ar_world_has_ended())
        ar_key_set(&copied, comm, NULL);
}

/* A split may never return while a copy is under way, and nobody knows when the copy is complete.
 * PMPI_Comm_create_group would return, but its messages may match a receive of the program's from
 * any source.  That comm was copied is known alike on all ranks. */
static bool
may_be_split(MPI_Comm comm)
{
    int found = 0;
    void *value;
    ar_key_get(&copied, comm, &value, &found);
    return !found;
}

static MPI_Comm
asked_for(MPI_Comm comm)
{
    return comm;
}

#else

void
ar_comm_note_copy(MPI_Comm comm)
{
    (void)comm;
}

static bool
may_be_split(MPI_Comm comm)
{
    (void)comm;
    return true;
}

/* A communicator without a handler has that of MPI_COMM_WORLD at the time of an error, but says
 * MPI_ERRORS_ARE_FATAL, and would no longer follow the world if that were set.  So the world's is
 * replaced instead, if no other thread can see it.  Otherwise comm's is replaced only if the
 * world's is the same: if it is another one, errors do not end the job. */
static MPI_Comm
asked_for(MPI_Comm comm)
{
    MPI_Errhandler own, worlds;
    MPI_Comm asked = comm;
    int level;
    if (comm == MPI_COMM_WORLD || !ar_world_is_there())
        return comm;
    PMPI_Comm_get_errhandler(comm, &own);
    PMPI_Comm_get_errhandler(MPI_COMM_WORLD, &worlds);
    PMPI_Query_thread(&level);
    if (own == MPI_ERRORS_ARE_FATAL && level != MPI_THREAD_MULTIPLE)
        asked = MPI_COMM_WORLD;
    else if (own == MPI_ERRORS_ARE_FATAL && worlds != own)
        asked = MPI_COMM_NULL;
    PMPI_Errhandler_free(&own);
    PMPI_Errhandler_free(&worlds);
    return asked;
}

#endif

int
ar_comm_split(MPI_Comm *part, MPI_Comm comm, const int *colour_of, int rank)
{
    MPI_Errhandler handler, now;
    if (!may_be_split(comm))
        return MPI_ERR_COMM;
    const MPI_Comm asked = asked_for(comm);
    if (asked != MPI_COMM_NULL) {
        PMPI_Comm_get_errhandler(asked, &handler);
        PMPI_Comm_set_errhandler(asked, MPI_ERRORS_RETURN);
    }
    const int error = PMPI_Comm_split(comm, colour_of ? colour_of[rank] : 0, rank, part);
    if (asked != MPI_COMM_NULL) {
        PMPI_Comm_get_errhandler(asked, &now);
        if (now == MPI_ERRORS_RETURN) /* else another thread has set one */
            PMPI_Comm_set_errhandler(asked, handler);
        PMPI_Errhandler_free(&now);
        PMPI_Errhandler_free(&handler);
    }
    if (!error)
        PMPI_Comm_set_errhandler(*part, MPI_ERRORS_RETURN);
    return error;
}

/* --- communicators of ours --- */

bool
ar_comm_own(MPI_Comm *own, MPI_Comm comm)
{
    int rank;
    PMPI_Comm_rank(comm, &rank);
    const bool is_made = ar_comm_split(own, comm, NULL, rank) == MPI_SUCCESS;
    const bool is_made_by_all = ar_all(comm, is_made);
    if (is_made && !is_made_by_all)
        PMPI_Comm_free(own);
    return is_made_by_all;
}

/* Of this process alone; NULL: not made yet.  On the heap, since handles have no atomic type. */
static _Atomic(MPI_Comm *) self;

MPI_Comm
ar_comm_self(void)
{
    MPI_Comm *known = atomic_load(&self), *const made = known ? NULL : malloc(sizeof *made);
    if (!made || !ar_world_is_there() || ar_comm_split(made, MPI_COMM_SELF, NULL, 0)) {
        free(made);
        return known ? *known : MPI_COMM_NULL;
    }
    if (atomic_compare_exchange_strong(&self, &known, made))
        return *made;
    PMPI_Comm_free(made); /* another thread was faster */
    free(made);
    return *known;
}

void
ar_comm_self_close(void)
{
    MPI_Comm *const known = atomic_exchange(&self, NULL);
    if (known)
        PMPI_Comm_free(known);
    free(known);
}
