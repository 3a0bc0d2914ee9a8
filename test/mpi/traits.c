/* Calls that differ in what rules may ask for beside size: operation, type, place, name of
 * the communicator.  Each kind is called a number of times of its own, so that the counts
 * tell them apart. */
#include <string.h>

#include "mpi_check.h"

#define COUNT 100

static int rank, nranks;

static void
check_sum(const double *sums, const char *what)
{
    for (int i = 0; i < COUNT; i++)
        if (sums[i] != nranks * (nranks + 1) / 2.0)
            check_fail("%s: sum %g", what, sums[i]);
}

/* In place on ranks below in_place, times times. */
static void
sum_doubles(MPI_Comm comm, int in_place, int times, const char *what)
{
    double in[COUNT], out[COUNT];
    for (int k = 0; k < times; k++) {
        for (int i = 0; i < COUNT; i++)
            in[i] = out[i] = rank + 1;
        MPI_Allreduce(rank < in_place ? MPI_IN_PLACE : in, out, COUNT, MPI_DOUBLE, MPI_SUM, comm);
        check_sum(out, what);
    }
}

static void
max_integers(int times)
{
    for (int k = 0; k < times; k++) {
        int in = rank + k, out = -1;
        MPI_Allreduce(&in, &out, 1, k % 2 ? MPI_INT : MPI_INT32_T, MPI_MAX, MPI_COMM_WORLD);
        if (out != nranks - 1 + k)
            check_fail("maximum %d", out);
    }
}

static void
add(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *length; i++)
        ((double *)inout)[i] += ((double *)in)[i];
}

/* Ranks may have different handles for the same elements. */
static void
sum_by_user_op(int times)
{
    MPI_Op op;
    MPI_Datatype own;
    MPI_Op_create(add, 1, &op);
    MPI_Type_contiguous(1, MPI_DOUBLE, &own);
    MPI_Type_commit(&own);
    for (int k = 0; k < times; k++) {
        double in[COUNT], out[COUNT];
        for (int i = 0; i < COUNT; i++)
            in[i] = rank + 1;
        MPI_Allreduce(in, out, COUNT, rank % 2 ? own : MPI_DOUBLE, op, MPI_COMM_WORLD);
        check_sum(out, "user op");
    }
    MPI_Type_free(&own);
    MPI_Op_free(&op);
}

/* The name differs between ranks: rank 0's counts. */
static void
sum_on_a_named_communicator(int times)
{
    MPI_Comm row;
    MPI_Comm_dup(MPI_COMM_WORLD, &row);
    MPI_Comm_set_name(row, rank == 0 ? "Row 1" : "other");
    sum_doubles(row, 0, times, "named communicator");
    MPI_Comm_free(&row);
}

int
main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    sum_doubles(MPI_COMM_WORLD, 0, 3, "out of place");
    sum_doubles(MPI_COMM_WORLD, nranks, 5, "in place");
    max_integers(7);
    sum_by_user_op(11);
    sum_on_a_named_communicator(13);
    /* No MPI library minds, though the standard does. */
    if (argc > 1 && strcmp(argv[1], "mixed") == 0)
        sum_doubles(MPI_COMM_WORLD, 1, 17, "in place on one rank");
    return check_end();
}
