#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "algorithms/nodes.h"
#include "communicator/transport.h"

const char ar_reason_large[] = "elements too large for shared memory: by messages";

/* Channels use each other's pieces again, but never those of a node's memory. */
#define CHANNEL_KIND AR_MEMORY_GRADES

/* Where the node is a container, the ranks of others may need the same CPUs. */
static void
settle_wait(struct ar_communicator *c, bool is_crowded)
{
    c->shares_cores = is_crowded || c->messages.carriage.on_host > ar_online_cpus();
    const int nodes =
        c->messages.carriage.node_of ? ar_nodes_count(c->messages.carriage.node_of, c->nranks) : 1;
    c->wait = ar_wait_make(c->config->wait, c->shares_cores);
    c->wait.dozes = nodes > 1;
    if (c->records.recorder) {
        atomic_store_explicit(&c->records.recorder->nodes, nodes, memory_order_relaxed);
        atomic_store_explicit(&c->records.recorder->shares_cores, c->shares_cores,
                              memory_order_relaxed);
    }
}

/* Finds the channel and the manner of waiting, which concern the ranks of this node alone.  They
 * are in the channel in the order of the communicator, and only they need to agree on it, since
 * messages between nodes do not depend on what carries those within.  Collective over comm. */
static void
look_at_node(struct ar_communicator *c, MPI_Comm comm)
{
    int members = 0;
    if (c->messages.assumed)
        memcpy(c->messages.carriage.node_of, c->messages.assumed,
               (size_t)c->nranks * sizeof *c->messages.assumed);
    for (int i = 0; i < c->nranks; i++)
        c->messages.member_of[i] =
            c->messages.carriage.node_of[i] == c->messages.carriage.node_of[c->rank] ? members++
                                                                                     : -1;
    const int rank = c->messages.member_of[c->rank];
    const int here = c->messages.assumed ? c->nranks : members;
    struct ar_crowd crowd = {here, here}; /* where it cannot be found */
    MPI_Comm node = ar_carriage_node(&c->messages.carriage, comm, c->rank, c->nranks);
    if (node != MPI_COMM_NULL) {
        ar_crowd_find(&crowd, c->messages.assumed ? comm : node, here, ar_job_beside(here), false);
        if (members > 1 && c->config->transport != AR_TRANSPORT_MPI && ar_channel_serves(members))
            c->messages.has_channel =
                ar_channel_init(&c->messages.channel, node, rank, members, CHANNEL_KIND);
    }
    settle_wait(c, ar_crowd_shares(crowd));
    if (node != MPI_COMM_NULL && node != comm)
        PMPI_Comm_free(&node);
}

int
ar_engine_create(struct ar_communicator *c, MPI_Comm comm)
{
    int error;
    if (c->nranks == 1) { /* nobody to talk to */
        c->messages.state = AR_ENGINE_READY;
        return MPI_SUCCESS;
    }
    c->messages.member_of = malloc((size_t)c->nranks * sizeof *c->messages.member_of);
    if (!c->messages.member_of)
        return MPI_ERR_NO_MEM;
    const bool ready = ar_carriage_borrow(&c->messages.carriage, comm, c->rank, c->nranks, &error);
    c->messages.state = ready ? AR_ENGINE_READY : AR_ENGINE_FAILED;
    if (ready)
        look_at_node(c, comm);
    return error;
}

/* Spare pieces for later short communicators: a page or two for each rank. */
#define SHORT_SPARE 3

/* Maps memory at the first call with this grade, which is collective over comm. */
static void
map_memory(struct ar_communicator *c, MPI_Comm comm, int grade)
{
    struct ar_memory *const memory = &c->memory.grades[grade];
    struct ar_node_size size = {grade, AR_SHORT_CHUNK, SHORT_SPARE, false};
    if (memory->state != AR_ENGINE_NONE)
        return;
    size.is_futile = c->rank == 0 && ar_carriers_are_apart(comm, c->nranks);
    if (grade == AR_MEMORY_LONG) {
        const bool is_crowded = c->memory.grades[AR_MEMORY_SHORT].node.is_crowded;
        size.chunk_bytes = ar_node_tune(c->nranks, is_crowded).chunk_bytes;
        size.spare = 0;
    }
    const bool shares = !c->messages.assumed || ar_nodes_count(c->messages.assumed, c->nranks) == 1;
    memory->state = shares && ar_node_init(&memory->node, comm, c->rank, c->nranks, size)
                        ? AR_ENGINE_READY
                        : AR_ENGINE_FAILED;
    if (memory->state == AR_ENGINE_READY)
        settle_wait(c, memory->node.is_crowded);
}

struct ar_node *
ar_memory_find_or_map(struct ar_communicator *c, MPI_Comm comm, const struct ar_reduction *r,
                      size_t count, const char **why)
{
    const size_t bytes = r->basic ? ar_reduction_room_bytes(r, count) : count * r->size;
    const int grade = bytes <= AR_SHORT_CHUNK ? AR_MEMORY_SHORT : AR_MEMORY_LONG;
    struct ar_memory *const memory = &c->memory.grades[grade];
    map_memory(c, comm, AR_MEMORY_SHORT); /* tells the manner of waiting, too */
    if (c->memory.grades[AR_MEMORY_SHORT].state == AR_ENGINE_READY)
        map_memory(c, comm, grade);
    if (memory->state == AR_ENGINE_READY && ar_node_takes(&memory->node, r))
        return &memory->node;
    *why = memory->state == AR_ENGINE_READY ? ar_reason_large : "no shared memory: by messages";
    return NULL;
}

void
ar_engine_destroy(struct ar_communicator *c)
{
    if (c->failure) /* messages that are still under way must not meet the tags of others */
        c->messages.carriage.range = -1;
    ar_carriage_return(&c->messages.carriage, !ar_communicators_are_stopped());
    free(c->messages.member_of);
    ar_in_place_destroy(c->memory.in_place);
    for (int i = 0; i < AR_MEMORY_GRADES; i++)
        if (c->memory.grades[i].state == AR_ENGINE_READY)
            ar_node_fini(&c->memory.grades[i].node);
    if (c->messages.has_channel)
        ar_channel_fini(&c->messages.channel);
}
