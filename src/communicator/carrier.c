#include <config.h>

#include "communicator/carrier.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

#include "algorithms/firsts.h"
#include "algorithms/nodes.h"
#include "execute/group.h"
#include "execute/shared.h"

/* How many carriers a process takes part in at a time, which are 3 % of the communicators that
 * MPICH has, and how many of these it keeps.  To free one that is kept, all its ranks would have to
 * meet.  So the kept ones are few, and others are always left for the communicators in use. */
#define MOST     60
#define KEPT_MAX 16

/* Ranges of AR_WINDOW_MAX tags, one for each communicator, that one process gives out on one
 * carrier: those of communicators of which it is rank 0. */
#define RANGES 4096

/* Of groups that are only known to agree, the last ones are kept. */
#define AGREED_MAX 16

struct ar_carrier {
    struct ar_carrier *next;
    uint64_t number;            /* names it, alike on all ranks */
    bool is_kept;               /* else it is one communicator's */
    bool is_alike;              /* its ranks have the same version and settings */
    bool is_plain;              /* no rank has MPI_THREAD_MULTIPLE; alike on all ranks */
    MPI_Comm comm;              /* MPI_COMM_NULL: the ranks are only known to agree */
    bool is_open;               /* it may be lent.  Under the lock */
    struct ar_members *members; /* whose communicators it may serve, if it is kept */
    int rank, nranks;           /* of this process there */
    int *host_of;               /* of its ranks; NULL: one host, or hosts are not known */
    struct ar_crowd crowd;      /* see struct ar_carriage */
    int on_host;
    int *node_of;            /* of its ranks, as found; owned, as is host_of */
    int ranges;              /* for which the tags of MPI suffice, for each rank */
    int next_range;          /* where to look first */
    unsigned char is_used[]; /* of RANGES, if there is a comm */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Under the lock. */
static struct ar_carrier *carriers; /* all, the last one first */
static int kept, taken;

/* What rank 0 tells the others. */
struct offer {
    struct ar_carriage_offer found;
    bool is_new; /* still to be made, with this number */
    bool may_keep;
};

/* --- the nodes of a communicator --- */

#ifdef AR_MPI_IS_OPENMPI

/* Ranks of a node have its name and boot. */
int
ar_carrier_find_nodes(int *node_of, MPI_Comm comm, int rank, int nranks)
{
    const uint64_t mine = ar_host_hash();
    uint64_t *const all = malloc((size_t)nranks * sizeof *all);
    (void)rank;
    if (!ar_all(comm, all != NULL)) {
        free(all);
        return MPI_ERR_NO_MEM;
    }
    int error =
        PMPI_Allgather(&mine, (int)sizeof mine, MPI_BYTE, all, (int)sizeof mine, MPI_BYTE, comm);
    if (!error && ar_firsts_find(node_of, all, nranks))
        error = MPI_ERR_NO_MEM;
    free(all);
    return error;
}

#else

int
ar_carrier_find_nodes(int *node_of, MPI_Comm comm, int rank, int nranks)
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

/* Each rank gives out tags of its own, so that two communicators never have the same.  The greatest
 * tag is an attribute of the world's; without a world nothing is shared. */
static int
ranges_for(int nranks)
{
    int found = 0, *most = NULL;
    if (ar_world_is_there())
        PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &found);
    const int ranges = found ? *most / AR_WINDOW_MAX / nranks : 0;
    return ranges < RANGES ? ranges : RANGES;
}

/* Takes a carrier that nobody uses any more from the list, and frees it. */
static void
give_up(struct ar_carrier *s, bool mpi_lives)
{
    pthread_mutex_lock(&lock);
    struct ar_carrier **at = &carriers;
    while (*at && *at != s)
        at = &(*at)->next;
    if (*at)
        *at = s->next;
    taken--;
    kept -= s->is_kept;
    pthread_mutex_unlock(&lock);
    if (mpi_lives && s->comm != MPI_COMM_NULL)
        PMPI_Comm_free(&s->comm);
    free(s->members);
    free(s->host_of);
    free(s->node_of);
    free(s);
}

/* How many ranks are on this one's host, whose nodes may be containers; 0: unknown. */
static int
count_on_host(uint64_t *boot_of, MPI_Comm comm, int nranks)
{
    const uint64_t mine = ar_boot_hash();
    const int bytes = (int)sizeof mine;
    int n = 0;
    if (PMPI_Allgather(&mine, bytes, MPI_BYTE, boot_of, bytes, MPI_BYTE, comm) != MPI_SUCCESS)
        return 0;
    if (mine == 0)
        return 0;
    for (int i = 0; i < nranks; i++)
        n += boot_of[i] == mine;
    return n;
}

