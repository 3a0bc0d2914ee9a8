#include "record/gather.h"

#include <pthread.h>
#include <stdlib.h>

#include "execute/group.h"
#include "record/comm_names.h"

#define TAG 0

/* --- telling communicators apart --- */

#define IDS 64 /* communicators of this process whose calls are compared, the first ones */

/* FNV-1a of the ranks in the world; 0 for one rank alone, without memory, or where a rank is not of
 * the world. */
static uint64_t
hash_ranks(MPI_Comm comm)
{
    int n;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    PMPI_Comm_size(comm, &n);
    int *const ranks = n < 2 ? NULL : ar_world_ranks(comm, n);
    for (int i = 0; i < n && ranks; i++)
        hash = (hash ^ (uint64_t)ranks[i]) * UINT64_C(0x100000001b3);
    const bool are_known = ranks;
    free(ranks);
    return are_known ? hash : 0;
}

uint64_t
ar_gather_id(MPI_Comm comm)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static uint64_t seen[IDS];
    static int nseen;
    uint64_t same = 0;
    pthread_mutex_lock(&lock);
    bool has_room = nseen < IDS;
    pthread_mutex_unlock(&lock);
    const uint64_t hash = has_room ? hash_ranks(comm) : 0; /* costs more than to look */
    if (hash == 0)
        return 0;
    pthread_mutex_lock(&lock);
    has_room = nseen < IDS; /* still: another thread may have been here */
    for (int i = 0; i < nseen; i++)
        same += seen[i] == hash;
    if (has_room)
        seen[nseen++] = hash;
    pthread_mutex_unlock(&lock);
    return has_room ? hash + same : 0;
}

/* --- along a tree --- */

/* Hands the table over to rank `to`, or takes one from rank `from` into it. */
typedef int send_fn(const struct ar_table *table, int to, MPI_Comm comm);
typedef int receive_fn(struct ar_table *table, int from, MPI_Comm comm);

/* To rank 0, along a binomial tree.  Collective over comm. */
static int
merge(struct ar_table *table, send_fn *send, receive_fn *receive, MPI_Comm comm)
{
    int rank, nranks, error = MPI_SUCCESS;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &nranks);
    for (int bit = 1; bit < nranks && !error; bit *= 2) {
        if (rank & bit)
            return send(table, rank - bit, comm);
        if (rank + bit < nranks)
            error = receive(table, rank + bit, comm);
    }
    return error;
}

static int
send_bytes(const void *bytes, size_t n, int to, MPI_Comm comm)
{
    return PMPI_Send(bytes, (int)n, MPI_BYTE, to, TAG, comm);
}

static int
receive_bytes(void *bytes, size_t n, int from, MPI_Comm comm)
{
    return PMPI_Recv(bytes, (int)n, MPI_BYTE, from, TAG, comm, MPI_STATUS_IGNORE);
}

/* --- who came first, who last --- */

static int
send_arrivals(const struct ar_table *table, int to, MPI_Comm comm)
{
    const struct ar_arrivals_list *const list = &table->arrivals;
    const uint64_t n = list->n;
    int error = send_bytes(&n, sizeof n, to, comm);
    for (size_t i = 0; i < n && !error; i++)
        error = send_bytes(&list->items[i], sizeof list->items[i], to, comm);
    return error;
}

static int
receive_arrivals(struct ar_table *table, int from, MPI_Comm comm)
{
    struct ar_arrivals arrivals;
    uint64_t n = 0;
    int error = receive_bytes(&n, sizeof n, from, comm);
    for (uint64_t i = 0; i < n && !error; i++) {
        error = receive_bytes(&arrivals, sizeof arrivals, from, comm);
        if (!error)
            ar_arrivals_add(&table->arrivals, &arrivals);
    }
    return error;
}

/* Fills ids with those of the communicators that are complete, and returns how many there are. */
static int
complete_ids(const struct ar_arrivals_list *list, uint64_t ids[AR_ARRIVALS_MOST])
{
    int n = 0;
    for (size_t i = 0; i < list->n; i++)
        if (ar_arrivals_are_complete(&list->items[i]))
            ids[n++] = list->items[i].id;
    return n;
}

