/* Measures the memory that ranks of a node share.  Two ranks at a time use two lines like flags:
 * each rank writes one of them, and the other rank reads it.  Then all ranks at once read lines,
 * each those that another rank has written.  Then several ranks read one line at once.
 *
 * There are two lines because one that both ranks write seems to come faster.  All ranks read at
 * once, as in all algorithms; a pair alone has more.  Medians count: the host of a virtual machine
 * may place two ranks on one core for a while, and in the fastest sample of several readers they
 * looked too late to wait for each other. */
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "execute/group.h"
#include "execute/node.h"
#include "execute/node_plan.h"
#include "execute/own_domains.h"
#include "execute/shared.h"
#include "helper/measure_levels.h"
#include "model/pairs.h"
#include "report/clock.h"
#include "tuning/estimate.h"

#define LINE        64
#define READ        ((size_t)64 << 10) /* bytes that are read in a sample */
#define TURNS       20                 /* there and back in a sample */
#define SAMPLES     500                /* at most, of which the median counts */
#define STREAMS     200                /* samples of what all ranks read at once */
#define LONGEST_NS  1000000000         /* of a pair or a level: then no further sample is begun */
#define YIELD_AFTER 20000              /* polls: the other rank may be without a core for a time */
#define END         (-1)               /* in place of a turn */

/* Of memory. */
#define PASSES 5                 /* of which the fastest counts */
#define CACHES 4                 /* times as much as a rank's share of its cache */
#define LEAST  ((size_t)4 << 20) /* bytes of a rank: more than a cache of its own has */
#define WORD   sizeof(uint64_t)

/* Of accesses, of whose samples the fastest counts, as of messages. */
#define CALLS 100 /* in a sample */

struct shared {
    _Alignas(LINE) atomic_int turn;    /* the server writes */
    _Alignas(LINE) atomic_int answer;  /* the other writes */
    _Alignas(LINE) atomic_int arrived; /* at meetings of all ranks of the node, in all */
    struct {
        _Alignas(LINE) atomic_int turn; /* that it has seen */
        uint64_t at_ns;                 /* and when */
    } readers[AR_READERS_MOST];
    _Alignas(LINE) uint64_t lines[][READ / sizeof(uint64_t)]; /* of each rank of the node */
};

static size_t
shared_bytes(int nranks)
{
    return sizeof(struct shared) + (size_t)nranks * READ;
}

/* After a look in vain. */
static void
wait_on(unsigned *polls)
{
    if (++*polls % YIELD_AFTER == 0)
        sched_yield();
}

/* --- two ranks --- */

/* False where there is no such turn any more. */
static bool
await(atomic_int *line, int turn)
{
    int now;
    unsigned polls = 0;
    /* Pairs with the release in pass(). */
    while ((now = atomic_load_explicit(line, memory_order_acquire)) != turn && now != END)
        wait_on(&polls);
    return now == turn;
}

static void
pass(atomic_int *line, int turn)
{
    /* Pairs with the acquire in await(). */
    atomic_store_explicit(line, turn, memory_order_release);
}

/* The other rank's part. */
static void
answer(struct shared *s)
{
    for (int turn = 1; await(&s->turn, turn); turn++)
        pass(&s->answer, turn);
    pass(&s->turn, 0); /* for the next pair, which begins behind a barrier */
    pass(&s->answer, 0);
}

/* The server's part: ns of a line one way. */
static double
serve(struct shared *s, int *turn)
{
    const uint64_t start = ar_clock_system_ns();
    for (int i = 0; i < TURNS; i++) {
        pass(&s->turn, ++*turn);
        await(&s->answer, *turn);
    }
    return (double)(ar_clock_system_ns() - start) / (2 * TURNS);
}

/* The median counts: the host of a virtual machine may place the two on one core for a while, and
 * the least would be of that while. */
static double
measure_pair(struct shared *s)
{
    const uint64_t begin = ar_clock_system_ns();
    double sample[SAMPLES];
    int n = 0, turn = 0;
    while (n < SAMPLES && (n == 0 || ar_clock_system_ns() - begin < LONGEST_NS))
        sample[n++] = serve(s, &turn);
    pass(&s->turn, END);
    return ar_estimate_make(sample, (size_t)n).median;
}

