/* Threads make calls at the same time.  Each rank prints how many calls it made.
 *
 * usage: threads [STEPS]   of each thread; 40 by default
 */
#include <stdio.h>
#include <stdlib.h>

#include "abreast.h"
#include "mpi_check.h"

#define SKIP 77

int
main(int argc, char **argv)
{
    if (!check_begin_threads(&argc, &argv)) {
        MPI_Finalize();
        return SKIP;
    }
    printf("made %lu calls\n", abreast_run(argc > 1 ? atoi(argv[1]) : 40));
    return check_end();
}
