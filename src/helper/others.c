#include "config.h"

#include "helper/others.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "execute/shared.h"
#include "helper/job.h"
#include "report/clock.h"

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

/* The ranks under one kernel, whose ticks are those of all of them.  MPI may be told to take the
 * ranks of a machine for those of several nodes (MPIR_CVAR_NOLOCAL), and containers look like
 * some. */
static MPI_Comm
join_machine(uint64_t boot)
{
    MPI_Comm machine;
    int rank, nranks, first = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    uint64_t *const boot_of = ar_cli_need_memory(malloc((size_t)nranks * sizeof *boot_of));
    MPI_Allgather(&boot, (int)sizeof boot, MPI_BYTE, boot_of, (int)sizeof boot, MPI_BYTE,
                  MPI_COMM_WORLD);
    while (boot_of[first] != boot)
        first++;
    free(boot_of);
    MPI_Comm_split(MPI_COMM_WORLD, first, rank, &machine);
    return machine;
}

void
ar_others_begin(struct ar_others *others)
{
    const uint64_t boot = ar_boot_hash();
    struct ar_cpus mine;
    int on_node;
    ar_cpus_of_thread(&mine);
    others->node = join_machine(boot);
    MPI_Comm_rank(others->node, &on_node);
    MPI_Allreduce(mine.word, others->cpus.word, (int)sizeof mine.word, MPI_BYTE, MPI_BOR,
                  others->node);
    others->from = on_node == 0 && boot ? ar_cpu_ticks_read(&others->cpus) : NULL;
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
    const double busy =
        to ? ar_cpu_ticks_others(others->from, to, ranks_seconds, (double)ns * 1e-9) : 0;
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
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(others->node); /* who waits for late ranks takes a CPU for that, too */
    double own = own_seconds() - others->own;
    MPI_Allreduce(MPI_IN_PLACE, &own, 1, MPI_DOUBLE, MPI_SUM, others->node);
    busiest.cpus = busy_cpus(others, own);
    busiest.rank = rank;
    MPI_Allreduce(MPI_IN_PLACE, &busiest, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    if (rank == 0 && busiest.cpus > AR_QUIET_CPUS)
        fprintf(stderr,
                "allreduce %s: warning: other processes kept %.2f CPUs busy on rank %d's node: "
                "ranks waited for them, and times are too long\n",
                command, busiest.cpus, busiest.rank);
    free(others->from);
    MPI_Comm_free(&others->node);
}