/* --- all ranks of the node --- */

/* Returns when all n ranks have come as often. */
static void
meet(struct shared *s, int n, int *meetings)
{
    const int arrived = ++*meetings * n;
    unsigned polls = 0;
    /* Each pairs with all that come before it. */
    atomic_fetch_add_explicit(&s->arrived, 1, memory_order_acq_rel);
    while (atomic_load_explicit(&s->arrived, memory_order_acquire) < arrived)
        wait_on(&polls);
}

static uint64_t
read_lines(const uint64_t *lines)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < READ / sizeof *lines; i++)
        sum += lines[i];
    return sum;
}

/* ns per byte on this rank.  All ranks write their own lines; then each reads another's, all at the
 * same time. */
static double
read_at_once(struct shared *s, int n, int own, int partner)
{
    static _Atomic uint64_t kept; /* so that the lines are read */
    const uint64_t begin = ar_clock_system_ns();
    double sample[STREAMS];
    int i = 0, meetings = 0;
    /* Rank 0 ends it before the second meeting, after which all see that. */
    while (i < STREAMS && atomic_load_explicit(&s->turn, memory_order_relaxed) != END) {
        memset(s->lines[own], i % 100, READ);
        meet(s, n, &meetings);
        const uint64_t before = ar_clock_system_ns();
        atomic_store_explicit(&kept, read_lines(s->lines[partner]), memory_order_relaxed);
        sample[i++] = (double)(ar_clock_system_ns() - before) / READ;
        if (own == 0 && before - begin > LONGEST_NS)
            pass(&s->turn, END);
        meet(s, n, &meetings);
    }
    return ar_estimate_make(sample, (size_t)i).median;
}

/* --- readers of one line --- */

/* Looks at the line for each turn, and tells when it has seen it. */
static void
read_line(struct shared *s, int reader)
{
    int turn = 1;
    for (; await(&s->turn, turn); turn++) {
        s->readers[reader].at_ns = ar_clock_system_ns();
        /* Pairs with the acquire in await_readers(). */
        atomic_store_explicit(&s->readers[reader].turn, turn, memory_order_release);
    }
    atomic_store_explicit(&s->readers[reader].turn, END, memory_order_release);
}

/* ns from when the first of them saw the turn until the last one did, for each but the first. */
static double
await_readers(const struct shared *s, int n, int turn)
{
    uint64_t first = UINT64_MAX, last = 0;
    for (int i = 0; i < n; i++) {
        unsigned polls = 0;
        /* Pairs with the release in read_line(). */
        while (atomic_load_explicit(&s->readers[i].turn, memory_order_acquire) != turn)
            wait_on(&polls);
        const uint64_t at = s->readers[i].at_ns;
        first = at < first ? at : first;
        last = at > last ? at : last;
    }
    return (double)(last - first) / (n - 1);
}

/* The writer's part.  The median counts: the least spread is that of readers that looked too late.
 */
static double
write_line(struct shared *s, int nreaders)
{
    const uint64_t begin = ar_clock_system_ns();
    double spread[SAMPLES];
    int n = 0;
    while (n < SAMPLES && (n == 0 || ar_clock_system_ns() - begin < LONGEST_NS)) {
        pass(&s->turn, n + 1);
        spread[n] = await_readers(s, nreaders, n + 1);
        n++;
    }
    pass(&s->turn, END);
    await_readers(s, nreaders, END);
    pass(&s->turn, 0);
    return ar_estimate_make(spread, (size_t)n).median;
}

/* --- what the ranks of a group read of memory when all of them read at once --- */

static double
read_all(const uint64_t *room, size_t bytes)
{
    static _Atomic uint64_t kept; /* so that it is read */
    const uint64_t start = ar_clock_system_ns();
    uint64_t sum = 0;
    for (size_t i = 0; i < bytes / WORD; i++)
        sum += room[i];
    atomic_store_explicit(&kept, sum, memory_order_relaxed);
    return (double)(ar_clock_system_ns() - start);
}

