#include <config.h>

#include "communicator/carrier.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "execute/group.h"
#include "execute/shared.h"
#include "select/select.h"

/* Carriers that stay, of which a process is rank 0; and all that it may take part in at a time: 3 %
 * of what MPICH has. */
#define KEPT_MAX 16
#define MOST     60

/* Communicators at a time of which one process is rank 0 on one carrier. */
#define SLOTS 4096

struct ar_carrier {
    struct ar_carrier *next;
    uint64_t number; /* names it, alike on all ranks */
    bool is_kept;    /* else it is one communicator's */
    MPI_Comm comm;
    MPI_Group group; /* whose communicators it may serve; MPI_GROUP_NULL: not yet, or nobody's */
    int nranks;
    int *node_of;           /* of its ranks; owned */
    int slots;              /* that the tags of MPI suffice for, for each rank */
    int next_slot;          /* where to look first */
    unsigned char *is_used; /* slots of them; owned */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Under the lock. */
static struct ar_carrier *carriers;
static int kept, taken;

/* What rank 0 tells the others. */
struct offer {
    uint64_t number; /* of the carrier; 0: none was found */
    int slot;
    int leader; /* rank 0's there */
    int is_new;
    int is_kept;
};

/* --- the parts of a communicator --- */

#ifdef AR_MPI_IS_OPENMPI

#define TAG 0

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
ar_carrier_note_copy(MPI_Comm comm)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, create_keyval);
    if (atomic_load(&copied) != MPI_KEYVAL_INVALID)
        PMPI_Comm_set_attr(comm, atomic_load(&copied), NULL);
}

static bool
was_copied(MPI_Comm comm)
{
    const int keyval = atomic_load(&copied);
    int found = 0;
    void *value;
    return keyval != MPI_KEYVAL_INVALID &&
           PMPI_Comm_get_attr(comm, keyval, &value, &found) == MPI_SUCCESS && found;
}

/* As PMPI_Comm_split, but for calling the program's attribute callbacks. */
static int
create_group(MPI_Comm comm, const int *colour_of, int rank, int nranks, MPI_Comm *part)
{
    int *const members = malloc((size_t)nranks * sizeof *members), n = 0;
    MPI_Group all, some;
    if (!members)
        return MPI_ERR_NO_MEM;
    for (int i = 0; i < nranks; i++)
        if (!colour_of || colour_of[i] == colour_of[rank])
            members[n++] = i;
    PMPI_Comm_group(comm, &all);
    int error = PMPI_Group_incl(all, n, members, &some);
    if (!error) {
        error = PMPI_Comm_create_group(comm, some, TAG, part);
        PMPI_Group_free(&some);
    }
    PMPI_Group_free(&all);
    free(members);
    return error;
}

/* PMPI_Comm_split never returns in Open MPI as long as MPI_Comm_idup has made no more than a
 * beginning of a copy of comm.  That it was called for comm is known alike on all ranks. */
static int
split(MPI_Comm comm, const int *colour_of, int rank, int nranks, MPI_Comm *part)
{
    if (was_copied(comm))
        return create_group(comm, colour_of, rank, nranks, part);
    return PMPI_Comm_split(comm, colour_of ? colour_of[rank] : 0, rank, part);
}

/* Sets node_of to the first rank on each rank's node: a node is what has one host's name and boot.
 */
static int
find_nodes(int *node_of, MPI_Comm comm, int rank, int nranks)
{
    const uint64_t mine = ar_host_hash();
    uint64_t *const all = malloc((size_t)nranks * sizeof *all);
    (void)rank;
    if (!all)
        return MPI_ERR_NO_MEM;
    const int error =
        PMPI_Allgather(&mine, (int)sizeof mine, MPI_BYTE, all, (int)sizeof mine, MPI_BYTE, comm);
    for (int i = 0; i < nranks && !error; i++) {
        node_of[i] = 0;
        while (all[node_of[i]] != all[i])
            node_of[i]++;
    }
    free(all);
    return error;
}

#else

void
ar_carrier_note_copy(MPI_Comm comm)
{
    (void)comm;
}

static int
split(MPI_Comm comm, const int *colour_of, int rank, int nranks, MPI_Comm *part)
{
    (void)nranks;
    return PMPI_Comm_split(comm, colour_of ? colour_of[rank] : 0, rank, part);
}

/* Sets node_of to the first rank on each rank's node. */
static int
find_nodes(int *node_of, MPI_Comm comm, int rank, int nranks)
{
    MPI_Comm node;
    int first = rank;
    (void)nranks;
    int error = PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
    if (!error) {
        PMPI_Bcast(&first, 1, MPI_INT, 0, node);
        PMPI_Comm_free(&node);
    }
    const int mine = error ? -1 : first;
    const int failed = PMPI_Allgather(&mine, 1, MPI_INT, node_of, 1, MPI_INT, comm);
    return error ? error : failed;
}

#endif

/* --- carriers --- */

/* A process takes part in no more than its share. */
static bool
take_share(void)
{
    pthread_mutex_lock(&lock);
    const bool has = taken < MOST;
    taken += has;
    pthread_mutex_unlock(&lock);
    return has;
}

