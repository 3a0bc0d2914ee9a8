/* A program that copies a communicator in each of its steps, makes a few calls on the copy, and
 * frees it.  With test/mpi/count_calls.c behind us, rank 0 prints how many of its calls of MPI's
 * functions a copy takes.
 *
 * usage: copied_comms BYTES CALLS [RANKS [exit]] | subsets | shapes | world | leaders
 *
 *   BYTES CALLS   so many calls of so many bytes on each copy of the world
 *   RANKS         on communicators of the first ranks; below 0: in reverse order
 *   exit          without MPI_Finalize, in which UCX hangs if ranks of a host have different boots
 *   subsets       communicators of all subsets of two and more ranks
 *   shapes        communicators of nine shapes in turn, of 6 ranks on 2 nodes
 *   world         the world, of which rank 0 prints its broadcasts
 *   leaders       the same behind a communicator of a rank on each of 2 nodes
 */
#include <config.h> /* _GNU_SOURCE */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi_check.h"

enum { WARM = 70, STEPS = 20 };

static bool is_wrong;

static void
reduce(MPI_Comm comm, int *in, int *out, int count)
{
    int rank, nranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &nranks);
    for (int i = 0; i < count; i++)
        in[i] = rank + i;
    MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < count; i++)
        if (out[i] != nranks * (nranks - 1) / 2 + nranks * i) {
            check_fail("%d ints: out[%d] = %d", count, i, out[i]);
            is_wrong = true;
        }
}

static void
step(int *in, int *out, int count, int calls, int part)
{
    MPI_Comm copy;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (part != 0)
        MPI_Comm_split(MPI_COMM_WORLD, rank < abs(part) ? 0 : MPI_UNDEFINED,
                       part > 0 ? rank : -rank, &copy);
    else
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    if (copy == MPI_COMM_NULL)
        return;
    for (int i = 0; i < calls; i++)
        reduce(copy, in, out, count);
    MPI_Comm_free(&copy);
}

/* Of the function with this name, by this process; -1: nobody counts. */
static long
calls_of(const char *name)
{
    long (*counted)(const char *);
    void *const symbol = dlsym(RTLD_DEFAULT, "counted_calls");
    memcpy(&counted, &symbol, sizeof counted);
    return symbol ? counted(name) : -1;
}

/* What the first copies find out they need not say again. */
static void
check_steps(const struct check_comm *world, size_t bytes, int calls, int part)
{
    static const char *const names[] = {"PMPI_Allreduce",
                                        "PMPI_Bcast",
                                        "PMPI_Ibcast",
                                        "PMPI_Reduce",
                                        "PMPI_Ireduce",
                                        "PMPI_Allgather",
                                        "PMPI_Comm_split",
                                        "PMPI_Comm_split_type",
                                        "PMPI_Group_translate_ranks",
                                        "PMPI_Group_intersection"};
    enum { NAMES = sizeof names / sizeof names[0] };
    const int count = (int)(bytes / sizeof(int));
    long before[NAMES];
    int *const in = malloc(bytes), *const out = malloc(bytes);
    check_ping(MPI_COMM_WORLD, "the world"); /* for rules of short calls */
    reduce(MPI_COMM_WORLD, in, out, count);
    for (int i = 0; i < WARM; i++)
        step(in, out, count, calls, part);
    for (int k = 0; k < NAMES; k++)
        before[k] = calls_of(names[k]);
    for (int i = 0; i < STEPS; i++)
        step(in, out, count, calls, part);
    for (int k = 0; k < NAMES && world->rank == 0; k++)
        printf("%s %.2f\n", names[k], (double)(calls_of(names[k]) - before[k]) / STEPS);
    free(in);
    free(out);
}

/* Of each node 1 to 3 ranks; those of even rank are on the first. */
static void
check_shapes(const struct check_comm *world)
{
    for (int i = 0; i < 2 * 9; i++) {
        const int first = 1 + i / 3 % 3, second = 1 + i % 3;
        const int here = world->rank / 2 < (world->rank % 2 == 0 ? first : second);
        MPI_Comm part;
        MPI_Comm_split(MPI_COMM_WORLD, here ? 0 : MPI_UNDEFINED, world->rank, &part);
        if (!here)
            continue;
        check_ping(part, "a shape");
        MPI_Comm_free(&part);
    }
}

static void
check_subsets(const struct check_comm *world)
{
    for (int set = 1; set < 1 << world->nranks; set++) {
        const int is_in = (set >> world->rank) & 1;
        MPI_Comm part;
        MPI_Comm_split(MPI_COMM_WORLD, is_in ? 0 : MPI_UNDEFINED, world->rank, &part);
        if (!is_in)
            continue;
        if ((set & (set - 1)) != 0)
            check_ping(part, "a subset");
        MPI_Comm_free(&part);
    }
}

/* What is measured of ranks that are alone on their nodes says nothing of neighbours. */
static void
check_world(const struct check_comm *world, bool leaders_begin)
{
    MPI_Comm leaders;
    MPI_Comm_split(MPI_COMM_WORLD, world->rank < 2 ? 0 : MPI_UNDEFINED, world->rank, &leaders);
    if (leaders_begin && leaders != MPI_COMM_NULL)
        check_ping(leaders, "leaders");
    if (leaders != MPI_COMM_NULL)
        MPI_Comm_free(&leaders);
    const long before = calls_of("PMPI_Ibcast");
    check_ping(MPI_COMM_WORLD, "the world");
    if (world->rank == 0)
        printf("broadcasts %ld\n", calls_of("PMPI_Ibcast") - before);
}

int
main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    const struct check_comm world = check_describe(MPI_COMM_WORLD, "world");
    if (argc == 2 && strcmp(argv[1], "shapes") == 0 && world.nranks == 6)
        check_shapes(&world);
    else if (argc == 2 && strcmp(argv[1], "subsets") == 0)
        check_subsets(&world);
    else if (argc == 2)
        check_world(&world, strcmp(argv[1], "leaders") == 0);
    else if (argc > 2)
        check_steps(&world, (size_t)atol(argv[1]), atoi(argv[2]), argc > 3 ? atoi(argv[3]) : 0);
    else
        MPI_Abort(MPI_COMM_WORLD, 2);
    if (argc == 5) {
        fflush(NULL);
        MPI_Barrier(MPI_COMM_WORLD);
        _exit(is_wrong);
    }
    return check_end();
}
