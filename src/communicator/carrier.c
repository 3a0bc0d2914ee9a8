#include <config.h>

#include "communicator/carrier.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
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

struct ar_carrier {
    struct ar_carrier *next;
    uint64_t number; /* names it, alike on all ranks */
    bool is_kept;    /* else it is one communicator's */
    MPI_Comm comm;
    bool is_open;                  /* it may be lent.  Under the lock */
    struct ar_members *members;    /* whose communicators it may serve, if it is kept */
    int rank, nranks;              /* of this process there */
    int *host_of;                  /* of its ranks; NULL: one host, or hosts are not known */
    int on_host;                   /* see struct ar_carriage */
    int ranges;                    /* for which the tags of MPI suffice, for each rank */
    int next_range;                /* where to look first */
    unsigned char is_used[RANGES]; /* of which there are ranges */
    int node_of[];                 /* of its ranks */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Under the lock. */
static struct ar_carrier *carriers; /* all */
static int kept, taken;

/* What rank 0 tells the others. */
struct offer {
    uint64_t number; /* of the carrier; 0: none was found */
    int range;
    int leader; /* rank 0's there */
    int is_new;
    int may_keep;
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

/* Makes the carrier that rank 0 offers.  Collective over comm; NULL on all ranks where one of them
 * fails, unless memory runs out (*error), which concerns this rank alone. */
static struct ar_carrier *
make(const struct offer *offer, MPI_Comm comm, int rank, int nranks, int *error)
{
    struct ar_carrier *const s = calloc(1, sizeof *s + (size_t)nranks * sizeof s->node_of[0]);
    uint64_t *const boot_of = calloc((size_t)nranks, sizeof *boot_of);
    *error = s && boot_of ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    if (*error) {
        free(s);
        free(boot_of);
        return NULL;
    }
    *s = (struct ar_carrier){.number = offer->number, .rank = rank, .nranks = nranks};
    /* All ranks must have a share, and all must keep it or none. */
    enum { MAKES = 1, KEEPS = 2 };
    pthread_mutex_lock(&lock);
    int all = taken < MOST ? MAKES : 0;
    all |= offer->may_keep && kept < KEPT_MAX ? KEEPS : 0;
    const bool may_keep = all & KEEPS;
    taken++;
    kept += may_keep;
    pthread_mutex_unlock(&lock);
    if (ar_comm_split(&s->comm, comm, NULL, rank) != MPI_SUCCESS) {
        s->comm = MPI_COMM_NULL;
        all &= ~MAKES;
    }
    if (ar_reduce_all(&all, 1, MPI_INT, MPI_BAND, comm))
        all = 0;
    s->is_kept = all & KEEPS;
    pthread_mutex_lock(&lock);
    kept -= may_keep && !s->is_kept;
    pthread_mutex_unlock(&lock);
    if (!(all & MAKES)) {
        free(boot_of);
        give_up(s, true);
        return NULL;
    }
    /* What MPI has too few of for these is no error of the program's communicator. */
    bool fails = ar_carrier_find_nodes(s->node_of, s->comm, rank, nranks) != MPI_SUCCESS;
    s->on_host = count_on_host(boot_of, s->comm, nranks);
    s->host_of = find_hosts(boot_of, nranks);
    free(boot_of);
    s->ranges = ranges_for(nranks);
    s->is_used[0] = rank == 0; /* by this communicator */
    s->members = s->is_kept ? ar_members_of(comm, nranks) : NULL;
    fails |= s->is_kept && !s->members;
    /* This comes before the ranks meet: afterwards another thread of one of them may lend it. */
    pthread_mutex_lock(&lock);
    s->next = carriers;
    carriers = s;
    pthread_mutex_unlock(&lock);
    if (!ar_all(s->comm, !fails)) {
        give_up(s, true);
        return NULL;
    }
    pthread_mutex_lock(&lock);
    s->is_open = s->is_kept; /* communicators among its members may have it from now on */
    pthread_mutex_unlock(&lock);
    return s;
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

/* Called by rank 0: offers a carrier that all ranks of comm have, or else what the new one is to
 * be. */
static void
make_offer(struct offer *offer, MPI_Comm comm, int nranks)
{
    uint64_t number = 0;
    struct ar_members *const members = ar_members_of(comm, nranks);
    *offer = (struct offer){.number = 0};
    pthread_mutex_lock(&lock);
    for (struct ar_carrier *s = carriers; s && offer->number == 0; s = s->next) {
        if (!s->is_open || !ar_members_number(NULL, s->members, members))
            continue;
        offer->range = take_range(s);
        if (offer->range < 0)
            continue;
        offer->number = s->number;
        offer->leader = s->rank;
    }
    pthread_mutex_unlock(&lock);
    if (offer->number == 0) {
        const bool may_keep = members && ranges_for(nranks) > 0 &&
                              getrandom(&number, sizeof number, 0) == (ssize_t)sizeof number;
        *offer = (struct offer){.is_new = true, .may_keep = may_keep, .number = number};
    }
    free(members);
}

/* --- what a communicator has of it --- */

/* numbers gets the number in the carrier of each of comm's ranks: the same in one that is not kept.
 * False if memory runs out. */
static bool
number_ranks(int *numbers, const struct ar_carrier *s, MPI_Comm comm, int nranks)
{
    for (int i = 0; i < nranks; i++)
        numbers[i] = i;
    if (!s->is_kept)
        return true;
    struct ar_members *const members = ar_members_of(comm, nranks);
    const bool is_found = ar_members_number(numbers, s->members, members);
    free(members);
    return is_found;
}

/* Sets the ranks of the wire, and numbers the nodes by their first ranks.  False where memory ran
 * out. */
static bool
fit(struct ar_carriage *carriage, MPI_Comm comm, int nranks)
{
    const struct ar_carrier *const s = carriage->carrier;
    const size_t bytes = (size_t)nranks * sizeof(int);
    int nodes = 0; /* found so far */
    /* One more than the number of the node of each first rank; 0 where it was not met yet. */
    int *const number = calloc((size_t)s->nranks, sizeof *number);
    carriage->rank_of = malloc(bytes);
    carriage->node_of = malloc(bytes);
    const bool fits = number && carriage->rank_of && carriage->node_of &&
                      number_ranks(carriage->rank_of, s, comm, nranks);
    for (int i = 0; i < nranks && fits; i++) {
        int *const n = &number[s->node_of[carriage->rank_of[i]]];
        *n = *n > 0 ? *n : ++nodes;
        carriage->node_of[i] = *n - 1;
    }
    free(number);
    return fits;
}

bool
ar_carriage_borrow(struct ar_carriage *carriage, MPI_Comm comm, int rank, int nranks, int *error)
{
    struct offer offer = {.number = 0};
    struct ar_carrier *s = NULL;
    *carriage = (struct ar_carriage){.range = -1};
    if (rank == 0)
        make_offer(&offer, comm, nranks);
    *error = PMPI_Bcast(&offer, (int)sizeof offer, MPI_BYTE, 0, comm);
    if (*error)
        return false;
    if (offer.is_new)
        s = make(&offer, comm, rank, nranks, error);
    pthread_mutex_lock(&lock);
    for (struct ar_carrier *at = offer.is_new ? NULL : carriers; at && !s; at = at->next)
        s = at->number == offer.number ? at : NULL;
    pthread_mutex_unlock(&lock);
    carriage->carrier = s;
    if (!s)
        return false;
    if (rank == 0)
        carriage->range = offer.range;
    carriage->on_host = s->on_host;
    const bool fits = fit(carriage, comm, nranks);
    carriage->wire = (struct ar_wire){
        .comm = s->comm,
        .tag = (offer.range * s->nranks + offer.leader) * AR_WINDOW_MAX,
        .rank_of = carriage->rank_of,
    };
    *error = fits ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    return fits;
}

bool
ar_carriers_are_apart(MPI_Comm comm, int nranks)
{
    bool are_apart = false, are_hosts_known = false;
    pthread_mutex_lock(&lock);
    for (const struct ar_carrier *s = carriers; s && !are_hosts_known; s = s->next)
        are_hosts_known = s->host_of && s->members;
    pthread_mutex_unlock(&lock);
    if (!are_hosts_known)
        return false;
    struct ar_members *const members = ar_members_of(comm, nranks);
    int *const numbers = malloc((size_t)nranks * sizeof *numbers);
    pthread_mutex_lock(&lock);
    for (const struct ar_carrier *s = carriers; numbers && s && !are_apart; s = s->next) {
        const bool covers = s->host_of && ar_members_number(numbers, s->members, members);
        for (int i = 1; covers && i < nranks && !are_apart; i++)
            are_apart = s->host_of[numbers[i]] != s->host_of[numbers[0]];
    }
    pthread_mutex_unlock(&lock);
    free(members);
    free(numbers);
    return are_apart;
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

MPI_Comm
ar_carriage_node(const struct ar_carriage *carriage, MPI_Comm comm, int rank, int nranks)
{
    MPI_Comm node = MPI_COMM_NULL;
    if (ar_nodes_count(carriage->node_of, nranks) == 1)
        return comm;
    return ar_comm_split(&node, comm, carriage->node_of, rank) ? MPI_COMM_NULL : node;
}

/* No other thread is in a call any more. */
void
ar_carriers_close(void)
{
    for (struct ar_carrier *s = carriers; s; s = s->next)
        PMPI_Comm_free(&s->comm);
}