/* Each pass takes as long as its slowest reader. */
static int
time_passes(double *least, const uint64_t *room, size_t bytes, MPI_Comm comm)
{
    int error = MPI_SUCCESS;
    for (int pass = 0; pass < PASSES && !error; pass++) {
        double time = 0;
        error = PMPI_Barrier(comm);
        if (!error && room)
            time = read_all(room, bytes);
        if (!error)
            error = ar_reduce_all(&time, 1, MPI_DOUBLE, MPI_MAX, comm);
        *least = pass == 0 || time < *least ? time : *least;
    }
    return error;
}

/* How fast the `readers` ranks of a group, with this one if it reads, read memory at once: ns per
 * byte of all of them together; 0 without memory for that.  Each reads more than `share`, its share
 * of a cache in bytes.  Collective over comm: all ranks get it. */
static int
read_memory(double *per_byte, int readers, bool reads, size_t share, MPI_Comm comm)
{
    const size_t bytes = CACHES * share > LEAST ? CACHES * share : LEAST;
    uint64_t *const room = reads ? malloc(bytes) : NULL;
    int can = !reads || room;
    double least = 0;
    if (room)
        memset(room, 1, bytes);
    int error = ar_reduce_all(&can, 1, MPI_INT, MPI_LAND, comm);
    if (!error && can)
        error = time_passes(&least, room, bytes, comm);
    free(room);
    *per_byte = least / ((double)readers * (double)bytes);
    return error;
}

/* --- what a rank itself takes for an access --- */

/* By the executor's own calls, in which the other rank's flags are up already and all lines are in
 * this core's cache. */

/* The slots of two ranks, of which the second has raised all flags for good. */
static char *
make_slots(struct ar_node *node)
{
    const size_t slot_bytes = ar_node_slot_bytes(node->chunk_bytes), bytes = 2 * slot_bytes;
    char *const slots = aligned_alloc(AR_LINE_BYTES, AR_SLOTS * bytes);
    if (!slots)
        return NULL;
    memset(slots, 0, AR_SLOTS * bytes);
    for (size_t turn = 0; turn < AR_SLOTS; turn++) {
        struct ar_slot *const other = (void *)(slots + turn * bytes + slot_bytes);
        for (int flag = 0; flag < AR_NODE_FLAGS; flag++)
            atomic_init(&other->line[flag].flag.value, UINT64_MAX);
    }
    node->piece = (struct ar_piece){.slots = slots, .slot_bytes = slot_bytes, .stride = 2};
    return slots;
}

/* The fastest of the samples, of one call; 0 where one fails. */
static double
time_calls(const struct ar_node_run *run)
{
    double least = 0;
    for (int k = 0; k < SAMPLES; k++) {
        const uint64_t start = ar_clock_system_ns();
        for (int i = 0; i < CALLS; i++)
            if (ar_node_allreduce(run) != MPI_SUCCESS)
                return 0;
        const double time = (double)(ar_clock_system_ns() - start) / CALLS;
        least = k == 0 || time < least ? time : least;
    }
    return least;
}

/* How many ns each access itself takes a rank that waits in this way, whatever other ranks do; 0:
 * it cannot be measured. */
static double
measure_access(struct ar_wait wait)
{
    const struct ar_algorithm *const shm = ar_algorithm_find("shm", 3);
    const double in = 1;
    double out = 0, time = 0;
    struct ar_reduction r;
    struct ar_node_plan *plan = NULL;
    struct ar_node node = {
        .nranks = 2, .chunk_bytes = AR_SHORT_CHUNK, .tuning = {.whole_bytes = SIZE_MAX}};
    char *const slots = make_slots(&node), *scratch = NULL;
    if (slots && ar_reduction_resolve(&r, MPI_SUM, MPI_DOUBLE) &&
        ar_node_plan_create(&plan, &node, shm, &shm->defaults, 1, &r, false) == AR_OK)
        scratch = aligned_alloc(AR_SCRATCH_ALIGNMENT,
                                ar_node_plan_scratch_bytes(plan) + AR_SCRATCH_ALIGNMENT);
    if (scratch) {
        r.comm = MPI_COMM_SELF;
        const struct ar_node_run run = {.node = &node,
                                        .plan = plan,
                                        .count = 1,
                                        .reduction = &r,
                                        .in = (const char *)&in,
                                        .out = (char *)&out,
                                        .scratch = scratch,
                                        .wait = wait};
        time = time_calls(&run) / (double)plan->full[AR_WAY_SLOTS].nsteps;
    }
    ar_node_plan_destroy(plan);
    free(scratch);
    free(slots);
    return time;
}

