/* The engine of a communicator: what point-to-point schedules need beside it. */
#include <config.h>

#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "communicator/state.h"
#include "report/report.h"

/* What each rank tells the others. */
struct card {
    int made;   /* the private communicator is there */
    int leader; /* lowest rank of the node */
};

/* Node of this rank as MPI sees it (MPI_COMM_TYPE_SHARED). */
struct node {
    int leader; /* rank in the user's communicator */
    int nranks;
    int cpus; /* that its ranks may run on together */
};

static int
union_of_cpus(MPI_Comm node, int nranks)
{
    cpu_set_t mine, *all = calloc((size_t)nranks, sizeof *all);
    int cpus = 0;
    CPU_ZERO(&mine);
    sched_getaffinity(0, sizeof mine, &mine);
    if (!all)
        return 0;
    if (PMPI_Allgather(&mine, (int)sizeof mine, MPI_BYTE, all, (int)sizeof mine, MPI_BYTE, node) ==
        MPI_SUCCESS) {
        for (int i = 0; i < nranks; i++)
            CPU_OR(&mine, &mine, &all[i]);
        cpus = CPU_COUNT(&mine);
    }
    free(all);
    return cpus;
}

/* Ranks of the whole job on this node, where the launcher says so: a small
 * communicator may have cores for its own ranks and still share them. */
static int
local_ranks_of_job(void)
{
    static const char *const names[] = {"MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE"};
    int most = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *text = getenv(names[i]);
        int n = text ? atoi(text) : 0;
        most = n > most ? n : most;
    }
    return most;
}

static struct node
look_at_node(const struct ar_communicator *c, MPI_Comm comm)
{
    struct node node = {c->rank, c->nranks, 0};
    MPI_Comm local;
    if (PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, c->rank, MPI_INFO_NULL, &local))
        return node;
    PMPI_Comm_set_errhandler(local, MPI_ERRORS_RETURN);
    PMPI_Comm_size(local, &node.nranks);
    PMPI_Bcast(&node.leader, 1, MPI_INT, 0, local);
    node.cpus = union_of_cpus(local, node.nranks);
    PMPI_Comm_free(&local);
    return node;
}

/* Numbers the nodes by their lowest rank: leaders[i] becomes i's node. */
static void
number_nodes(int *node_of, const struct card *cards, int nranks)
{
    int nodes = 0;
    for (int i = 0; i < nranks; i++)
        node_of[i] = cards[i].leader == i ? nodes++ : node_of[cards[i].leader];
}

/* Tells and hears; true if every rank has its private communicator. */
static bool
exchange_cards(struct ar_communicator *c, MPI_Comm comm, struct card mine)
{
    struct card *cards = malloc((size_t)c->nranks * sizeof *cards);
    bool all = cards && c->node_of &&
               PMPI_Allgather(&mine, (int)sizeof mine, MPI_BYTE, cards, (int)sizeof mine, MPI_BYTE,
                              comm) == MPI_SUCCESS;
    for (int i = 0; all && i < c->nranks; i++)
        all = cards[i].made;
    if (all)
        number_nodes(c->node_of, cards, c->nranks);
    free(cards);
    return all;
}

/* Of the nranks ranks of a communicator on a node; the job may have more there. */
static struct ar_wait
wait_on_node(const struct ar_communicator *c, int nranks, int cpus)
{
    const int local = local_ranks_of_job();
    return ar_wait_make(c->config->wait, local > nranks ? local : nranks, cpus);
}

/* With comm's own error handler out of the way: a lack of context ids is no
 * error of the user's. */
static bool
create(struct ar_communicator *c, MPI_Comm comm)
{
    struct node node = look_at_node(c, comm);
    c->node_of = malloc((size_t)c->nranks * sizeof *c->node_of);
    bool made = PMPI_Comm_split(comm, 0, c->rank, &c->private_comm) == MPI_SUCCESS;
    if (!made)
        c->private_comm = MPI_COMM_NULL;
    else
        PMPI_Comm_set_errhandler(c->private_comm, MPI_ERRORS_RETURN);
    c->wait = wait_on_node(c, node.nranks, node.cpus);
    return exchange_cards(c, comm, (struct card){made && c->node_of, node.leader});
}

void
ar_engine_create(struct ar_communicator *c, MPI_Comm comm)
{
    MPI_Errhandler users;
    c->private_comm = MPI_COMM_NULL;
    if (c->nranks == 1) { /* nobody to talk to */
        c->engine = AR_ENGINE_READY;
        return;
    }
    PMPI_Comm_get_errhandler(comm, &users);
    PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    bool ready = create(c, comm);
    PMPI_Comm_set_errhandler(comm, users);
    PMPI_Errhandler_free(&users);
    if (!ready)
        ar_engine_destroy(c, true);
    c->engine = ready ? AR_ENGINE_READY : AR_ENGINE_FAILED;
}

/* Bytes of a chunk.  Short: a page or so in all for each rank.  Long: half of a
 * core's first level of cache; but where ranks take turns on the cores each chunk
 * costs two turns of all, so that few large ones are better. */
#define SHORT_CHUNK   ((size_t)2048)
#define LONG_CHUNK    ((size_t)32768)
#define CROWDED_CHUNK ((size_t)262144)

int
ar_memory_grade(const struct ar_reduction *r, size_t count)
{
    if (!r->named)
        return -1;
    return ar_reduction_room_bytes(r, count) <= SHORT_CHUNK ? AR_MEMORY_SHORT : AR_MEMORY_LONG;
}

static void
map_memory(struct ar_communicator *c, MPI_Comm comm, int grade, size_t chunk_bytes)
{
    struct ar_memory *memory = &c->memory[grade];
    int cpus = 0;
    if (memory->state != AR_ENGINE_NONE)
        return;
    memory->node = ar_node_create(comm, c->rank, c->nranks, chunk_bytes, &cpus);
    memory->state = memory->node ? AR_ENGINE_READY : AR_ENGINE_FAILED;
    c->wait = wait_on_node(c, c->nranks, cpus);
}

struct ar_node *
ar_memory_get(struct ar_communicator *c, MPI_Comm comm, int grade)
{
    map_memory(c, comm, AR_MEMORY_SHORT, SHORT_CHUNK); /* tells the manner of waiting, too */
    if (grade == AR_MEMORY_LONG && c->memory[AR_MEMORY_SHORT].node)
        map_memory(c, comm, grade, c->wait.spins > 0 ? LONG_CHUNK : CROWDED_CHUNK);
    return c->memory[grade].node;
}

void
ar_memory_destroy(struct ar_communicator *c)
{
    for (int i = 0; i < AR_MEMORY_GRADES; i++)
        ar_node_destroy(c->memory[i].node);
}

void
ar_engine_destroy(struct ar_communicator *c, bool mpi_lives)
{
    if (c->engine != AR_ENGINE_NONE && mpi_lives && c->private_comm != MPI_COMM_NULL)
        PMPI_Comm_free(&c->private_comm);
    c->private_comm = MPI_COMM_NULL;
    free(c->node_of);
    free(c->scratch);
    c->node_of = NULL;
    c->scratch = NULL;
    c->scratch_bytes = 0;
}
