#include "communicator/forecast.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "communicator/agree.h"
#include "cores/cpus.h"
#include "execute/shared.h"
#include "model/pings.h"
#include "reduce/reduce.h"
#include "report/clock.h"
#include "tuning/estimate.h"

#define TESTS      16 /* looks at whether a message has been sent */
#define LOOPS_MOST 500
#define CROWD_LOOP 9 /* where a rank may be without a core for a time */

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

/* Of so many loops. */
static struct ar_ping_times
times_of(double *times, int loops)
{
    double all = 0;
    for (int k = 0; k < loops; k++)
        all += times[k];
    const double median = ar_estimate_make(times, (size_t)loops).median; /* which sorts them */
    return (struct ar_ping_times){.least = times[0], .median = median, .mean = all / loops};
}

/* Sends n messages from the server, then a short one back, so many times. */
static int
play(void *with, struct ar_ping_times *t, int bytes, int n, int loops)
{
    const struct pair *const pair = with;
    double times[LOOPS_MOST];
    MPI_Request requests[AR_PING_TRAIN];
    const bool serves = pair->m->rank == pair->server;
    const int peer = peer_of(pair);
    int error = MPI_SUCCESS;
    loops = loops < LOOPS_MOST ? loops : LOOPS_MOST;
    memset(times, 0, sizeof times);
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
        times[k] = (double)(ar_clock_system_ns() - start);
    }
    *t = times_of(times, loops);
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
measure_pair(struct ar_travel *travel, const struct ar_measuring *m, const int of[2],
             bool is_crowded)
{
    struct pair pair = {m, of[0], of[1], NULL};
    if (of[1] < 0 || (m->rank != of[0] && m->rank != of[1]))
        return MPI_SUCCESS;
    pair.room = calloc(AR_PING_ROW, AR_PING_LONG);
    if (!pair.room)
        return MPI_ERR_NO_MEM;
    const struct ar_pings pings = {.with = &pair,
                                   .play = play,
                                   .is_eager = is_eager,
                                   .tell = tell_other,
                                   .effort = m->effort,
                                   .is_near = m->node_of[of[0]] == m->node_of[of[1]],
                                   .is_crowded = is_crowded};
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
measure_messages(struct ar_machine *machine, const struct ar_measuring *m, bool is_crowded)
{
    int near[] = {0, -1}, far[] = {0, -1};
    for (int rank = m->nranks - 1; rank > 0; rank--)
        if (m->node_of[rank] != m->node_of[0])
            far[1] = rank;
    int error = find_neighbours(near, m);
    for (int rank = 0; rank < m->nranks; rank++)
        machine->ranks_per_node += m->node_of[rank] == m->node_of[near[0]];
    if (!error)
        error = measure_pair(&machine->node, m, near, is_crowded);
    if (!error)
        error = bring(&machine->node, m, near[0]);
    if (!error)
        error = measure_pair(&machine->network, m, far, is_crowded);
    if (near[1] < 0)
        machine->node = machine->network;
    if (far[1] < 0)
        machine->network = machine->node;
    return error;
}

/* Doubles: more than a fast cache holds, as long messages are. */
#define REDUCED    ((size_t)1 << 17)
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

/* --- ranks that share cores, or a host with the network's work --- */

/* What is on rank 0's host: containers of a host have one boot in common. */
struct host {
    int ranks, nodes;
    int cores; /* that its ranks may use together; 0: the system does not tell */
};

static bool
is_crowded(const struct host *host)
{
    return host->cores > 0 && host->ranks > host->cores;
}

/* Ranks of which the first two form a pair, and the next two, and so on. */
struct players {
    int *ranks;
    int n;
};

static bool
are_among(const struct players *p, int rank)
{
    int i = 0;
    while (i < p->n && p->ranks[i] != rank)
        i++;
    return i < p->n;
}

static void
list_neighbours(struct players *p, const int *node_of, int rank, int nranks)
{
    for (int r = 0; r < nranks; r++)
        if (node_of[r] == node_of[rank])
            p->ranks[p->n++] = r;
}

/* The first rank on each node. */
static void
list_nodes(struct players *p, const int *node_of, bool *seen, int nranks)
{
    for (int r = 0; r < nranks; r++) {
        if (!seen[node_of[r]])
            p->ranks[p->n++] = r;
        seen[node_of[r]] = true;
    }
}

/* Counts on rank 0 the ranks, nodes and cores of its host.  The ranks of the host are those with
 * its boot, or if that is not known (0), those of its node. */
static int
count_host(struct host *host, const struct ar_measuring *m, uint64_t boot, bool is_first)
{
    struct ar_cpus own, all;
    MPI_Request requests[2];
    const bool is_here = boot != 0 ? ar_boot_hash() == boot : m->node_of[m->rank] == m->node_of[0];
    const bool is_silent = !ar_cpus_of_thread(&own);
    const int part[] = {is_here, is_here && is_first, is_here && is_silent};
    int sums[3] = {0};
    if (!is_here)
        memset(&own, 0, sizeof own);
    int error = PMPI_Ireduce(part, sums, 3, MPI_INT, MPI_SUM, 0, m->comm, &requests[0]);
    if (!error)
        error =
            PMPI_Ireduce(&own, &all, (int)sizeof all, MPI_BYTE, MPI_BOR, 0, m->comm, &requests[1]);
    error = error ? error : ar_complete(m->wait, 2, requests);
    if (!error && m->rank == 0)
        *host = (struct host){
            .ranks = sums[0], .nodes = sums[1], .cores = sums[2] > 0 ? 0 : ar_cpus_count(&all)};
    return error;
}

/* Collective: all ranks get *host. */
static int
find_host(struct host *host, const struct ar_measuring *m, bool is_first)
{
    uint64_t boot = ar_boot_hash();
    int error = ar_broadcast(m->wait, m->comm, &boot, (int)sizeof boot);
    if (!error)
        error = count_host(host, m, boot, is_first);
    return error ? error : ar_broadcast(m->wait, m->comm, host, (int)sizeof *host);
}

/* Each of the pair sends a row of long messages to the other one.  As in schedules, sends come
 * first: on a connection that carries an answer first, messages do not pass each other. */
static int
exchange(const struct pair *pair)
{
    const struct ar_wire *const w = pair->m->wire;
    const int peer = peer_of(pair);
    MPI_Request requests[2 * AR_PING_ROW];
    int error = MPI_SUCCESS;
    for (int i = 0; i < AR_PING_ROW && !error; i++)
        error = PMPI_Isend(pair->room + AR_PING_ROW * AR_PING_LONG, AR_PING_LONG, MPI_BYTE, peer,
                           w->tag, w->comm, &requests[i]);
    for (int i = 0; i < AR_PING_ROW && !error; i++)
        error = PMPI_Irecv(pair->room + i * AR_PING_LONG, AR_PING_LONG, MPI_BYTE, peer, w->tag,
                           w->comm, &requests[AR_PING_ROW + i]);
    return error ? error : ar_complete(pair->m->wait, 2 * AR_PING_ROW, requests);
}

/* All pairs exchange long messages at once; *of is what each of this rank's pair takes.  The first
 * exchange, in which ranks arrive at different times, does not count. */
static int
measure_at_once(struct ar_ping_times *of, const struct ar_measuring *m, const struct players *p)
{
    double times[LOOPS_MOST];
    const int loops = CROWD_LOOP * m->effort < LOOPS_MOST ? CROWD_LOOP * m->effort : LOOPS_MOST;
    int i = 0, error = MPI_SUCCESS;
    while (i < p->n && p->ranks[i] != m->rank)
        i++;
    if ((i | 1) >= p->n) /* none of them, or without a partner */
        return MPI_SUCCESS;
    const struct pair pair = {.m = m,
                              .server = p->ranks[i & ~1],
                              .other = p->ranks[i | 1],
                              .room = calloc(AR_PING_ROW + 1, AR_PING_LONG)};
    if (!pair.room)
        return MPI_ERR_NO_MEM;
    error = exchange(&pair);
    for (int k = 0; k < loops && !error; k++) {
        const uint64_t start = ar_clock_system_ns();
        error = exchange(&pair);
        times[k] = (double)(ar_clock_system_ns() - start);
    }
    if (!error)
        *of = times_of(times, loops);
    free(pair.room);
    return error;
}

/* What ranks that share cores move when all do at once, which is less than what a pair does.
 * machine: rank 0's counts. */
static int
measure_host(struct ar_machine *machine, const struct ar_measuring *m, const struct host *host,
             const struct players *neighbours, const struct players *nodes)
{
    struct ar_ping_times near = {0}, far = {0};
    int is_slow = machine->network.per_byte * AR_PING_MIDDLE >
                  AR_PING_SLOW_NS; /* cores do not matter to it */
    int error = measure_at_once(&near, m, neighbours);
    if (!error && host->nodes > 1)
        error = ar_broadcast(m->wait, m->comm, &is_slow, (int)sizeof is_slow);
    if (!error && host->nodes > 1 && !is_slow)
        error = measure_at_once(&far, m, nodes);
    machine->memory_per_byte =
        ar_pings_shared(&near, machine->node.per_byte, neighbours->n & ~1, true);
    if (host->nodes > 1) {
        machine->host_nodes = host->nodes;
        machine->host_cores = host->cores;
        machine->host_per_byte =
            ar_pings_shared(&far, machine->network.per_byte, host->nodes & ~1, false);
    } else {
        machine->cores_per_node = host->cores;
    }
    return error;
}

int
ar_measure(struct ar_machine *machine, const struct ar_measuring *m)
{
    const int *const node_of = m->node_of;
    const int nranks = m->nranks;
    struct players neighbours = {calloc((size_t)nranks, sizeof(int)), 0};
    struct players nodes = {calloc((size_t)nranks, sizeof(int)), 0};
    bool *const seen = calloc((size_t)nranks, sizeof *seen);
    struct host host = {0};
    int error = neighbours.ranks && nodes.ranks && seen ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    *machine = (struct ar_machine){.node = {.eager_bytes = SIZE_MAX},
                                   .network = {.eager_bytes = SIZE_MAX}};
    snprintf(machine->title, sizeof machine->title, "measured");
    if (!error) {
        list_neighbours(&neighbours, node_of, m->rank, nranks);
        list_nodes(&nodes, node_of, seen, nranks);
        error = find_host(&host, m, are_among(&nodes, m->rank));
    }
    if (!error)
        error = measure_messages(machine, m, is_crowded(&host));
    if (!error && m->rank == 0)
        error = measure_reduction(machine, m->comm, m->effort);
    if (!error && (is_crowded(&host) || host.nodes > 1))
        error = measure_host(machine, m, &host, &neighbours, &nodes);
    free(neighbours.ranks);
    free(nodes.ranks);
    free(seen);
    return error;
}
