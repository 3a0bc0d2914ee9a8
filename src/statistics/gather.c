#include "statistics/gather.h"

#include <stdint.h>

#include "execute/group.h"
#include "execute/quiet.h"

#define TAG 0

/* Sends row by row, so that the receiver needs memory only for rows that are new to it. */
static int
send(const struct ar_table *table, int to, MPI_Comm comm)
{
    const uint64_t head[2] = {table->nrows, table->lost};
    int error = PMPI_Send(head, (int)sizeof head, MPI_BYTE, to, TAG, comm);
    for (size_t i = 0; i < table->nrows && !error; i++)
        error = PMPI_Send(&table->rows[i], (int)sizeof table->rows[i], MPI_BYTE, to, TAG, comm);
    return error;
}

static int
receive(struct ar_table *table, int from, MPI_Comm comm)
{
    struct ar_row row;
    uint64_t head[2] = {0, 0};
    int error = PMPI_Recv(head, (int)sizeof head, MPI_BYTE, from, TAG, comm, MPI_STATUS_IGNORE);
    for (uint64_t i = 0; i < head[0] && !error; i++) {
        error = PMPI_Recv(&row, (int)sizeof row, MPI_BYTE, from, TAG, comm, MPI_STATUS_IGNORE);
        if (!error)
            ar_table_add(table, &row);
    }
    table->lost += head[1];
    return error;
}

/* Merges along a binomial tree. */
static int
merge(struct ar_table *table, MPI_Comm comm)
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

bool
ar_table_gather(struct ar_table *table, MPI_Comm comm)
{
    MPI_Comm own; /* since the program may have receives pending on comm */
    struct ar_quiet quiet;
    ar_quiet_begin(&quiet, comm);
    const bool is_made = PMPI_Comm_split(comm, 0, 0, &own) == MPI_SUCCESS;
    const bool all = ar_all(comm, is_made);
    ar_quiet_end(&quiet);
    if (is_made && !all)
        PMPI_Comm_free(&own);
    if (!all)
        return false;
    const int error = merge(table, own);
    PMPI_Comm_free(&own);
    return !error;
}
