/* The engine of a communicator: what point-to-point schedules need beside it. */
#include <config.h>

#include <stdlib.h>

#include "communicator/state.h"
#include "execute/tuning.h"

/* Node of this rank as MPI sees it (MPI_COMM_TYPE_SHARED). */
struct node {
    int leader; /* rank in the user's communicator */
    int nranks;
    int cpus; /* that its ranks may run on together */
};

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

/* Blocks of lanes replace each other, but none of a node's memory. */
#define CHANNEL_KIND AR_MEMORY_GRADES

/* Among nranks ranks of one node.  They alone need to agree on it: messages between nodes do not
 * care what carries those within. */
static void
open_channel(struct ar_communicator *c, MPI_Comm local, int rank, int nranks)
{
    if (nranks > 1 && c->config->transport != AR_TRANSPORT_MPI && ar_channel_serves(nranks))
        c->has_channel = ar_channel_init(&c->channel, local, rank, nranks, CHANNEL_KIND);
}

static struct node
look_at_node(struct ar_communicator *c, MPI_Comm comm)
{
    struct node node = {c->rank, c->nranks, 0};
    MPI_Comm local;
    int rank;
    if (PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, c->rank, MPI_INFO_NULL, &local))
        return node;
    PMPI_Comm_set_errhandler(local, MPI_ERRORS_RETURN);
    PMPI_Comm_rank(local, &rank);
    PMPI_Comm_size(local, &node.nranks);
    PMPI_Bcast(&node.leader, 1, MPI_INT, 0, local);
    node.cpus = ar_cpus_together(local, rank);
    open_channel(c, local, rank, node.nranks);
    PMPI_Comm_free(&local);
    return node;
}

#define NO_COMMUNICATOR (-1)

/* Numbers the nodes by their lowest rank: node_of[i], the leader of rank i, becomes
 * i's node.  False if a rank has no private communicator. */
static bool
number_nodes(int *node_of, int nranks)
{
    int nodes = 0;
    for (int i = 0; i < nranks; i++)
        if (node_of[i] == NO_COMMUNICATOR)
            return false;
    for (int i = 0; i < nranks; i++)
        node_of[i] = node_of[i] == i ? nodes++ : node_of[node_of[i]];
    return true;
}

/* Ranks are in the channel in the order of the communicator. */
static void
number_members(struct ar_communicator *c)
{
    int members = 0;
    for (int i = 0; i < c->nranks; i++)
        c->member_of[i] = c->node_of[i] == c->node_of[c->rank] ? members++ : -1;
}

/* Of the nranks ranks of a communicator on a node; the job may have more there. */
static struct ar_wait
wait_on_node(const struct ar_communicator *c, int nranks, int cpus)
{
    const int local = local_ranks_of_job();
    return ar_wait_make(c->config->wait, local > nranks ? local : nranks, cpus);
}

/* True on all ranks, or on none. */
static bool
create(struct ar_communicator *c, MPI_Comm comm)
{
    struct node node = look_at_node(c, comm);
    c->wait = wait_on_node(c, node.nranks, node.cpus);
    if (PMPI_Comm_split(comm, 0, c->rank, &c->private_comm) == MPI_SUCCESS) {
        PMPI_Comm_set_errhandler(c->private_comm, MPI_ERRORS_RETURN);
    } else {
        c->private_comm = MPI_COMM_NULL;
        node.leader = NO_COMMUNICATOR;
    }
    return PMPI_Allgather(&node.leader, 1, MPI_INT, c->node_of, 1, MPI_INT, comm) == MPI_SUCCESS &&
           number_nodes(c->node_of, c->nranks);
}

int
ar_engine_create(struct ar_communicator *c, MPI_Comm comm)
{
    if (c->nranks == 1) { /* nobody to talk to */
        c->engine = AR_ENGINE_READY;
        return MPI_SUCCESS;
    }
    c->node_of = malloc((size_t)c->nranks * sizeof *c->node_of);
    c->member_of = malloc((size_t)c->nranks * sizeof *c->member_of);
    if (!c->node_of || !c->member_of) {
        ar_engine_destroy(c, true);
        return MPI_ERR_NO_MEM;
    }
    const bool ready = create(c, comm);
    if (ready)
        number_members(c);
    else
        ar_engine_destroy(c, true);
    c->engine = ready ? AR_ENGINE_READY : AR_ENGINE_FAILED;
    return MPI_SUCCESS;
}

/* Blocks for later short communicators: a page or two for each rank. */
#define SHORT_SPARE 3

static struct ar_node_size
memory_size(const struct ar_communicator *c, int grade)
{
    const int neighbours = local_ranks_of_job();
    if (grade == AR_MEMORY_SHORT)
        return (struct ar_node_size){grade, AR_SHORT_CHUNK, SHORT_SPARE, neighbours};
    const bool is_crowded = c->memory[AR_MEMORY_SHORT].node.is_crowded;
    const size_t chunk = ar_node_tune(c->nranks, is_crowded).chunk_bytes;
    return (struct ar_node_size){grade, chunk, 0, neighbours};
}

static void
map_memory(struct ar_communicator *c, MPI_Comm comm, int grade)
{
    struct ar_memory *memory = &c->memory[grade];
    if (memory->state != AR_ENGINE_NONE)
        return;
    if (!ar_node_init(&memory->node, comm, c->rank, c->nranks, memory_size(c, grade))) {
        memory->state = AR_ENGINE_FAILED;
        return;
    }
    memory->state = AR_ENGINE_READY;
    c->wait = ar_wait_make(c->config->wait, memory->node.block.ranks, memory->node.block.cpus);
}

static int
grade_of(const struct ar_reduction *r, size_t count)
{
    const size_t bytes = r->basic ? ar_reduction_room_bytes(r, count) : count * r->size;
    return bytes <= AR_SHORT_CHUNK ? AR_MEMORY_SHORT : AR_MEMORY_LONG;
}

struct ar_node *
ar_memory_get(struct ar_communicator *c, MPI_Comm comm, const struct ar_reduction *r, size_t count,
              const char **why)
{
    const int grade = grade_of(r, count);
    struct ar_memory *memory = &c->memory[grade];
    map_memory(c, comm, AR_MEMORY_SHORT); /* tells the manner of waiting, too */
    if (c->memory[AR_MEMORY_SHORT].state == AR_ENGINE_READY)
        map_memory(c, comm, grade);
    if (memory->state == AR_ENGINE_READY && ar_node_takes(&memory->node, r))
        return &memory->node;
    *why = memory->state == AR_ENGINE_READY ? "elements too large for shared memory: by messages"
                                            : "no shared memory: by messages";
    return NULL;
}

void
ar_memory_destroy(struct ar_communicator *c)
{
    for (int i = 0; i < AR_MEMORY_GRADES; i++)
        if (c->memory[i].state == AR_ENGINE_READY)
            ar_node_fini(&c->memory[i].node);
    if (c->has_channel)
        ar_channel_fini(&c->channel);
}

void
ar_engine_destroy(struct ar_communicator *c, bool mpi_lives)
{
    if (mpi_lives && c->private_comm != MPI_COMM_NULL)
        PMPI_Comm_free(&c->private_comm);
    c->private_comm = MPI_COMM_NULL;
    free(c->node_of);
    free(c->member_of);
    free(c->scratch);
    c->node_of = NULL;
    c->member_of = NULL;
    c->scratch = NULL;
    c->scratch_bytes = 0;
}
