/* A program for profilers.  It calls each function that test/mpi/profiler.c wraps, apart from those
 * of windows (windows.c), a different number of times, and checks each result. */
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "mpi_check.h"

#define LONGEST 20000

static void
check_sums(const struct check_comm *c, bool in_place)
{
    static const int counts[] = {1, 10, 1000, LONGEST};
    static double in[LONGEST], out[LONGEST];
    for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++) {
        for (int i = 0; i < counts[k]; i++)
            in[i] = out[i] = c->rank + i;
        MPI_Allreduce(in_place ? MPI_IN_PLACE : in, out, counts[k], MPI_DOUBLE, MPI_SUM, c->comm);
        for (int i = 0; i < counts[k]; i++)
            if (out[i] != c->nranks * (c->nranks - 1) / 2.0 + (double)c->nranks * i)
                check_fail("%s: %d doubles: element %d is wrong", c->name, counts[k], i);
    }
}

static void
check_large_count(const struct check_comm *c)
{
#if MPI_VERSION >= 4
    const int mine = c->rank;
    int sum = -1;
    MPI_Allreduce_c(&mine, &sum, 1, MPI_INT, MPI_SUM, c->comm);
    check_true(sum == c->nranks * (c->nranks - 1) / 2);
#else
    (void)c;
#endif
}

static void
check_nonblocking(const struct check_comm *c)
{
    const int mine = c->rank;
    int sum = -1;
    MPI_Request request;
    MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, c->comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check_true(sum == c->nranks * (c->nranks - 1) / 2);
}

/* Calls on a communicator while a copy of it is still being made, and then on the copy. */
static void
check_copy(const struct check_comm *c)
{
    MPI_Comm comm;
    MPI_Request request;
    MPI_Comm_idup(c->comm, &comm, &request);
    check_sums(c, true);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    const struct check_comm copy = check_describe(comm, "copy");
    check_sums(&copy, false);
    MPI_Comm_free(&comm);
}

/* MPI-IO, in which the MPI library makes allreduces of its own. */
static void
check_file(const struct check_comm *c)
{
    MPI_File file;
    char name[64] = "";
    double mine = c->rank;
    snprintf(name, sizeof name, "/tmp/liballreduce-profiled-%ld", (long)getpid());
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, c->comm);
    check_true(MPI_File_open(c->comm, name,
                             MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                             MPI_INFO_NULL, &file) == MPI_SUCCESS);
    MPI_File_set_size(file, 0);
    MPI_File_write_at_all(file, (MPI_Offset)sizeof mine * c->rank, &mine, 1, MPI_DOUBLE,
                          MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

int
main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    const struct check_comm world = check_describe(MPI_COMM_WORLD, "world");
    check_sums(&world, false);
    check_large_count(&world);
    for (int i = 0; i < 3; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 2; i++)
        check_nonblocking(&world);
    check_copy(&world);
    check_file(&world);
    return check_end();
}
