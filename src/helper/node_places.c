#include "config.h"

#include "helper/node_places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms/nodes.h"
#include "communicator/carrier.h"
#include "config/files.h"
#include "helper/job.h"

void
ar_node_places_fini(struct ar_node_places *places)
{
    ar_placement_fini(&places->placement);
}

/* Rank 0 reads, since a host file may be on its host alone.  An enum ar_exit. */
static int
read_placement(struct ar_placement *p, const char *text, const char *command, int rank)
{
    char reason[1024];
    struct ar_text why;
    int status = AR_EXIT_DONE;
    ar_text_init(&why, reason, sizeof reason);
    if (rank == 0) {
        const int error = ar_placement_read(p, text, &why);
        if (error)
            fprintf(stderr, "allreduce %s: --nodes: %s\n", command,
                    error == AR_ERR_MEMORY ? "out of memory" : reason);
        status = error == AR_ERR_MEMORY ? AR_EXIT_FAILED : error ? AR_EXIT_USAGE : AR_EXIT_DONE;
    }
    MPI_Bcast(&status, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (status)
        return status;
    int numbers[] = {p->nranks, p->nnodes, p->most};
    MPI_Bcast(numbers, 3, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank > 0) {
        *p = (struct ar_placement){.nranks = numbers[0], .nnodes = numbers[1], .most = numbers[2]};
        p->node_of = ar_cli_need_memory(malloc((size_t)p->nranks * sizeof *p->node_of));
    }
    MPI_Bcast(p->node_of, p->nranks, MPI_INT, 0, MPI_COMM_WORLD);
    return AR_EXIT_DONE;
}

/* The sizes of a placement's nodes: "2+2+1 ranks". */
static void
add_sizes(struct ar_text *t, const int *node_of, int nranks)
{
    struct ar_node_index index;
    if (ar_node_index_init(&index, node_of, nranks))
        return;
    for (int i = 0; i < index.count; i++)
        ar_text_add(t, "%s%d", i > 0 ? "+" : "", index.first[i + 1] - index.first[i]);
    ar_text_add(t, " rank%s", ar_plural((size_t)nranks));
    ar_node_index_fini(&index);
}

static void
refuse(const struct ar_node_places *places, const int *real, const char *command)
{
    const struct ar_placement *const p = &places->placement;
    char line[512];
    struct ar_text t;
    ar_text_init(&t, line, sizeof line);
    ar_text_add(&t, "--nodes=%s needs nodes of ", places->text);
    add_sizes(&t, p->node_of, p->nranks);
    ar_text_add(&t, ", but this job has nodes of ");
    add_sizes(&t, real, p->nranks);
    fprintf(stderr,
            "allreduce %s: %s; allowed: nodes of these sizes in any order, or one node for all\n",
            command, line);
}

int
ar_node_places_take(struct ar_node_places *places, const char *text, const char *command,
                    MPI_Comm *comm)
{
    struct ar_placement *const p = &places->placement;
    int rank, nranks, status = AR_EXIT_DONE;
    *places = (struct ar_node_places){.text = text};
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    if (!text)
        return MPI_Comm_dup(MPI_COMM_WORLD, comm) ? AR_EXIT_FAILED : AR_EXIT_DONE;
    status = read_placement(p, text, command, rank);
    if (status)
        return status;
    if (p->nranks != nranks) {
        if (rank == 0)
            fprintf(stderr,
                    "allreduce %s: --nodes=%s places %d rank%s, but there %s %d: start it with "
                    "mpiexec -n %d\n",
                    command, text, p->nranks, ar_plural((size_t)p->nranks),
                    nranks == 1 ? "is" : "are", nranks, p->nranks);
        ar_node_places_fini(places);
        return AR_EXIT_USAGE;
    }
    int *const real = malloc((size_t)nranks * sizeof *real);
    int *const player = calloc((size_t)nranks, sizeof *player);
    if (!real || !player || ar_carrier_find_nodes(real, MPI_COMM_WORLD, rank, nranks))
        MPI_Abort(MPI_COMM_WORLD, AR_EXIT_FAILED);
    ar_placement_number(real, nranks);
    const int nnodes = ar_nodes_count(real, nranks);
    places->is_assumed = nnodes == 1 && p->nnodes > 1;
    for (int r = 0; r < nranks; r++)
        player[r] = r;
    const int error = nnodes > 1 ? ar_placement_seat(player, p, real) : AR_OK;
    if (error == AR_ERR_MEMORY)
        MPI_Abort(MPI_COMM_WORLD, AR_EXIT_FAILED);
    if (error && rank == 0)
        refuse(places, real, command);
    int key = 0;
    while (!error && player[key] != rank)
        key++;
    if (!error)
        MPI_Comm_split(MPI_COMM_WORLD, 0, key, comm);
    else
        ar_node_places_fini(places);
    free(real);
    free(player);
    return error ? AR_EXIT_FAILED : AR_EXIT_DONE;
}

const char *
ar_node_places_are(const struct ar_node_places *places)
{
    return !places->text ? "" : places->is_assumed ? "assumed" : "real";
}

char *
ar_node_places_describe(const struct ar_node_places *places, char text[AR_NODE_PLACES_TEXT])
{
    const struct ar_placement *const p = &places->placement;
    char where[AR_PLACEMENT_TEXT];
    struct ar_text t;
    ar_text_init(&t, text, AR_NODE_PLACES_TEXT);
    ar_text_add(&t, "--nodes=%s: %s", places->text,
                ar_placement_print(p, p->nranks, p->nnodes, where));
    if (places->is_assumed)
        ar_text_add(&t, ", assumed: all ranks are on one node, where the MPI library carries the "
                        "messages between assumed nodes; times say nothing about a network");
    return text;
}
