#include "config.h"

#include "cli/others.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "report/clock.h"
#include "select/number.h"

#define LEAST_NS 200000000U /* ticks tell nothing of less */

/* Seconds of CPUs that this process took. */
static double
own_seconds(void)
{
    struct rusage use = {0};
    getrusage(RUSAGE_SELF, &use);
    return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
           (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) * 1e-6;
}

void
ar_others_begin(struct ar_others *others)
{
    struct ar_cpus mine;
    int on_node;
    ar_cpus_of_thread(&mine);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &others->node);
    MPI_Comm_rank(others->node, &on_node);
    MPI_Allreduce(mine.word, others->cpus.word, (int)sizeof mine.word, MPI_BYTE, MPI_BOR,
                  others->node);
    others->from = on_node == 0 ? ar_cpu_ticks_read(&others->cpus) : NULL;
    others->own = own_seconds();
    others->since_ns = ar_clock_system_ns();
}

/* How many CPUs others kept busy, on the node's first rank; 0 elsewhere, and where nothing tells.
 */
static double
busy_cpus(const struct ar_others *others, double ranks_seconds)
{
    const uint64_t ns = ar_clock_system_ns() - others->since_ns;
    struct ar_cpu_ticks *const to =
        others->from && ns >= LEAST_NS ? ar_cpu_ticks_read(&others->cpus) : NULL;
    double busy = 0;
    if (to)
        busy = ar_cpu_ticks_compare(others->from, to).work - ranks_seconds / ((double)ns * 1e-9);
    free(to);
    return busy;
}

void
ar_others_end(struct ar_others *others, const char *command)
{
    struct {
        double cpus;
        int rank;
    } busiest;
    double own = own_seconds() - others->own;
    char text[AR_NUMBER_TEXT];
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(MPI_IN_PLACE, &own, 1, MPI_DOUBLE, MPI_SUM, others->node);
    busiest.cpus = busy_cpus(others, own);
    busiest.rank = rank;
    MPI_Allreduce(MPI_IN_PLACE, &busiest, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    if (rank == 0 && busiest.cpus > AR_QUIET_CPUS)
        fprintf(stderr,
                "allreduce %s: warning: others kept %s of the CPUs of rank %d's node busy: ranks "
                "waited for them, and times are too long\n",
                command, ar_number_print(busiest.cpus, text, sizeof text), busiest.rank);
    free(others->from);
    MPI_Comm_free(&others->node);
}
