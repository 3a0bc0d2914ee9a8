/* Calls that MPI makes equal on all ranks in count, signature and op, and in
 * nothing else: ranks differ in their types' handles and layouts, and, where
 * there is nothing to reduce, in what their buffers' addresses look like. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_check.h"

/* First, since the first call on a communicator is one where ranks could part:
 * no rank may judge by addresses when it is the only one to see them. */
static void
check_nothing_to_reduce(void)
{
    struct check_comm c;
    MPI_Comm comm;
    int in[2] = {1, 1}, out[2] = {0, 0};
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    c = check_describe(comm, "count 0");
    if (c.rank == 0)
        MPI_Allreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, comm);
    else
        MPI_Allreduce(in, out, 0, MPI_INT, MPI_SUM, comm);
    MPI_Barrier(comm);
    check_ping(comm, c.name);
    if (c.rank == 0)
        MPI_Allreduce(in, in, 0, MPI_INT, MPI_SUM, comm);
    else
        MPI_Allreduce(in, out, 0, MPI_INT, MPI_SUM, comm);
    MPI_Barrier(comm);
    check_ping(comm, c.name);
    MPI_Comm_free(&comm);
}

/* MPI_INT and MPI_INTEGER have one size here. */
static void
check_named_types(const struct check_comm *c)
{
    int in = c->rank + 1, out = 0, size = 0;
    if (MPI_INTEGER != MPI_DATATYPE_NULL)
        MPI_Type_size(MPI_INTEGER, &size);
    MPI_Datatype type = size == sizeof(int) && c->rank % 2 ? MPI_INTEGER : MPI_INT;
    MPI_Allreduce(&in, &out, 1, type, MPI_SUM, c->comm);
    check_true(out == c->nranks * (c->nranks + 1) / 2);
}

static void
add_ints(void *in, void *inout, int *count, MPI_Datatype *type)
{
    MPI_Aint lb, extent, true_lb, true_extent;
    MPI_Type_get_extent(*type, &lb, &extent);
    MPI_Type_get_true_extent(*type, &true_lb, &true_extent);
    for (MPI_Aint i = 0; i < *count; i++) {
        const char *a = (const char *)in + true_lb + i * extent;
        char *b = (char *)inout + true_lb + i * extent;
        int x, y;
        memcpy(&x, a, sizeof x);
        memcpy(&y, b, sizeof y);
        y += x;
        memcpy(b, &y, sizeof y);
    }
}

/* Elements of one int: plain, a copy of plain, with gaps, and displaced. */
static MPI_Datatype
make_type(int rank)
{
    MPI_Datatype type, moved;
    switch (rank % 4) {
    case 0:
        MPI_Type_contiguous(1, MPI_INT, &type);
        break;
    case 1:
        MPI_Type_dup(MPI_INT, &type);
        break;
    case 2:
        MPI_Type_create_resized(MPI_INT, 0, 20 * sizeof(int), &type);
        break;
    default:
        MPI_Type_create_hindexed_block(1, 1, &(MPI_Aint){1000}, MPI_INT, &moved);
        MPI_Type_create_resized(moved, 0, 3 * sizeof(int), &type);
        MPI_Type_free(&moved);
    }
    MPI_Type_commit(&type);
    return type;
}

/* One call on count elements of this rank's type. */
static void
check_layouts(const struct check_comm *c, MPI_Op op, int count)
{
    MPI_Datatype type = make_type(c->rank);
    MPI_Aint lb, extent, true_lb, true_extent;
    MPI_Type_get_extent(type, &lb, &extent);
    MPI_Type_get_true_extent(type, &true_lb, &true_extent);
    const size_t bytes = (size_t)(true_lb + count * extent + true_extent);
    char *in = check_buffer(bytes), *out = check_buffer(bytes);
    int wrong = 0;
    for (MPI_Aint i = 0; i < count; i++)
        memcpy(in + true_lb + i * extent, &(int){(int)i + c->rank}, sizeof(int));
    MPI_Allreduce(in, out, count, type, op, c->comm);
    for (MPI_Aint i = 0; i < count; i++) {
        int got;
        memcpy(&got, out + true_lb + i * extent, sizeof got);
        wrong += got != c->nranks * (int)i + c->nranks * (c->nranks - 1) / 2;
    }
    if (wrong)
        check_fail("%d of %d elements are wrong, %s", wrong, count, c->name);
    check_guards(out, c->name);
    check_release(in);
    check_release(out);
    MPI_Type_free(&type);
}

/* MPI_BOTTOM: the addresses stand in the type, and differ between ranks; there is a
 * gap between the element's two ints. */
static void
add_pairs_at(void *in, void *inout, int *count, MPI_Datatype *type)
{
    MPI_Aint lb, extent, true_lb, true_extent;
    MPI_Type_get_true_extent(*type, &true_lb, &true_extent);
    MPI_Type_get_extent(*type, &lb, &extent);
    for (MPI_Aint i = 0; i < *count; i++) {
        const MPI_Aint first = true_lb + i * extent,
                       last = first + true_extent - (MPI_Aint)sizeof(int);
        for (MPI_Aint at = first; at <= last; at += last - first) {
            int x, y;
            memcpy(&x, (char *)in + at, sizeof x);
            memcpy(&y, (char *)inout + at, sizeof y);
            y += x;
            memcpy((char *)inout + at, &y, sizeof y);
        }
    }
}

static void
check_absolute(const struct check_comm *c)
{
    int *block = calloc(64, sizeof *block), *pair = &block[c->rank % 16];
    MPI_Aint address[2];
    MPI_Datatype type;
    MPI_Op op;
    check_true(block != NULL);
    MPI_Op_create(add_pairs_at, 1, &op);
    MPI_Get_address(&pair[0], &address[0]);
    MPI_Get_address(&pair[3 + c->rank % 4], &address[1]);
    MPI_Type_create_hindexed_block(2, 1, address, MPI_INT, &type);
    MPI_Type_commit(&type);
    pair[0] = c->rank + 1;
    pair[1] = -7;
    pair[3 + c->rank % 4] = 10 * (c->rank + 1);
    MPI_Allreduce(MPI_IN_PLACE, MPI_BOTTOM, 1, type, op, c->comm);
    const int sum = c->nranks * (c->nranks + 1) / 2;
    check_true(pair[0] == sum && pair[3 + c->rank % 4] == 10 * sum && pair[1] == -7);
    MPI_Type_free(&type);
    MPI_Op_free(&op);
    free(block);
}

int
main(int argc, char **argv)
{
    MPI_Op op;
    check_begin(&argc, &argv);
    check_nothing_to_reduce();
    const struct check_comm world = check_describe(MPI_COMM_WORLD, "the world");
    MPI_Op_create(add_ints, 1, &op);
    check_named_types(&world);
    check_layouts(&world, op, 1);
    check_layouts(&world, op, 700);
    check_layouts(&world, op, 50000);
    check_absolute(&world);
    MPI_Op_free(&op);
    return check_end();
}
