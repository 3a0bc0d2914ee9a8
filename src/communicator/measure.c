#include "communicator/model.h"

#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reduce/reduce.h"
#include "report/clock.h"

#define SHORT      8
#define TRAIN      16 /* short messages in a row */
#define MIDDLE     65536
#define LONG       (8 * MIDDLE)
#define SHORT_LOOP 20
#define LONG_LOOP  3
#define LONG_ROW   3 /* long messages in a row */

/* Where a message of MIDDLE bytes takes longer, LONG ones would take too long. */
#define SLOW_NS 2e6

struct pair {
    const struct ar_wire *wire;
    int rank;  /* this one's: 0 or other */
    int other; /* the one with which rank 0 exchanges messages */
    char *room;
};

/* Waits as schedules do: the rank waited for may need this very core. */
static int
wait_all(int n, MPI_Request *requests)
{
    int done = 0, error = PMPI_Testall(n, requests, &done, MPI_STATUSES_IGNORE);
    while (!error && !done) {
        sched_yield();
        error = PMPI_Testall(n, requests, &done, MPI_STATUSES_IGNORE);
    }
    return error;
}

/* Sends n messages from rank 0, then a short one back; *ns is the least time of so many loops. */
static int
play(const struct pair *pair, int bytes, int n, int loops, double *ns)
{
    MPI_Request requests[TRAIN];
    const bool serves = pair->rank == 0;
    const int peer = ar_wire_rank(pair->wire, serves ? pair->other : 0);
    int error = MPI_SUCCESS;
    *ns = 0;
    for (int k = 0; k < loops && !error; k++) {
        const uint64_t start = ar_clock_system_ns();
        for (int turn = 0; turn < 2 && !error; turn++) {
            const bool sends = serves == (turn == 0);
            const int count = turn == 0 ? n : 1, length = turn == 0 ? bytes : SHORT;
            for (int i = 0; i < count && !error; i++)
                error = sends ? PMPI_Isend(pair->room, length, MPI_BYTE, peer, pair->wire->tag,
                                           pair->wire->comm, &requests[i])
                              : PMPI_Irecv(pair->room + (size_t)i * (size_t)bytes, length, MPI_BYTE,
                                           peer, pair->wire->tag, pair->wire->comm, &requests[i]);
            if (!error)
                error = wait_all(count, requests);
        }
        const double time = (double)(ar_clock_system_ns() - start);
        *ns = k == 0 || time < *ns ? time : *ns;
    }
    return error;
}

/* A message each way, then a row of them one way, in which each further message costs a rank its
 * overhead. */
static int
measure_short(struct ar_travel *travel, const struct pair *pair, int effort)
{
    double one, row;
    int error = play(pair, SHORT, 1, SHORT_LOOP * effort, &one);
    if (!error)
        error = play(pair, SHORT, TRAIN, SHORT_LOOP * effort, &row);
    if (error)
        return error;
    travel->overhead = row > one ? (row - one) / (TRAIN - 1) : 0;
    if (travel->overhead > one / 8) /* no more than half of one's way is the ranks' own */
        travel->overhead = one / 8;
    travel->latency = one / 2 - 2 * travel->overhead;
    return MPI_SUCCESS;
}

/* The time of the further messages of a row: the first may go faster, on what links have saved up.
 * Where a message of MIDDLE bytes is slow already, longer ones are out of the question. */
static int
measure_long(struct ar_travel *travel, const struct pair *pair, int effort)
{
    double middle, one, row;
    int error = play(pair, MIDDLE, 1, LONG_LOOP * effort, &middle);
    if (error)
        return error;
    int is_slow = middle > SLOW_NS; /* rank 0 knows */
    const struct ar_wire *const w = pair->wire;
    error = pair->rank == 0
                ? PMPI_Send(&is_slow, 1, MPI_INT, ar_wire_rank(w, pair->other), w->tag, w->comm)
                : PMPI_Recv(&is_slow, 1, MPI_INT, ar_wire_rank(w, 0), w->tag, w->comm,
                            MPI_STATUS_IGNORE);
    if (error)
        return error;
    travel->per_byte = middle / MIDDLE;
    if (is_slow)
        return MPI_SUCCESS;
    error = play(pair, LONG, 1, effort, &one);
    if (!error)
        error = play(pair, LONG, LONG_ROW, effort, &row);
    if (!error && row > one) /* else: less than the clock can tell */
        travel->per_byte = (row - one) / ((LONG_ROW - 1) * LONG);
    return error;
}

static int
measure_pair(struct ar_travel *travel, const struct ar_wire *wire, int rank, int other, int effort)
{
    struct pair pair = {wire, rank, other, NULL};
    if (other < 0 || (rank != 0 && rank != other))
        return MPI_SUCCESS;
    pair.room = calloc(LONG_ROW, LONG);
    if (!pair.room)
        return MPI_ERR_NO_MEM;
    int error = measure_short(travel, &pair, effort);
    if (!error)
        error = measure_long(travel, &pair, effort);
    free(pair.room);
    return error;
}

/* Doubles: more than a fast cache holds, as long messages are. */
#define REDUCED ((size_t)1 << 17)

static int
measure_reduction(struct ar_machine *machine, MPI_Comm comm, int effort)
{
    struct ar_reduction r;
    double *const a = calloc(3 * REDUCED, sizeof *a);
    int error = a && ar_reduction_resolve(&r, MPI_SUM, MPI_DOUBLE) ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    double reduce = 0, copy = 0;
    for (int k = 0; k < 1 + LONG_LOOP * effort && !error; k++) {
        r.comm = comm;
        const uint64_t start = ar_clock_system_ns();
        error = ar_reduction_apply(&r, a, a + REDUCED, a + 2 * REDUCED, REDUCED);
        const uint64_t middle = ar_clock_system_ns();
        if (!error)
            error = ar_reduction_copy(&r, a + REDUCED, a, REDUCED);
        const uint64_t end = ar_clock_system_ns();
        reduce = k == 0 || (double)(middle - start) < reduce ? (double)(middle - start) : reduce;
        copy = k == 0 || (double)(end - middle) < copy ? (double)(end - middle) : copy;
    }
    machine->reduce_per_byte = reduce / (REDUCED * sizeof *a);
    machine->copy_per_byte = copy / (REDUCED * sizeof *a);
    free(a);
    return error;
}

int
ar_measure(struct ar_machine *machine, const struct ar_wire *wire, int rank, const int *node_of,
           int nranks, int effort)
{
    int near = -1, far = -1; /* the first rank behind rank 0 on its node, and on another */
    *machine = (struct ar_machine){.node = {.eager_bytes = SIZE_MAX},
                                   .network = {.eager_bytes = SIZE_MAX}};
    snprintf(machine->title, sizeof machine->title, "measured");
    for (int r = nranks - 1; r > 0; r--)
        *(node_of[r] == node_of[0] ? &near : &far) = r;
    int error = measure_pair(&machine->node, wire, rank, near, effort);
    if (!error)
        error = measure_pair(&machine->network, wire, rank, far, effort);
    if (!error && rank == 0)
        error = measure_reduction(machine, wire->comm, effort);
    for (int r = 0; r < nranks; r++)
        machine->ranks_per_node += node_of[r] == node_of[0];
    if (near < 0)
        machine->node = machine->network;
    if (far < 0)
        machine->network = machine->node;
    return error;
}