static void
destroy(struct ar_carrier *s)
{
    free(s->node_of);
    free(s->is_used);
    free(s);
}

static struct ar_carrier *
allocate(int nranks)
{
    struct ar_carrier *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->comm = MPI_COMM_NULL;
    s->group = MPI_GROUP_NULL;
    s->nranks = nranks;
    s->node_of = malloc((size_t)nranks * sizeof *s->node_of);
    s->is_used = calloc(SLOTS, sizeof *s->is_used);
    if (s->node_of && s->is_used)
        return s;
    destroy(s);
    return NULL;
}

/* Each rank gives out tags of its own, so that two communicators never have the same.  The greatest
 * tag is an attribute of the world's; without a world nothing is shared. */
static int
slots_for(int nranks)
{
    int initialized = 0, found = 0, *most = NULL;
    PMPI_Initialized(&initialized);
    if (initialized)
        PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &found);
    const int slots = found ? *most / AR_WINDOW_MAX / nranks : 0;
    return slots < SLOTS ? slots : SLOTS;
}

static void
enlist(struct ar_carrier *s)
{
    pthread_mutex_lock(&lock);
    s->next = carriers;
    carriers = s;
    pthread_mutex_unlock(&lock);
}

static void
delist(const struct ar_carrier *s)
{
    pthread_mutex_lock(&lock);
    struct ar_carrier **at = &carriers;
    while (*at && *at != s)
        at = &(*at)->next;
    if (*at)
        *at = s->next;
    pthread_mutex_unlock(&lock);
}

/* Nobody's any more. */
static void
give_up(struct ar_carrier *s, bool has_share, bool mpi_lives)
{
    delist(s);
    if (mpi_lives && s->comm != MPI_COMM_NULL)
        PMPI_Comm_free(&s->comm);
    pthread_mutex_lock(&lock);
    taken -= has_share;
    pthread_mutex_unlock(&lock);
    destroy(s);
}

/* Communicators among its ranks may have it from now on. */
static void
open_to(struct ar_carrier *s, MPI_Comm comm, int nranks)
{
    const MPI_Group group = ar_group_of(comm, nranks);
    pthread_mutex_lock(&lock);
    s->group = group;
    pthread_mutex_unlock(&lock);
}

/* Collective; NULL on all ranks where one of them fails, but for *error. */
static struct ar_carrier *
make(const struct offer *offer, MPI_Comm comm, int rank, int nranks, int *error)
{
    struct ar_carrier *const s = allocate(nranks);
    *error = s ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    if (!s)
        return NULL;
    s->number = offer->number;
    s->is_kept = offer->is_kept;
    const bool has_share = take_share();
    bool fails = find_nodes(s->node_of, comm, rank, nranks) != MPI_SUCCESS;
    if (split(comm, NULL, rank, nranks, &s->comm) == MPI_SUCCESS)
        PMPI_Comm_set_errhandler(s->comm, MPI_ERRORS_RETURN);
    else
        s->comm = MPI_COMM_NULL;
    fails |= !has_share || s->comm == MPI_COMM_NULL;
    s->slots = slots_for(nranks);
    s->is_used[0] = rank == 0; /* by this communicator */
    /* Before the ranks meet: once they have, another thread of one of them may lend it. */
    if (s->is_kept)
        enlist(s);
    if (ar_all(comm, !fails)) {
        if (s->is_kept)
            open_to(s, comm, nranks);
        return s;
    }
    give_up(s, has_share, true);
    return NULL;
}

/* --- lending --- */

static int
take_slot(struct ar_carrier *s)
{
    for (int i = 0; i < s->slots; i++) {
        const int slot = (s->next_slot + i) % s->slots;
        if (s->is_used[slot])
            continue;
        s->is_used[slot] = true;
        s->next_slot = slot + 1;
        return slot;
    }
    return -1;
}

/* By rank 0: a carrier that all ranks of comm have. */
static bool
find(struct offer *offer, MPI_Comm comm, int nranks)
{
    pthread_mutex_lock(&lock);
    for (struct ar_carrier *s = carriers; s && offer->number == 0; s = s->next) {
        if (s->group == MPI_GROUP_NULL || !ar_group_covers(s->group, comm, nranks))
            continue;
        offer->slot = take_slot(s);
        if (offer->slot < 0)
            continue;
        offer->number = s->number;
        PMPI_Comm_rank(s->comm, &offer->leader);
    }
    pthread_mutex_unlock(&lock);
    return offer->number != 0;
}

/* By rank 0: what the new one is to be. */
static void
propose(struct offer *offer, MPI_Comm comm, int nranks)
{
    MPI_Group group = ar_group_of(comm, nranks);
    *offer = (struct offer){.is_new = true};
    const bool can_share =
        group != MPI_GROUP_NULL && slots_for(nranks) > 0 &&
        getrandom(&offer->number, sizeof offer->number, 0) == (ssize_t)sizeof offer->number;
    if (group != MPI_GROUP_NULL)
        PMPI_Group_free(&group);
    pthread_mutex_lock(&lock);
    offer->is_kept = can_share && kept < KEPT_MAX;
    kept += offer->is_kept;
    pthread_mutex_unlock(&lock);
}

