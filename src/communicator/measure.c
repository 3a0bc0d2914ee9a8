#include "communicator/model.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cores/cpus.h"
#include "execute/shared.h"
#include "reduce/reduce.h"
#include "report/clock.h"
#include "tuning/estimate.h"

#define SHORT       8
#define TRAIN       16 /* short messages in a row */
#define MIDDLE      65536
#define LONG        (8 * MIDDLE)
#define SHORT_LOOP  20
#define EAGER_LEAST 1024
#define TESTS       16 /* looks at whether a message has been sent */
#define LONG_LOOP   3
#define LONG_ROW    3 /* long messages in a row */
#define LOOPS_MOST  500
#define CROWD_LOOP  9 /* where a rank may be without a core for a time */

/* Pairs that take so many times as long together as one alone share something. */
#define HINDERED 1.1

/* Where a message of MIDDLE bytes takes longer, LONG ones would take too long. */
#define SLOW_NS 2e6

/* Two ranks that exchange messages, as one of them sees it. */
struct pair {
    const struct ar_measuring *m;
    int server; /* who sends, and whose clock counts */
    int other;
    char *room;
    bool is_median; /* of the loops the median counts, and not the least time */
};

/* The rank that this one plays with, as the wire's communicator numbers it. */
static int
peer_of(const struct pair *pair)
{
    const bool serves = pair->m->rank == pair->server;
    return ar_wire_rank(pair->m->wire, serves ? pair->other : pair->server);
}

/* The times of loops, in ns. */
struct loops {
    double least, median;
};

static double
counted(const struct pair *pair, const struct loops *t)
{
    return pair->is_median ? t->median : t->least;
}

/* Waits as schedules do: the rank waited for may need this very core. */
static int
wait_all(int n, MPI_Request *requests, struct ar_wait wait)
{
    unsigned polls = 0;
    int done = 0, error = PMPI_Testall(n, requests, &done, MPI_STATUSES_IGNORE);
    while (!error && !done) {
        ar_wait_for_message(wait, &polls);
        error = PMPI_Testall(n, requests, &done, MPI_STATUSES_IGNORE);
    }
    return error;
}

/* Sends n messages from the server, then a short one back, so many times. */
static int
play(const struct pair *pair, int bytes, int n, int loops, struct loops *t)
{
    double times[LOOPS_MOST];
    MPI_Request requests[TRAIN];
    const bool serves = pair->m->rank == pair->server;
    const int peer = peer_of(pair);
    int error = MPI_SUCCESS;
    loops = loops < LOOPS_MOST ? loops : LOOPS_MOST;
    memset(times, 0, sizeof times);
    for (int k = 0; k < loops && !error; k++) {
        const uint64_t start = ar_clock_system_ns();
        for (int turn = 0; turn < 2 && !error; turn++) {
            const bool sends = serves == (turn == 0);
            const int count = turn == 0 ? n : 1, length = turn == 0 ? bytes : SHORT;
            for (int i = 0; i < count && !error; i++)
                error =
                    sends ? PMPI_Isend(pair->room, length, MPI_BYTE, peer, pair->m->wire->tag,
                                       pair->m->wire->comm, &requests[i])
                          : PMPI_Irecv(pair->room + (size_t)i * (size_t)bytes, length, MPI_BYTE,
                                       peer, pair->m->wire->tag, pair->m->wire->comm, &requests[i]);
            if (!error)
                error = wait_all(count, requests, pair->m->wait);
        }
        times[k] = (double)(ar_clock_system_ns() - start);
    }
    t->median = ar_estimate_make(times, (size_t)loops).median; /* which sorts them */
    t->least = times[0];
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
    return error ? error : wait_all(1, &request, pair->m->wait);
}

/* A message each way, then a row of them one way, in which each further message costs a rank its
 * overhead.  For that the least times count even where ranks share cores: it is a rank's own work,
 * and no turn of others. */
static int
measure_short(struct ar_travel *travel, const struct pair *pair, int effort)
{
    struct loops one, row;
    int error = play(pair, SHORT, 1, SHORT_LOOP * effort, &one);
    if (!error)
        error = play(pair, SHORT, TRAIN, SHORT_LOOP * effort, &row);
    if (error)
        return error;
    travel->overhead = row.least > one.least ? (row.least - one.least) / (TRAIN - 1) : 0;
    if (travel->overhead > one.least / 8) /* no more than half of one's way is the ranks' own */
        travel->overhead = one.least / 8;
    travel->latency = counted(pair, &one) / 2 - 2 * travel->overhead;
    return MPI_SUCCESS;
}

/* The time of the further messages of a row: the first may go faster, on what links have saved up.
 * Where a message of MIDDLE bytes is slow already, longer ones are out of the question. */
