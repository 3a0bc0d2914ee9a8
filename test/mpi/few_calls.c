/* A few calls of different sizes, as any program makes them.
 *
 * usage: few_calls [forever]   forever: says "begun" after the first calls, and goes on
 */
#include <stdbool.h>
#include <stdio.h>

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

static void
check_sums(const struct check_comm *c)
{
    static const int counts[] = {1, 10, 1000, LONGEST};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        check_sum(c, counts[i]);
}

int
main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    const struct check_comm world = check_describe(MPI_COMM_WORLD, "world");
    const bool forever = argc > 1;
    check_sums(&world);
    if (forever && world.rank == 0) {
        printf("begun\n");
        fflush(stdout);
    }
    if (forever)
        for (;;)
            check_sums(&world);
    return check_end();
}