/* --- all ranks --- */

/* The ranks on rank 0's node, and what they share. */
struct node {
    int n;
    int *ranks; /* of the communicator */
    int *of;    /* AR_DOMAINS of each rank of the communicator; then by domain, of the node's */
    struct ar_domains domains;
};

/* Collective.  Needs memory, which the caller has made. */
static int
find_node(struct node *node, const struct ar_measuring *m)
{
    int own[AR_DOMAINS], *const by_domain = node->of + (size_t)m->nranks * AR_DOMAINS;
    ar_own_domains_find(own);
    const int error =
        PMPI_Allgather(own, AR_DOMAINS, MPI_INT, node->of, AR_DOMAINS, MPI_INT, m->comm);
    for (int r = 0; r < m->nranks && !error; r++) {
        if (m->node_of[r] != m->node_of[0])
            continue;
        for (int d = 0; d < AR_DOMAINS; d++)
            by_domain[d * m->nranks + node->n] = node->of[r * AR_DOMAINS + d];
        node->ranks[node->n++] = r;
    }
    node->domains.nranks = node->n;
    for (int d = 0; d < AR_DOMAINS; d++)
        node->domains.of[d] = by_domain + (size_t)d * (size_t)m->nranks;
    return error;
}

/* Collective.  Every rank gets the times of all pairs. */
static int
measure_pairs(struct ar_pairs *pairs, const struct node *node, struct shared *s,
              const struct ar_measuring *m)
{
    int error = MPI_SUCCESS;
    for (int l = 0; l < pairs->nlevels; l++) {
        struct ar_pairs_level *const level = &pairs->level[l];
        for (int i = 0; i < level->n && !error; i++) {
            const int server = node->ranks[level->ranks_of[i][0]];
            const int other = node->ranks[level->ranks_of[i][1]];
            error = PMPI_Barrier(m->comm);
            if (!error && m->rank == server)
                level->latency[i] = measure_pair(s);
            if (!error && m->rank == other)
                answer(s);
            if (!error)
                error = PMPI_Bcast(&level->latency[i], 1, MPI_DOUBLE, server, m->comm);
        }
    }
    return error;
}

/* Which of the node's ranks this one is; -1: it is on another node. */
static int
number_of(const struct node *node, const struct ar_measuring *m)
{
    int number = 0;
    while (number < node->n && node->ranks[number] != m->rank)
        number++;
    return number < node->n ? number : -1;
}

/* Collective.  Every rank gets the means over the node's ranks. */
static int
measure_streams(struct ar_pairs *pairs, const struct node *node, struct shared *s,
                const struct ar_measuring *m)
{
    const int number = number_of(node, m);
    int error = MPI_SUCCESS;
    for (int l = 0; l < pairs->nlevels && !error; l++) {
        struct ar_pairs_level *const level = &pairs->level[l];
        error = PMPI_Barrier(m->comm);
        if (number >= 0 && !error)
            level->per_byte =
                read_at_once(s, node->n, number, ar_pairs_partner(level, number)) / node->n;
        if (!error)
            error = ar_reduce_all(&level->per_byte, 1, MPI_DOUBLE, MPI_SUM, m->comm);
        if (number == 0) { /* all have left the loop by now */
            atomic_store_explicit(&s->arrived, 0, memory_order_relaxed);
            pass(&s->turn, 0);
        }
    }
    return error;
}