/* Each rank's host: the first rank with the same boot.  NULL for one host, where a boot is not
 * known, and without memory. */
static int *
find_hosts(const uint64_t *boot_of, int nranks)
{
    int *const host_of = malloc((size_t)nranks * sizeof *host_of);
    bool are_known = host_of && !ar_firsts_find(host_of, boot_of, nranks), are_several = false;
    for (int i = 0; i < nranks && are_known; i++) {
        are_known = boot_of[i] != 0;
        are_several |= host_of[i] != 0;
    }
    if (are_known && are_several)
        return host_of;
    free(host_of);
    return NULL;
}

/* All ranks must have a share, and all must keep it or none.  False, alike on all ranks, if one has
 * none. */
static bool
split(struct ar_carrier *s, bool may_keep, const struct ar_circle *all)
{
    enum { MAKES = 1, KEEPS = 2, IS_PLAIN = 4 };
    int level, can;
    PMPI_Query_thread(&level);
    pthread_mutex_lock(&lock);
    can = taken < MOST ? MAKES : 0;
    can |= may_keep && kept < KEPT_MAX ? KEEPS : 0;
    can |= level != MPI_THREAD_MULTIPLE ? IS_PLAIN : 0;
    const bool counts = can & KEEPS;
    taken++;
    kept += counts;
    pthread_mutex_unlock(&lock);
    if (ar_comm_split(&s->comm, all->comm, NULL, all->rank) != MPI_SUCCESS) {
        s->comm = MPI_COMM_NULL;
        can &= ~MAKES;
    }
    if (ar_reduce_all(&can, 1, MPI_INT, MPI_BAND, all->comm))
        can = 0;
    s->is_kept = can & KEEPS;
    s->is_plain = can & IS_PLAIN;
    pthread_mutex_lock(&lock);
    kept -= counts && !s->is_kept;
    pthread_mutex_unlock(&lock);
    return can & MAKES;
}

/* What may run on the CPUs of this rank's node; room: for its ranks.  Collective over the ranks of
 * each node. */
static void
find_crowd(struct ar_carrier *s, int *room)
{
    struct ar_circle node = {.comm = s->comm, .ranks = room};
    for (int i = 0; i < s->nranks; i++)
        if (s->node_of[i] == s->node_of[s->rank]) {
            node.rank = i == s->rank ? node.n : node.rank;
            room[node.n++] = i;
        }
    s->crowd = (struct ar_crowd){node.n, node.n}; /* where it cannot be found */
    ar_crowd_find(&s->crowd, &node, ar_job_beside(node.n), false);
}

/* Finds where the ranks of a new carrier are.  Collective over them; false, alike on all, if one of
 * them fails. */
static bool
locate(struct ar_carrier *s, uint64_t *boot_of, int *room)
{
    /* What MPI has too few of for these is no error of the program's communicator. */
    const bool are_found =
        ar_carrier_find_nodes(s->node_of, s->comm, s->rank, s->nranks) == MPI_SUCCESS;
    s->on_host = count_on_host(boot_of, s->comm, s->nranks);
    s->host_of = find_hosts(boot_of, s->nranks);
    if (!ar_all(s->comm, are_found))
        return false;
    find_crowd(s, room);
    return true;
}

/* Makes the carrier that rank 0 offers.  Collective over all; NULL on all ranks where one of them
 * fails, unless memory runs out (*error), which concerns this rank alone. */
static struct ar_carrier *
make(const struct offer *offer, const struct ar_circle *all, bool is_alike, int *error)
{
    const size_t n = (size_t)all->n;
    struct ar_carrier *const s = calloc(1, sizeof *s + RANGES);
    uint64_t *const boot_of = calloc(n, sizeof *boot_of);
    int *const room = malloc(n * sizeof *room), *const node_of = malloc(n * sizeof *node_of);
    *error = s && boot_of && room && node_of ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    if (*error) {
        free(s);
        free(boot_of);
        free(room);
        free(node_of);
        return NULL;
    }
    *s = (struct ar_carrier){.number = offer->found.number,
                             .is_alike = is_alike,
                             .rank = all->rank,
                             .nranks = all->n,
                             .node_of = node_of};
    const bool is_made = split(s, offer->may_keep, all) && locate(s, boot_of, room);
    free(boot_of);
    free(room);
    if (!is_made) {
        give_up(s, true);
        return NULL;
    }
    s->ranges = ranges_for(all->n);
    s->is_used[0] = all->rank == 0; /* by this communicator */
    s->members = s->is_kept ? ar_members_of(all) : NULL;
    /* This comes before the ranks meet: afterwards another thread of one of them may lend it. */
    pthread_mutex_lock(&lock);
    s->next = carriers;
    carriers = s;
    pthread_mutex_unlock(&lock);
    if (!ar_all(s->comm, !s->is_kept || s->members)) {
        give_up(s, true);
        return NULL;
    }
    pthread_mutex_lock(&lock);
    s->is_open = s->is_kept; /* communicators among its members may have it from now on */
    pthread_mutex_unlock(&lock);
    return s;
}

