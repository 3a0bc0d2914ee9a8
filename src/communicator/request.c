#include <string.h>

#include "algorithms/nodes.h"
#include "communicator/decide.h"
#include "communicator/transport.h"
#include "execute/group.h"

int
ar_request_count_nodes(struct ar_communicator *c, MPI_Comm comm)
{
    struct ar_node_index index;
    if (c->messages.nodes > 0)
        return MPI_SUCCESS;
    const int error = c->messages.state == AR_ENGINE_NONE ? ar_engine_create(c, comm) : MPI_SUCCESS;
    if (error)
        return error;
    if (c->nranks == 1)
        c->messages.nodes = c->messages.per_node = 1;
    if (!c->messages.carriage.node_of)
        return MPI_SUCCESS;
    if (ar_node_index_init(&index, c->messages.carriage.node_of, c->nranks))
        return MPI_ERR_NO_MEM;
    c->messages.nodes = (size_t)index.count;
    for (int i = 0; i < index.count; i++) {
        const size_t ranks = (size_t)(index.first[i + 1] - index.first[i]);
        c->messages.per_node = ranks > c->messages.per_node ? ranks : c->messages.per_node;
    }
    ar_node_index_fini(&index);
    return MPI_SUCCESS;
}

int
ar_request_describe(struct ar_communicator *c, MPI_Comm comm, struct ar_request *request,
                    const struct ar_reduction *r, size_t count, enum ar_place place)
{
    const unsigned asks = c->config->traits;
    int error = MPI_SUCCESS;
    if (asks & (AR_TRAIT_NODES | AR_TRAIT_PER_NODE))
        error = ar_request_count_nodes(c, comm);
    if (!error && asks & AR_TRAIT_COMM && !c->name) {
        /* Ranks may name a communicator differently; rank 0's name counts. */
        char name[MPI_MAX_OBJECT_NAME] = "";
        int length = 0;
        PMPI_Comm_get_name(comm, name, &length);
        error = PMPI_Bcast(name, (int)sizeof name, MPI_CHAR, 0, comm);
        c->name = error ? NULL : strndup(name, sizeof name - 1);
        if (!error && !c->name)
            error = MPI_ERR_NO_MEM;
    }
    *request = (struct ar_request){
        .bytes = count * r->size,
        .nranks = c->nranks,
        .commutative = r->commutative,
        .shares_memory = c->nranks > 1,
        .keeps = ar_determinism_of_call(c->config->determinism, r->which, r->type_class, r->size),
        .op = r->which,
        .type = r->type_class,
        .place = place,
        .nodes = c->messages.nodes,
        .per_node = c->messages.per_node,
        .comm = c->name,
    };
    return error;
}

/* The standard forbids that ranks differ in it, yet no MPI library hangs where they do. */
enum ar_place
ar_request_agree_on_place(struct ar_communicator *c, MPI_Comm comm, const struct ar_reduction *r,
                          size_t count, enum ar_place place, int *error)
{
    struct ar_request request;
    int all = place == AR_IN_PLACE;
    *error = ar_request_describe(c, comm, &request, r, count, AR_IN_PLACE);
    const struct ar_choice *const in = ar_config_clause(c->config, &request);
    request.place = AR_OUT_OF_PLACE;
    if (*error || in == ar_config_clause(c->config, &request))
        return AR_OUT_OF_PLACE;
    *error = ar_reduce_all(&all, 1, MPI_INT, MPI_LAND, comm);
    return all ? AR_IN_PLACE : AR_OUT_OF_PLACE;
}