/* Collective.  Rank 0 writes, and gets the times. */
static int
measure_readers(struct ar_pairs *pairs, const struct node *node, struct shared *s,
                const struct ar_measuring *m)
{
    int error = MPI_SUCCESS;
    for (int l = 0; l < pairs->nlevels && !error; l++) {
        struct ar_pairs_level *const level = &pairs->level[l];
        if (level->nreaders == 0)
            continue;
        error = PMPI_Barrier(m->comm);
        for (int i = 0; i < level->nreaders && !error; i++)
            if (m->rank == node->ranks[level->readers[i]])
                read_line(s, i);
        if (m->rank == 0 && !error)
            level->serve = write_line(s, level->nreaders);
    }
    return error;
}

/* Collective.  Where no cache is shared, or its size is unknown, the model could not tell when
 * memory matters. */
static int
measure_memory(struct ar_pairs *pairs, const struct node *node, size_t cache_bytes,
               const struct ar_measuring *m)
{
    const int number = number_of(node, m);
    int error = MPI_SUCCESS;
    const size_t share = pairs->nlevels > 0 ? cache_bytes / (size_t)pairs->level[0].ranks : 0;
    for (int l = 0; l < pairs->nlevels && !error && pairs->shares_cache && cache_bytes > 0; l++) {
        struct ar_pairs_level *const level = &pairs->level[l];
        error = read_memory(&level->memory_per_byte, level->ranks,
                            number >= 0 && number < level->ranks, share, m->comm);
    }
    return error;
}

/* Collective.  Rank 0's memory, mapped by the ranks of its node, each rank's lines near it; *can:
 * all of them have it. */
static int
map(struct shared **s, const struct node *node, int *can, const struct ar_measuring *m)
{
    const size_t bytes = shared_bytes(node->n), own = (size_t)number_of(node, m) * READ;
    const struct ar_shared_parts head = {0, sizeof **s + READ, 0, 1},
                                 lines = {sizeof **s + own, READ, 0, 1};
    const bool is_near = m->node_of[m->rank] == m->node_of[0];
    struct ar_shared shared = {.number = 0};
    if (m->rank == 0 && *can)
        *s = ar_shared_make(&shared, false, bytes, &head, 1);
    int error = PMPI_Bcast(&shared, (int)sizeof shared, MPI_BYTE, 0, m->comm);
    if (!error && m->rank > 0 && is_near && shared.number != 0)
        *s = ar_shared_open(&shared, bytes, &lines, 1);
    *can = *can && (*s || !is_near);
    if (!error)
        error = ar_reduce_all(can, 1, MPI_INT, MPI_LAND, m->comm);
    if (m->rank == 0 && shared.number != 0)
        ar_shared_hide(&shared);
    return error;
}

int
ar_measure_levels(struct ar_machine *machine, const struct ar_measuring *m)
{
    const size_t n = (size_t)m->nranks;
    struct node node = {.ranks = malloc(n * sizeof(int)),
                        .of = malloc(2 * n * AR_DOMAINS * sizeof(int))};
    struct ar_pairs pairs = {.nlevels = 0};
    struct shared *s = NULL;
    size_t cache_bytes = ar_third_level_cache();
    int can = node.ranks && node.of;
    if (m->rank == 0) /* those that share cores would wait for each other's turns */
        can = can && machine->cores_per_node == 0 && machine->host_nodes == 0;
    int error = ar_reduce_all(&can, 1, MPI_INT, MPI_LAND, m->comm);
    if (!error)
        error = PMPI_Bcast(&cache_bytes, (int)sizeof cache_bytes, MPI_BYTE, 0, m->comm);
    if (!error && can)
        error = find_node(&node, m);
    if (!error && can) {
        can = ar_pairs_find(&pairs, &node.domains, node.n) == AR_OK && pairs.nlevels > 0;
        error = map(&s, &node, &can, m);
    }
    if (!error && can)
        error = measure_pairs(&pairs, &node, s, m);
    if (!error && can)
        error = measure_streams(&pairs, &node, s, m);
    if (!error && can)
        error = measure_readers(&pairs, &node, s, m);
    if (!error && can)
        error = measure_memory(&pairs, &node, cache_bytes, m);
    if (!error && can && m->rank == 0 && ar_pairs_set_levels(machine, &pairs, cache_bytes))
        machine->access = measure_access(m->wait);
    if (s)
        munmap(s, shared_bytes(node.n));
    free(node.ranks);
    free(node.of);
    return error;
}