/* --- what is known of groups --- */

/* Under the lock: the first group from s on that has all the members. */
static struct ar_carrier *
covering(struct ar_carrier *s, const struct ar_members *members)
{
    while (s && !ar_members_number(NULL, s->members, members))
        s = s->next;
    return s;
}

bool
ar_group_is_alike(const struct ar_members *members)
{
    pthread_mutex_lock(&lock);
    const struct ar_carrier *s = covering(carriers, members);
    while (s && !s->is_alike)
        s = covering(s->next, members);
    pthread_mutex_unlock(&lock);
    return s;
}

void
ar_group_note_alike(struct ar_members *members)
{
    int n = 0;
    struct ar_carrier *const s = members ? calloc(1, sizeof *s) : NULL, *forgotten = NULL;
    if (!s) {
        free(members);
        return;
    }
    *s = (struct ar_carrier){.is_alike = true, .comm = MPI_COMM_NULL, .members = members};
    pthread_mutex_lock(&lock);
    s->next = carriers;
    carriers = s;
    for (struct ar_carrier **at = &carriers; *at; at = &(*at)->next)
        if ((*at)->comm == MPI_COMM_NULL && n++ == AGREED_MAX) {
            forgotten = *at;
            *at = forgotten->next;
            break;
        }
    pthread_mutex_unlock(&lock);
    free(forgotten ? forgotten->members : NULL);
    free(forgotten);
}

/* Do any of these numbers, NULL for the first n, have different places? */
static bool
are_apart(const int *place_of, const int *numbers, int n)
{
    int i = 1;
    while (i < n && place_of[numbers ? numbers[i] : i] == place_of[numbers ? numbers[0] : 0])
        i++;
    return i < n;
}

/* Do the carrier's ranks, which are on several nodes, know so without a word? */
static bool
may_tell(const struct ar_carrier *s)
{
    return s->is_open && s->is_plain && s->is_alike && are_apart(s->node_of, NULL, s->nranks);
}

/* Are the members all ranks of the world, in its order? */
static bool
are_world(const struct ar_members *members)
{
    int rank, nranks = 0, i = 0;
    ar_world_find(&rank, &nranks);
    while (i < members->n && members->sorted[i].number == i)
        i++;
    return members->n == nranks && i == nranks;
}

bool
ar_group_is_known_apart(const struct ar_circle *all, int *error)
{
    bool is_known = false;
    *error = MPI_SUCCESS;
    pthread_mutex_lock(&lock);
    const struct ar_carrier *any = carriers;
    while (any && !may_tell(any))
        any = any->next;
    pthread_mutex_unlock(&lock);
    if (!any) /* without memory, of which one rank could have none */
        return false;
    struct ar_members *const members = ar_members_of(all);
    int *const numbers = malloc((size_t)all->n * sizeof *numbers);
    *error = members && numbers ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    const bool is_copy = !*error && are_world(members);
    pthread_mutex_lock(&lock);
    for (const struct ar_carrier *s = carriers; s && !*error && !is_copy && !is_known; s = s->next)
        is_known = may_tell(s) && ar_members_number(numbers, s->members, members) &&
                   are_apart(s->node_of, numbers, all->n);
    pthread_mutex_unlock(&lock);
    free(members);
    free(numbers);
    return is_known;
}

/* --- lending --- */

static int
take_range(struct ar_carrier *s)
{
    for (int i = 0; i < s->ranges; i++) {
        const int range = (s->next_range + i) % s->ranges;
        if (s->is_used[range])
            continue;
        s->is_used[range] = true;
        s->next_range = range + 1;
        return range;
    }
    return -1;
}

void
ar_carriage_find(struct ar_carriage_offer *offer, const struct ar_members *members)
{
    *offer = (struct ar_carriage_offer){.number = 0};
    pthread_mutex_lock(&lock);
    struct ar_carrier *s = covering(carriers, members);
    for (; s && offer->number == 0; s = covering(s->next, members)) {
        const int range = s->is_open ? take_range(s) : -1;
        if (range >= 0)
            *offer = (struct ar_carriage_offer){s->number, range, s->rank};
    }
    pthread_mutex_unlock(&lock);
}

