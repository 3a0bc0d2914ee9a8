/* Messages inside nodes are measured where rank 0 is alone on its node, too: of three ranks, the
 * nodes are made up. */
#include "config.h"

#include <string.h>

#include "communicator/forecast.h"
#include "mpi_check.h"

static void
check_measured(const struct check_comm *c, const int *node_of, int ranks_per_node)
{
    const struct ar_wire wire = {.comm = c->comm};
    const struct ar_measuring measuring = {.comm = c->comm,
                                           .wire = &wire,
                                           .rank = c->rank,
                                           .nranks = c->nranks,
                                           .node_of = node_of,
                                           .wait = ar_wait_make(AR_WAIT_YIELD, true),
                                           .effort = 1};
    struct ar_machine machine;
    check_true(ar_measure(&machine, &measuring) == MPI_SUCCESS);
    if (c->rank > 0)
        return;
    const bool is_alike = memcmp(&machine.node, &machine.network, sizeof machine.node) == 0;
    check_true(is_alike == (ranks_per_node == 1));
    check_true(machine.node.latency > 0 && machine.network.latency > 0);
    check_true(machine.ranks_per_node == ranks_per_node);
}

int
main(int argc, char **argv)
{
    static const int first_alone[] = {0, 1, 1}, last_alone[] = {0, 0, 1}, all_alone[] = {0, 1, 2};
    check_begin(&argc, &argv);
    const struct check_comm world = check_describe(MPI_COMM_WORLD, "world");
    if (world.nranks != 3)
        MPI_Abort(MPI_COMM_WORLD, 2);
    check_measured(&world, first_alone, 2);
    check_measured(&world, last_alone, 2);
    check_measured(&world, all_alone, 1);
    return check_end();
}
