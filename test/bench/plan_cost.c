/* Prints the microseconds in which rank 1 of a node makes its plan of a sum of doubles in shared
 * memory, as a table: the fastest of many. */
#include "config.h"

#include <mpi.h>
#include <stdio.h>

#include "algorithms/registry.h"
#include "execute/node_plan.h"

enum { TIMES = 1000 };

/* A node of which only the sizes are known: nothing is run. */
static double
time_plan(int nranks, size_t count, const struct ar_reduction *r)
{
    const size_t chunk_bytes = ar_shm_tune(nranks, AR_USUAL_CACHE, false).chunk_bytes;
    const struct ar_node node = {
        .rank = 1,
        .nranks = nranks,
        .chunk_bytes = chunk_bytes,
        .tuning = ar_shm_tune(nranks, AR_USUAL_CACHE, false),
        .piece = {.slot_bytes = ar_node_slot_bytes(chunk_bytes), .stride = nranks}};
    const struct ar_algorithm *const shm = ar_algorithm_find("shm", 3);
    double fastest = 0;
    for (int i = 0; i < TIMES; i++) {
        struct ar_node_plan *plan = NULL;
        const double start = MPI_Wtime();
        if (ar_node_plan_create(&plan, &node, shm, &shm->defaults, count, r, false) != AR_OK)
            MPI_Abort(MPI_COMM_WORLD, 1);
        const double us = (MPI_Wtime() - start) * 1e6;
        ar_node_plan_destroy(plan);
        fastest = i == 0 || us < fastest ? us : fastest;
    }
    return fastest;
}

int
main(int argc, char **argv)
{
    static const size_t counts[] = {1, 100, 1000, 10000};
    struct ar_reduction r;
    MPI_Init(&argc, &argv);
    if (!ar_reduction_resolve(&r, MPI_SUM, MPI_DOUBLE))
        MPI_Abort(MPI_COMM_WORLD, 1);
    printf("| ranks | 1 double | 100 | 1000 | 10000 |\n|---|---|---|---|---|\n");
    for (int nranks = 2; nranks <= 16; nranks *= 2) {
        printf("| %d |", nranks);
        for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
            printf(" %.1f |", time_plan(nranks, counts[i], &r));
        printf("\n");
    }
    MPI_Finalize();
    return 0;
}
