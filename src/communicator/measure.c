#include "communicator/forecast.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "communicator/agree.h"
#include "execute/shared.h"
#include "model/pings.h"
#include "reduce/reduce.h"
#include "report/clock.h"

#define TESTS 16 /* looks at whether a message has been sent */
#define ROOM  ((size_t)AR_PING_ROW * AR_PING_LONG)

/* Two ranks that exchange messages, as one of them sees it. */
struct pair {
    const struct ar_measuring *m;
    int server; /* who sends, and whose clock counts */
    int other;
    char *room;
};

/* The rank that this one plays with, as the wire's communicator numbers it. */
static int
peer_of(const struct pair *pair)
{
    const bool serves = pair->m->rank == pair->server;
    return ar_wire_rank(pair->m->wire, serves ? pair->other : pair->server);
}

/* Sends n messages from the server, then a short one back, so many times. */
static int
play(void *with, double *ns, int bytes, int n, int loops)
{
    const struct pair *const pair = with;
    MPI_Request requests[AR_PING_TRAIN];
    const bool serves = pair->m->rank == pair->server;
    const int peer = peer_of(pair);
    int error = MPI_SUCCESS;
    for (int k = 0; k < loops && !error; k++) {
        const uint64_t start = ar_clock_system_ns();
        for (int turn = 0; turn < 2 && !error; turn++) {
            const bool sends = serves == (turn == 0);
            const int count = turn == 0 ? n : 1, length = turn == 0 ? bytes : AR_PING_SHORT;
            for (int i = 0; i < count && !error; i++)
                error =
                    sends ? PMPI_Isend(pair->room, length, MPI_BYTE, peer, pair->m->wire->tag,
                                       pair->m->wire->comm, &requests[i])
                          : PMPI_Irecv(pair->room + (size_t)i * (size_t)bytes, length, MPI_BYTE,
                                       peer, pair->m->wire->tag, pair->m->wire->comm, &requests[i]);
            if (!error)
                error = ar_complete(pair->m->wait, count, requests);
        }
        const double time = (double)(ar_clock_system_ns() - start);
        *ns = k == 0 || time < *ns ? time : *ns;
    }
    return error;
}

/* One rank of the pair tells the other one. */
static int
tell(bool *what, const struct pair *pair, bool is_from_server)
{
    const struct ar_wire *const w = pair->m->wire;
    const bool serves = pair->m->rank == pair->server;
    const int peer = peer_of(pair), tag = w->tag + 1;
    MPI_Request request;
    const int error = serves == is_from_server
                          ? PMPI_Isend(what, 1, MPI_C_BOOL, peer, tag, w->comm, &request)
                          : PMPI_Irecv(what, 1, MPI_C_BOOL, peer, tag, w->comm, &request);
    return error ? error : ar_complete(pair->m->wait, 1, &request);
}

static int
tell_other(void *with, bool *what)
{
    return tell(what, with, true);
}

/* Does a send of so many bytes complete while the other rank, which answers others, has not posted
 * its receive?  Both ranks get to know. */
static int
is_eager(void *with, bool *is, int bytes)
{
    const struct pair *const pair = with;
    const struct ar_wire *const w = pair->m->wire;
    const bool serves = pair->m->rank == pair->server;
    const int peer = peer_of(pair);
    MPI_Request request = MPI_REQUEST_NULL;
    int sent = 0;
    int error = serves ? PMPI_Isend(pair->room, bytes, MPI_BYTE, peer, w->tag, w->comm, &request)
                       : MPI_SUCCESS;
    if (!error)
        error = tell(is, pair, true);
    if (!error)
        error = tell(is, pair, false);
    for (int i = 0; i < TESTS && serves && !sent && !error; i++)
        error = PMPI_Test(&request, &sent, MPI_STATUS_IGNORE);
    *is = sent;
    if (!error)
        error = tell(is, pair, true);
    if (!error && !serves)
        error = PMPI_Irecv(pair->room, bytes, MPI_BYTE, peer, w->tag, w->comm, &request);
    return error ? error : ar_complete(pair->m->wait, 1, &request);
}

