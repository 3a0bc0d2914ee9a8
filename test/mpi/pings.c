/* A few calls of different sizes, as any program makes them.
 *
 * usage: pings [repetitions]
 */
#include <stdio.h>
#include <stdlib.h>

#include "mpi_check.h"

#define LONGEST 20000

static void
check_sum(const struct check_comm *c, int count)
{
    static double in[LONGEST], out[LONGEST];
    for (int i = 0; i < count; i++)
        in[i] = c->rank + i;
    MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, c->comm);
    for (int i = 0; i < count; i++)
        if (out[i] != c->nranks * (c->nranks - 1) / 2.0 + (double)c->nranks * i) {
            check_fail("%d doubles: element %d is wrong", count, i);
            return;
        }
}

int
main(int argc, char **argv)
{
    static const int counts[] = {1, 10, 1000, LONGEST};
    check_begin(&argc, &argv);
    const struct check_comm world = check_describe(MPI_COMM_WORLD, "world");
    const long repetitions = argc > 1 ? strtol(argv[1], NULL, 10) : 1;
    for (long i = 0; i < repetitions; i++)
        for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++)
            check_sum(&world, counts[k]);
    return check_end();
}