/* Called by rank 0: offers a carrier that all ranks have, or else what the new one is to be. */
static void
make_offer(struct offer *offer, const struct ar_circle *all)
{
    struct ar_members *const members = ar_members_of(all);
    *offer = (struct offer){.is_new = false};
    ar_carriage_find(&offer->found, members);
    if (offer->found.number == 0) {
        uint64_t *const number = &offer->found.number;
        offer->is_new = true;
        offer->may_keep = members && ranges_for(all->n) > 0 &&
                          getrandom(number, sizeof *number, 0) == (ssize_t)sizeof *number;
    }
    free(members);
}

/* --- what a communicator has of it --- */

/* numbers gets the number in the carrier of each rank: the same in one that is not kept.  False if
 * memory runs out. */
static bool
number_ranks(int *numbers, const struct ar_carrier *s, const struct ar_circle *all)
{
    for (int i = 0; i < all->n; i++)
        numbers[i] = i;
    if (!s->is_kept)
        return true;
    struct ar_members *const members = ar_members_of(all);
    const bool is_found = ar_members_number(numbers, s->members, members);
    free(members);
    return is_found;
}

/* Fills the share, and numbers the nodes by their first ranks. */
static int
fit(struct ar_carriage *carriage, struct ar_carrier *s, const struct ar_carriage_offer *offer,
    const struct ar_circle *all)
{
    const size_t bytes = (size_t)all->n * sizeof(int);
    int nodes = 0; /* found so far */
    /* One more than the number of the node of each first rank; 0 where it was not met yet. */
    int *const number = calloc((size_t)s->nranks, sizeof *number);
    int *const rank_of = malloc(bytes), *const node_of = malloc(bytes);
    const bool fits = number && rank_of && node_of && number_ranks(rank_of, s, all);
    for (int i = 0; i < all->n && fits; i++) {
        int *const n = &number[s->node_of[rank_of[i]]];
        *n = *n > 0 ? *n : ++nodes;
        node_of[i] = *n - 1;
    }
    free(number);
    *carriage = (struct ar_carriage){
        .carrier = s,
        .wire = {.comm = s->comm,
                 .tag = (offer->range * s->nranks + offer->leader) * AR_WINDOW_MAX,
                 .rank_of = rank_of},
        .rank_of = rank_of,
        .node_of = node_of,
        .is_apart = fits && s->host_of && are_apart(s->host_of, rank_of, all->n),
        .crowd = s->crowd,
        .on_host = s->on_host,
        .range = all->rank == 0 ? offer->range : -1,
    };
    return fits ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

/* The carrier is there: it is listed before its ranks meet, and kept. */
int
ar_carriage_take(struct ar_carriage *carriage, const struct ar_carriage_offer *offer,
                 const struct ar_circle *all)
{
    pthread_mutex_lock(&lock);
    struct ar_carrier *s = carriers;
    while (s->number != offer->number)
        s = s->next;
    pthread_mutex_unlock(&lock);
    return fit(carriage, s, offer, all);
}

bool
ar_carriage_borrow(struct ar_carriage *carriage, const struct ar_circle *all, bool is_alike,
                   int *error)
{
    struct offer offer;
    *carriage = (struct ar_carriage){.range = -1};
    if (all->rank == 0)
        make_offer(&offer, all);
    *error = ar_circle_tell(all, &offer, (int)sizeof offer);
    if (*error)
        return false;
    if (!offer.is_new) {
        *error = ar_carriage_take(carriage, &offer.found, all);
        return !*error;
    }
    struct ar_carrier *const s = make(&offer, all, is_alike, error);
    if (s)
        *error = fit(carriage, s, &offer.found, all);
    return s && !*error;
}

void
ar_carriage_return(struct ar_carriage *carriage, bool mpi_lives)
{
    struct ar_carrier *const s = carriage->carrier;
    free(carriage->rank_of);
    free(carriage->node_of);
    if (s && !s->is_kept) {
        give_up(s, mpi_lives);
    } else if (s && carriage->range >= 0) {
        pthread_mutex_lock(&lock);
        s->is_used[carriage->range] = false;
        pthread_mutex_unlock(&lock);
    }
    *carriage = (struct ar_carriage){.range = -1};
}

/* No other thread is in a call any more. */
void
ar_carriers_close(void)
{
    for (struct ar_carrier *s = carriers; s; s = s->next)
        if (s->comm != MPI_COMM_NULL)
            PMPI_Comm_free(&s->comm);
}
