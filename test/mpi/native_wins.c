/* Allreduces of vectors that are the same on all ranks, all results looked at.
 *
 * usage: native_wins shm|messages TIMES COUNT...   each time one call for each count; messages:
 * memory cannot be shared, since no file may be written
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "mpi_check.h"

#define LONGEST 20000

static float in[LONGEST], out[LONGEST];

static void
call(int count, int seed, int nranks)
{
    for (int i = 0; i < count; i++)
        in[i] = (float)(seed + i);
    MPI_Allreduce(in, out, count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < count; i++)
        if (out[i] != (float)(nranks * (seed + i)))
            check_fail("call %d of %d elements: out[%d] = %g", seed, count, i, (double)out[i]);
}

int
main(int argc, char **argv)
{
    int nranks;
    check_begin(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    if (strcmp(argv[1], "messages") == 0) {
        signal(SIGXFSZ, SIG_IGN);
        check_true(setrlimit(RLIMIT_FSIZE, &(struct rlimit){0, 0}) == 0);
    }
    for (int k = 0; k < atoi(argv[2]); k++)
        for (int i = 3; i < argc; i++)
            call(atoi(argv[i]), k, nranks);
    return check_end();
}
