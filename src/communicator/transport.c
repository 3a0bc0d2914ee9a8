#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "algorithms/nodes.h"
#include "communicator/transport.h"
#include "execute/group.h"

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

/* Finds the channel, which concerns the ranks of this node alone.  They are in it in the order of
 * the communicator, and only they need to agree on it, since messages between nodes do not depend
 * on what carries those within.  So its memory is lent by messages, and no other rank takes part.
 * here: room for the ranks of this node. */
static void
look_at_node(struct ar_communicator *c, int *here)
{
    struct ar_messages *const m = &c->messages;
    int members = 0;
    if (m->assumed)
        memcpy(m->carriage.node_of, m->assumed, (size_t)c->nranks * sizeof *m->assumed);
    for (int i = 0; i < c->nranks; i++) {
        const bool is_here = m->carriage.node_of[i] == m->carriage.node_of[c->rank];
        m->member_of[i] = is_here ? members : -1;
        if (is_here)
            here[members++] = m->carriage.rank_of[i];
    }
    const struct ar_circle node = {.comm = m->carriage.wire.comm,
                                   .rank = m->member_of[c->rank],
                                   .n = members,
                                   .ranks = here,
                                   .tag = m->carriage.wire.tag};
    if (members > 1 && c->config->transport != AR_TRANSPORT_MPI && ar_channel_serves(members))
        m->has_channel = ar_channel_init(&m->channel, &node, CHANNEL_KIND);
    settle_wait(c, ar_crowd_shares(m->carriage.crowd));
}

int
ar_engine_create(struct ar_communicator *c, MPI_Comm comm)
{
    const struct ar_circle all = ar_circle_of(comm, c->rank, c->nranks);
    const bool is_alike = !c->agreement.own_config;
    int error = MPI_SUCCESS;
    if (c->nranks == 1) { /* nobody to talk to */
        c->messages.state = AR_ENGINE_READY;
        return MPI_SUCCESS;
    }
    c->messages.member_of = malloc((size_t)c->nranks * sizeof *c->messages.member_of);
    int *const here = malloc((size_t)c->nranks * sizeof *here);
    if (!c->messages.member_of || !here) {
        free(here);
        return MPI_ERR_NO_MEM;
    }
    const bool ready = c->messages.carriage.carrier ||
                       ar_carriage_borrow(&c->messages.carriage, &all, is_alike, &error);
    c->messages.state = ready ? AR_ENGINE_READY : AR_ENGINE_FAILED;
    if (ready)
        look_at_node(c, here);
    free(here);
    return error;
}

/* --- shared memory --- */

static enum ar_memory_grade
grade_of(const struct ar_reduction *r, size_t count)
{
    const size_t bytes = r->basic ? ar_reduction_room_bytes(r, count) : count * r->size;
    return bytes <= AR_SHORT_CHUNK ? AR_MEMORY_SHORT : AR_MEMORY_LONG;
}

/* Spare pieces for later short communicators: a page or two for each rank. */
#define SHORT_SPARE 3

/* Maps memory at the first call with this grade, which is collective over comm. */
static void
map_memory(struct ar_communicator *c, MPI_Comm comm, int grade)
{
    struct ar_memory *const memory = &c->memory.grades[grade];
    struct ar_node_size size = {grade, AR_SHORT_CHUNK, SHORT_SPARE};
    if (memory->state != AR_ENGINE_NONE)
        return;
    if (grade == AR_MEMORY_LONG) {
        const bool is_crowded = c->memory.grades[AR_MEMORY_SHORT].node.is_crowded;
        size.chunk_bytes = ar_node_tune(c->nranks, is_crowded).chunk_bytes;
        size.spare = 0;
    }
    const bool is_apart = c->messages.assumed ? ar_nodes_count(c->messages.assumed, c->nranks) > 1
                                              : c->messages.carriage.is_apart;
    memory->state = !is_apart && ar_node_init(&memory->node, comm, c->rank, c->nranks, size)
                        ? AR_ENGINE_READY
                        : AR_ENGINE_FAILED;
    if (memory->state == AR_ENGINE_READY)
        settle_wait(c, memory->node.is_crowded);
}

struct ar_node *
ar_memory_find_or_map(struct ar_communicator *c, MPI_Comm comm, const struct ar_reduction *r,
                      size_t count, const char **why)
{
    const enum ar_memory_grade grade = grade_of(r, count);
    struct ar_memory *const memory = &c->memory.grades[grade];
    map_memory(c, comm, AR_MEMORY_SHORT); /* tells the manner of waiting, too */
    if (c->memory.grades[AR_MEMORY_SHORT].state == AR_ENGINE_READY)
        map_memory(c, comm, grade);
    if (memory->state == AR_ENGINE_READY && ar_node_takes(&memory->node, r))
        return &memory->node;
    *why = memory->state == AR_ENGINE_READY ? ar_reason_large : "no shared memory: by messages";
    return NULL;
}

/* --- what is offered --- */

void
ar_engine_offer(struct ar_engine_offer *offer, struct ar_communicator *c, MPI_Comm comm,
                const struct ar_members *members, const struct ar_reduction *r, size_t count)
{
    struct ar_carriage *const carriage = &c->messages.carriage;
    const struct ar_circle all = ar_circle_of(comm, c->rank, c->nranks);
    ar_carriage_find(&offer->carriage, members);
    if (offer->carriage.number != 0 && ar_carriage_take(carriage, &offer->carriage, &all)) {
        ar_carriage_return(carriage, true);
        offer->carriage.number = 0;
        return;
    }
    if (!carriage->is_apart &&
        ar_piece_find(&offer->memory[AR_MEMORY_SHORT], members, AR_MEMORY_SHORT) && r &&
        grade_of(r, count) == AR_MEMORY_LONG)
        ar_piece_find(&offer->memory[AR_MEMORY_LONG], members, AR_MEMORY_LONG);
    offer->has_rules = ar_model_find(offer->rules, c);
}

int
ar_engine_take(struct ar_communicator *c, MPI_Comm comm, const struct ar_engine_offer *offer)
{
    const struct ar_circle all = ar_circle_of(comm, c->rank, c->nranks);
    int error = MPI_SUCCESS;
    if (offer->carriage.number != 0 && c->rank > 0)
        error = ar_carriage_take(&c->messages.carriage, &offer->carriage, &all);
    for (int i = 0; i < AR_MEMORY_GRADES; i++) {
        struct ar_memory *const memory = &c->memory.grades[i];
        if (offer->memory[i].number == 0)
            continue;
        ar_node_take(&memory->node, c->rank, c->nranks, &offer->memory[i]);
        memory->state = AR_ENGINE_READY;
        settle_wait(c, memory->node.is_crowded);
    }
    return error ? error : ar_model_take(c, offer->rules);
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