/* Two ranks measure, while all others wait: the first one knows the result. */
static int
measure_pair(struct ar_travel *travel, const struct ar_measuring *m, const int of[2])
{
    struct pair pair = {m, of[0], of[1], NULL};
    if (of[1] < 0 || (m->rank != of[0] && m->rank != of[1]))
        return MPI_SUCCESS;
    pair.room = malloc(ROOM);
    if (!pair.room)
        return MPI_ERR_NO_MEM;
    memset(pair.room, 0, ROOM); /* else messages would wait for the system to make pages */
    const struct ar_pings pings = {.with = &pair,
                                   .play = play,
                                   .is_eager = is_eager,
                                   .tell = tell_other,
                                   .effort = m->effort,
                                   .is_near = m->node_of[of[0]] == m->node_of[of[1]]};
    const int error = ar_pings_measure(travel, &pings);
    free(pair.room);
    return error;
}

/* Two ranks of a node: of rank 0's, unless it is alone there.  of[1] stays negative where every
 * rank is alone. */
static int
find_neighbours(int of[2], const struct ar_measuring *m)
{
    int *const behind = calloc((size_t)m->nranks, sizeof *behind); /* the next rank, by node */
    if (!behind)
        return MPI_ERR_NO_MEM;
    for (int rank = m->nranks - 1; rank >= 0; rank--) {
        int *const next = &behind[m->node_of[rank]];
        if (*next > 0) {
            of[0] = rank;
            of[1] = *next;
        }
        *next = rank;
    }
    free(behind);
    return MPI_SUCCESS;
}

/* Rank 0 gets what another rank has measured. */
static int
bring(struct ar_travel *travel, const struct ar_measuring *m, int from)
{
    const struct ar_wire *const w = m->wire;
    const int bytes = (int)sizeof *travel;
    MPI_Request request;
    if (from == 0 || (m->rank != 0 && m->rank != from))
        return MPI_SUCCESS;
    const int error =
        m->rank == 0
            ? PMPI_Irecv(travel, bytes, MPI_BYTE, ar_wire_rank(w, from), w->tag, w->comm, &request)
            : PMPI_Isend(travel, bytes, MPI_BYTE, ar_wire_rank(w, 0), w->tag, w->comm, &request);
    return error ? error : ar_complete(m->wait, 1, &request);
}

/* Inside a node and between nodes, on rank 0. */
static int
measure_messages(struct ar_machine *machine, const struct ar_measuring *m)
{
    int near[] = {0, -1}, far[] = {0, -1};
    for (int rank = m->nranks - 1; rank > 0; rank--)
        if (m->node_of[rank] != m->node_of[0])
            far[1] = rank;
    int error = find_neighbours(near, m);
    for (int rank = 0; rank < m->nranks; rank++)
        machine->ranks_per_node += m->node_of[rank] == m->node_of[near[0]];
    if (!error)
        error = measure_pair(&machine->node, m, near);
    if (!error)
        error = bring(&machine->node, m, near[0]);
    if (!error)
        error = measure_pair(&machine->network, m, far);
    if (near[1] < 0)
        machine->node = machine->network;
    if (far[1] < 0)
        machine->network = machine->node;
    return error;
}

/* Doubles: as long as a segment. */
#define REDUCED    ((size_t)1 << 13)
#define REDUCTIONS 3

static int
measure_reduction(struct ar_machine *machine, MPI_Comm comm, int effort)
{
    struct ar_reduction r;
    double *const a = calloc(3 * REDUCED, sizeof *a);
    int error = a && ar_reduction_resolve(&r, MPI_SUM, MPI_DOUBLE) ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    double reduce = 0, copy = 0;
    for (int k = 0; k < 1 + REDUCTIONS * effort && !error; k++) {
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
ar_measure(struct ar_machine *machine, const struct ar_measuring *m)
{
    *machine = (struct ar_machine){.node = {.eager_bytes = SIZE_MAX},
                                   .network = {.eager_bytes = SIZE_MAX}};
    snprintf(machine->title, sizeof machine->title, "measured");
    const int error = measure_messages(machine, m);
    return error || m->rank > 0 ? error : measure_reduction(machine, m->comm, m->effort);
}