/* Puts the arrivals of all ranks together in the table of rank 0, and counts in each rank's own row
 * how many of its calls were compared: those on communicators all of whose ranks have kept them.
 * Collective over comm. */
static int
compare_arrivals(struct ar_table *table, MPI_Comm comm)
{
    uint64_t ids[AR_ARRIVALS_MOST] = {0};
    struct ar_table all = {0}; /* of this rank's part of the tree */
    int n = 0;
    for (size_t i = 0; i < table->arrivals.n; i++)
        ar_arrivals_add(&all.arrivals, &table->arrivals.items[i]);
    int error = merge(&all, send_arrivals, receive_arrivals, comm);
    if (!error) {
        n = complete_ids(&all.arrivals, ids); /* those of rank 0 count */
        error = PMPI_Bcast(&n, 1, MPI_INT, 0, comm);
    }
    if (!error)
        error = PMPI_Bcast(ids, n * (int)sizeof *ids, MPI_BYTE, 0, comm);
    for (size_t i = 0; i < table->arrivals.n && !error; i++)
        for (int k = 0; k < n && table->ranks.n == 1; k++)
            if (ids[k] == table->arrivals.items[i].id)
                table->ranks.rows->compared +=
                    (uint64_t)ar_arrivals_kept(&table->arrivals.items[i]);
    ar_arrivals_list_fini(&table->arrivals);
    table->arrivals = all.arrivals;
    return error;
}

/* --- rows --- */

/* Sends row by row, so that the receiver needs memory only for rows that are new to it. */
static int
send_rows(const struct ar_table *table, int to, MPI_Comm comm)
{
    const uint64_t head[] = {table->nrows, table->lost, table->ranks.n, table->sites.n};
    int error = send_bytes(head, sizeof head, to, comm);
    for (size_t i = 0; i < table->nrows && !error; i++)
        error = send_bytes(&table->rows[i], sizeof table->rows[i], to, comm);
    for (size_t i = 0; i < table->ranks.n && !error; i++)
        error = send_bytes(&table->ranks.rows[i], sizeof table->ranks.rows[i], to, comm);
    for (size_t i = 0; i < table->sites.n && !error; i++)
        error = send_bytes(&table->sites.rows[i], sizeof table->sites.rows[i], to, comm);
    return error;
}

static int
receive_rows(struct ar_table *table, int from, MPI_Comm comm)
{
    struct ar_row row;
    struct ar_rank_row rank;
    struct ar_site_row site;
    uint64_t head[4] = {0};
    int error = receive_bytes(head, sizeof head, from, comm);
    for (uint64_t i = 0; i < head[0] && !error; i++) {
        error = receive_bytes(&row, sizeof row, from, comm);
        if (!error)
            ar_table_add(table, &row);
    }
    for (uint64_t i = 0; i < head[2] && !error; i++) {
        error = receive_bytes(&rank, sizeof rank, from, comm);
        if (!error)
            ar_rank_rows_add(&table->ranks, &rank);
    }
    for (uint64_t i = 0; i < head[3] && !error; i++) {
        error = receive_bytes(&site, sizeof site, from, comm);
        if (!error)
            ar_site_rows_add(&table->sites, &site);
    }
    table->lost += head[1];
    return error;
}

bool
ar_gather(struct ar_table *table, int rank, MPI_Comm comm)
{
    MPI_Comm own; /* since the program may have receives pending on comm */
    if (!ar_comm_own(&own, comm))
        return false;
    int error =
        ar_all(own, ar_comm_names_are_kept()) ? MPI_SUCCESS : ar_comm_names_agree(table, rank, own);
    if (!error)
        error = compare_arrivals(table, own);
    if (!error)
        error = merge(table, send_rows, receive_rows, own);
    PMPI_Comm_free(&own);
    if (!error)
        ar_rank_rows_count(&table->ranks, &table->arrivals);
    return !error;
}