/* By rank 0: what was to be kept could not be made. */
static void
withdraw(void)
{
    pthread_mutex_lock(&lock);
    kept--;
    pthread_mutex_unlock(&lock);
}

static struct ar_carrier *
find_number(uint64_t number)
{
    pthread_mutex_lock(&lock);
    struct ar_carrier *s = carriers;
    while (s && s->number != number)
        s = s->next;
    pthread_mutex_unlock(&lock);
    return s;
}

/* --- what a communicator has of it --- */

/* rank_of[i]: the carrier's rank of rank i. */
static int
translate(int *rank_of, const struct ar_carrier *s, MPI_Comm comm, int nranks)
{
    MPI_Group ours, theirs;
    int *const ranks = malloc((size_t)nranks * sizeof *ranks);
    if (!ranks)
        return MPI_ERR_NO_MEM;
    for (int i = 0; i < nranks; i++)
        ranks[i] = i;
    PMPI_Comm_group(comm, &theirs);
    PMPI_Comm_group(s->comm, &ours);
    const int error = PMPI_Group_translate_ranks(theirs, nranks, ranks, ours, rank_of);
    PMPI_Group_free(&ours);
    PMPI_Group_free(&theirs);
    free(ranks);
    return error;
}

/* Numbers the nodes by their first ranks. */
static int
number_nodes(int *node_of, const int *rank_of, const struct ar_carrier *s, int nranks)
{
    int nodes = 0, *const number = malloc((size_t)s->nranks * sizeof *number);
    if (!number)
        return MPI_ERR_NO_MEM;
    for (int i = 0; i < s->nranks; i++)
        number[i] = -1;
    for (int i = 0; i < nranks; i++) {
        int *const n = &number[s->node_of[rank_of[i]]];
        if (*n < 0)
            *n = nodes++;
        node_of[i] = *n;
    }
    free(number);
    return MPI_SUCCESS;
}

static int
fit(struct ar_carriage *carriage, MPI_Comm comm, int nranks)
{
    const size_t bytes = (size_t)nranks * sizeof(int);
    carriage->rank_of = malloc(bytes);
    carriage->node_of = malloc(bytes);
    if (!carriage->rank_of || !carriage->node_of)
        return MPI_ERR_NO_MEM;
    int error = translate(carriage->rank_of, carriage->carrier, comm, nranks);
    if (!error)
        error = number_nodes(carriage->node_of, carriage->rank_of, carriage->carrier, nranks);
    carriage->wire.comm = carriage->carrier->comm;
    carriage->wire.rank_of = carriage->rank_of;
    return error;
}

bool
ar_carriage_get(struct ar_carriage *carriage, MPI_Comm comm, int rank, int nranks, int *error)
{
    struct offer offer = {.number = 0};
    *carriage = (struct ar_carriage){.slot = -1};
    if (rank == 0 && !find(&offer, comm, nranks))
        propose(&offer, comm, nranks);
    *error = PMPI_Bcast(&offer, (int)sizeof offer, MPI_BYTE, 0, comm);
    if (*error)
        return false;
    carriage->carrier =
        offer.is_new ? make(&offer, comm, rank, nranks, error) : find_number(offer.number);
    if (rank == 0 && offer.is_kept && !carriage->carrier)
        withdraw();
    if (!carriage->carrier)
        return false;
    if (rank == 0)
        carriage->slot = offer.slot;
    carriage->wire.tag = (offer.slot * carriage->carrier->nranks + offer.leader) * AR_WINDOW_MAX;
    *error = fit(carriage, comm, nranks);
    return !*error;
}

void
ar_carriage_return(struct ar_carriage *carriage, bool mpi_lives)
{
    struct ar_carrier *const s = carriage->carrier;
    free(carriage->rank_of);
    free(carriage->node_of);
    if (s && !s->is_kept) {
        give_up(s, true, mpi_lives);
    } else if (s && carriage->slot >= 0) {
        pthread_mutex_lock(&lock);
        s->is_used[carriage->slot] = false;
        pthread_mutex_unlock(&lock);
    }
    *carriage = (struct ar_carriage){.slot = -1};
}

MPI_Comm
ar_carriage_node(const struct ar_carriage *carriage, MPI_Comm comm, int rank, int nranks)
{
    MPI_Comm node = MPI_COMM_NULL;
    bool is_one = true;
    for (int i = 1; i < nranks; i++)
        is_one &= carriage->node_of[i] == 0;
    if (is_one)
        return comm;
    if (split(comm, carriage->node_of, rank, nranks, &node))
        return MPI_COMM_NULL;
    PMPI_Comm_set_errhandler(node, MPI_ERRORS_RETURN);
    return node;
}

void
ar_carriers_close(void)
{
    pthread_mutex_lock(&lock);
    for (struct ar_carrier *s = carriers; s; s = s->next) {
        if (s->group != MPI_GROUP_NULL)
            PMPI_Group_free(&s->group);
        PMPI_Comm_free(&s->comm);
    }
    pthread_mutex_unlock(&lock);
}