static int
measure_long(struct ar_travel *travel, bool *is_slow, const struct pair *pair, int effort)
{
    struct loops middle, one, row;
    int error = play(pair, MIDDLE, 1, LONG_LOOP * effort, &middle);
    if (error)
        return error;
    *is_slow = counted(pair, &middle) > SLOW_NS; /* the server knows */
    error = tell(is_slow, pair, true);
    if (error)
        return error;
    travel->per_byte = counted(pair, &middle) / MIDDLE;
    if (*is_slow)
        return MPI_SUCCESS;
    const int *const node_of = pair->m->node_of;
    const int loops = node_of[pair->other] == node_of[0] ? LONG_LOOP * effort : effort;
    error = play(pair, LONG, 1, loops, &one);
    if (!error)
        error = play(pair, LONG, LONG_ROW, loops, &row);
    if (error)
        return error;
    const double more = counted(pair, &row) - counted(pair, &one);
    if (more > 0) /* else: less than the clock can tell */
        travel->per_byte = more / ((LONG_ROW - 1) * LONG);
    return MPI_SUCCESS;
}

/* --- messages that ask first --- */

/* Does a send of so many bytes complete while the other rank, which answers others, has not posted
 * its receive?  Both ranks get to know. */
static int
is_eager(bool *is, const struct pair *pair, int bytes)
{
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
    return error ? error : wait_all(1, &request, pair->m->wait);
}

/* The longest message that is eager, to a power of two, and what a message twice as long takes more
 * than its bytes. */
static int
measure_eager(struct ar_travel *travel, const struct pair *pair, bool is_slow, int effort)
{
    const int longest = is_slow ? MIDDLE : LONG;
    const int loops = (is_slow ? LONG_LOOP : SHORT_LOOP) * effort;
    struct loops shorter, longer;
    int bytes = EAGER_LEAST;
    bool is = true;
    int error = is_eager(&is, pair, bytes);
    while (!error && is && bytes < longest) {
        bytes *= 2;
        error = is_eager(&is, pair, bytes);
    }
    if (error || is)
        return error;
    const int eager = bytes / 2;
    error = play(pair, eager, 1, loops, &shorter);
    if (!error)
        error = play(pair, bytes, 1, loops, &longer);
    if (error)
        return error;
    travel->eager_bytes = (size_t)eager;
    travel->handshake =
        fmax(0, counted(pair, &longer) - counted(pair, &shorter) - eager * travel->per_byte);
    return MPI_SUCCESS;
}

static double
one_way(const struct ar_travel *travel)
{
    return travel->latency + 2 * travel->overhead;
}

/* Rank 0 and another one, while all others wait.  Short messages are measured twice, some time
 * apart: two ranks that have one core at first may have two later.  Where ranks share cores their
 * median counts: a message waits for a turn of the ranks that wait for others, and in the fastest
 * loop it did not. */
static int
measure_pair(struct ar_travel *travel, const struct ar_measuring *m, int other, bool is_crowded)
{
    struct pair pair = {m, 0, other, NULL, is_crowded};
    if (other < 0 || (m->rank != 0 && m->rank != other))
        return MPI_SUCCESS;
    pair.room = calloc(LONG_ROW, LONG);
    if (!pair.room)
        return MPI_ERR_NO_MEM;
    struct ar_travel later = {0};
    bool is_slow = false;
    int error = measure_short(travel, &pair, m->effort);
    pair.is_median = false;
    if (!error)
        error = measure_long(travel, &is_slow, &pair, m->effort);
    pair.is_median = is_crowded;
    if (!error && m->node_of[other] != m->node_of[0]) /* schedules send none within a node */
        error = measure_eager(travel, &pair, is_slow, m->effort);
    if (!error && !is_slow)
        error = measure_short(&later, &pair, m->effort);
    if (!error && !is_slow && one_way(&later) < one_way(travel)) {
        travel->latency = later.latency;
        travel->overhead = later.overhead;
    }
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

/* Adds up on rank 0 what the ranks on its host are, which are those of its boot. */
static int
count_host(struct host *host, const struct ar_measuring *m, uint64_t boot, bool is_first)
{
    struct ar_cpus own, all;
    MPI_Request requests[2];
    const bool is_here = ar_boot_hash() == boot, is_silent = !ar_cpus_of_thread(&own);
    const int part[] = {is_here, is_here && is_first, is_here && is_silent};
    int sums[3] = {0};
    if (!is_here)
        memset(&own, 0, sizeof own);
    int error = PMPI_Ireduce(part, sums, 3, MPI_INT, MPI_SUM, 0, m->comm, &requests[0]);
    if (!error)
        error =
            PMPI_Ireduce(&own, &all, (int)sizeof all, MPI_BYTE, MPI_BOR, 0, m->comm, &requests[1]);
    error = error ? error : wait_all(2, requests, m->wait);
    if (!error && m->rank == 0)
        *host = (struct host){
            .ranks = sums[0], .nodes = sums[1], .cores = sums[2] > 0 ? 0 : ar_cpus_count(&all)};
    return error;
}

static int
broadcast(void *data, int bytes, const struct ar_measuring *m)
{
    MPI_Request request;
    const int error = PMPI_Ibcast(data, bytes, MPI_BYTE, 0, m->comm, &request);
    return error ? error : wait_all(1, &request, m->wait);
}

/* Collective: all ranks get *host. */
static int
find_host(struct host *host, const struct ar_measuring *m, bool is_first)
{
    uint64_t boot = ar_boot_hash();
    int error = broadcast(&boot, (int)sizeof boot, m);
    if (!error)
        error = count_host(host, m, boot, is_first);
    return error ? error : broadcast(host, (int)sizeof *host, m);
}

/* Each of the pair sends a row of long messages to the other one.  As in schedules, sends come
 * first: on a connection that carries an answer first, messages do not pass each other. */
static int
exchange(const struct pair *pair)
{
    const struct ar_wire *const w = pair->m->wire;
    const int peer = peer_of(pair);
    MPI_Request requests[2 * LONG_ROW];
    int error = MPI_SUCCESS;
    for (int i = 0; i < LONG_ROW && !error; i++)
        error = PMPI_Isend(pair->room + LONG_ROW * LONG, LONG, MPI_BYTE, peer, w->tag, w->comm,
                           &requests[i]);
    for (int i = 0; i < LONG_ROW && !error; i++)
        error = PMPI_Irecv(pair->room + i * LONG, LONG, MPI_BYTE, peer, w->tag, w->comm,
                           &requests[LONG_ROW + i]);
    return error ? error : wait_all(2 * LONG_ROW, requests, pair->m->wait);
}

/* All pairs exchange long messages at once; *per_byte is that of each of this rank's pair. */
static int
measure_at_once(double *per_byte, const struct ar_measuring *m, const struct players *p)
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
                              .room = calloc(LONG_ROW + 1, LONG)};
    if (!pair.room)
        return MPI_ERR_NO_MEM;
    for (int k = 0; k < loops && !error; k++) {
        const uint64_t start = ar_clock_system_ns();
        error = exchange(&pair);
        times[k] = (double)(ar_clock_system_ns() - start);
    }
    if (!error)
        *per_byte = ar_estimate_make(times, (size_t)loops).median / (LONG_ROW * LONG);
    free(pair.room);
    return error;
}

