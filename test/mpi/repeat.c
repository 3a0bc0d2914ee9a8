/* The same few allreduces again and again, all results looked at.
 *
 * usage: repeat TIMES
 */
#include <stdlib.h>

#include "mpi_check.h"

#define LONGEST 20000

static int in[LONGEST], out[LONGEST];

static void
call(const struct check_comm *c, int count, int seed)
{
    for (int i = 0; i < count; i++)
        in[i] = c->rank + seed + i;
    MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, c->comm);
    for (int i = 0; i < count; i++)
        if (out[i] != c->nranks * (c->nranks - 1) / 2 + c->nranks * (seed + i))
            check_fail("call %d of %d elements: out[%d] = %d", seed, count, i, out[i]);
}

int
main(int argc, char **argv)
{
    static const int counts[] = {1, 300, 2, LONGEST};
    MPI_Comm other;
    check_begin(&argc, &argv);
    const int times = argc > 1 ? atoi(argv[1]) : 1000;
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    const struct check_comm world = check_describe(MPI_COMM_WORLD, "world");
    const struct check_comm copy = check_describe(other, "copy");
    for (int k = 0; k < times; k++) {
        call(&world, counts[k % 4], k);
        call(&copy, 1, k);
    }
    MPI_Comm_free(&other);
    return check_end();
}