/* The time that a byte takes of what n ranks share, where they hinder each other; else 0. */
static double
shared_per_byte(double at_once, double alone, int n)
{
    return n > 1 && at_once > HINDERED * alone ? at_once / n : 0;
}

/* What ranks that share cores move when all do at once, which is less than what a pair does.
 * machine: rank 0's counts. */
static int
measure_host(struct ar_machine *machine, const struct ar_measuring *m, const struct host *host,
             const struct players *neighbours, const struct players *nodes)
{
    double near = 0, far = 0;
    int is_slow = machine->network.per_byte * MIDDLE > SLOW_NS; /* cores do not matter to it */
    int error = measure_at_once(&near, m, neighbours);
    if (!error && host->nodes > 1)
        error = broadcast(&is_slow, (int)sizeof is_slow, m);
    if (!error && host->nodes > 1 && !is_slow)
        error = measure_at_once(&far, m, nodes);
    machine->memory_per_byte = shared_per_byte(near, machine->node.per_byte, neighbours->n & ~1);
    if (host->nodes > 1) {
        machine->host_nodes = host->nodes;
        machine->host_cores = host->cores;
        machine->host_per_byte = shared_per_byte(far, machine->network.per_byte, host->nodes & ~1);
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
    int near = -1, far = -1; /* the first rank behind rank 0 on its node, and on another */
    struct players neighbours = {calloc((size_t)nranks, sizeof(int)), 0};
    struct players nodes = {calloc((size_t)nranks, sizeof(int)), 0};
    bool *const seen = calloc((size_t)nranks, sizeof *seen);
    struct host host = {0};
    int error = neighbours.ranks && nodes.ranks && seen ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    *machine = (struct ar_machine){.node = {.eager_bytes = SIZE_MAX},
                                   .network = {.eager_bytes = SIZE_MAX}};
    snprintf(machine->title, sizeof machine->title, "measured");
    for (int r = nranks - 1; r > 0; r--)
        *(node_of[r] == node_of[0] ? &near : &far) = r;
    for (int r = 0; r < nranks; r++)
        machine->ranks_per_node += node_of[r] == node_of[0];
    if (!error) {
        list_neighbours(&neighbours, node_of, m->rank, nranks);
        list_nodes(&nodes, node_of, seen, nranks);
        error = find_host(&host, m, are_among(&nodes, m->rank));
    }
    if (!error)
        error = measure_pair(&machine->node, m, near, is_crowded(&host));
    if (!error)
        error = measure_pair(&machine->network, m, far, is_crowded(&host));
    if (!error && m->rank == 0)
        error = measure_reduction(machine, m->comm, m->effort);
    if (near < 0)
        machine->node = machine->network;
    if (far < 0)
        machine->network = machine->node;
    if (!error && (is_crowded(&host) || host.nodes > 1))
        error = measure_host(machine, m, &host, &neighbours, &nodes);
    free(neighbours.ranks);
    free(nodes.ranks);
    free(seen);
    return error;
}
