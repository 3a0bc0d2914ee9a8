/* Calls that MPI makes equal on all ranks in count, signature and op, and in
 * nothing else: ranks differ in their types' handles and layouts, and, where
 * there is nothing to reduce, in what their buffers' addresses look like.
 *
 * usage: layouts [N]   the first N of the layouts alone
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_check.h"

/* Comes first, because ranks could part in the first call on a communicator: no rank may judge by
 * addresses that it alone sees. */
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

/* A byte of an element.  The buffer may be MPI_BOTTOM, a null pointer, to which C adds nothing. */
static void *
byte_at(void *buffer, MPI_Aint at)
{
    return (void *)((uintptr_t)buffer + (uintptr_t)at);
}

/* Adds elements of two ints, of which the first is an element's first bytes and the second its
 * last, wherever the elements lie. */
static void
add_pairs(void *in, void *inout, int *count, MPI_Datatype *type)
{
    MPI_Aint lb, extent, true_lb, true_extent;
    MPI_Type_get_true_extent(*type, &true_lb, &true_extent);
    MPI_Type_get_extent(*type, &lb, &extent);
    for (MPI_Aint i = 0; i < *count; i++) {
        const MPI_Aint first = true_lb + i * extent,
                       last = first + true_extent - (MPI_Aint)sizeof(int);
        for (MPI_Aint at = first; at <= last; at += last - first) {
            int x, y;
            memcpy(&x, byte_at(in, at), sizeof x);
            memcpy(&y, byte_at(inout, at), sizeof y);
            y += x;
            memcpy(byte_at(inout, at), &y, sizeof y);
        }
    }
}

enum { LAYOUTS = 6, LONGEST = 20000 };

/* Two ints: side by side, a copy of that, with gaps behind, the second ones behind all first ones
 * (so that each element lies in the gap of others), displaced, and backwards.  Natively Open
 * MPI 4.1.4 spoils the heap with the fifth, and both MPIs with the last. */
static MPI_Datatype
make_type(int layout)
{
    MPI_Datatype type, plain;
    MPI_Type_contiguous(2, MPI_INT, &plain);
    switch (layout) {
    case 0:
        MPI_Type_contiguous(1, plain, &type);
        break;
    case 1:
        MPI_Type_dup(plain, &type);
        break;
    case 2:
        MPI_Type_create_resized(plain, 0, 20 * sizeof(int), &type);
        break;
    case 3:
        MPI_Type_free(&plain);
        MPI_Type_create_hvector(2, 1, LONGEST * sizeof(int), MPI_INT, &plain);
        MPI_Type_create_resized(plain, 0, sizeof(int), &type);
        break;
    case 4:
        MPI_Type_free(&plain);
        MPI_Type_create_hindexed_block(2, 1, ((MPI_Aint[]){1000, 1008}), MPI_INT, &plain);
        MPI_Type_create_resized(plain, 0, 5 * sizeof(int), &type);
        break;
    default:
        MPI_Type_create_resized(plain, 0, -3 * (MPI_Aint)sizeof(int), &type);
    }
    MPI_Type_free(&plain);
    MPI_Type_commit(&type);
    return type;
}

/* Where count elements of a type lie, from the address of the first. */
struct place {
    MPI_Aint extent, first, second; /* the ints of element 0 */
    MPI_Aint lowest, bytes;
};

static struct place
find_place(MPI_Datatype type, MPI_Aint count)
{
    struct place p;
    MPI_Aint lb, true_extent;
    MPI_Type_get_extent(type, &lb, &p.extent);
    MPI_Type_get_true_extent(type, &p.first, &true_extent);
    p.second = p.first + true_extent - (MPI_Aint)sizeof(int);
    const MPI_Aint last = (count - 1) * p.extent;
    p.lowest = p.first + (last < 0 ? last : 0);
    p.bytes = (last < 0 ? -last : last) + true_extent;
    return p;
}

/* One call on count elements of this rank's type. */
static void
check_layouts(const struct check_comm *c, MPI_Op op, int count, int layouts, int shift)
{
    MPI_Datatype type = make_type((c->rank + shift) % layouts);
    const struct place p = find_place(type, count);
    char *room[2] = {check_buffer((size_t)p.bytes), check_buffer((size_t)p.bytes)};
    char *in = room[0] - p.lowest, *out = room[1] - p.lowest;
    int wrong = 0;
    for (MPI_Aint i = 0; i < count; i++) {
        memcpy(in + p.first + i * p.extent, &(int){(int)i + c->rank}, sizeof(int));
        memcpy(in + p.second + i * p.extent, &(int){-(int)i}, sizeof(int));
    }
    MPI_Allreduce(in, out, count, type, op, c->comm);
    for (MPI_Aint i = 0; i < count; i++) {
        int first, second;
        memcpy(&first, out + p.first + i * p.extent, sizeof first);
        memcpy(&second, out + p.second + i * p.extent, sizeof second);
        wrong += first != c->nranks * (int)i + c->nranks * (c->nranks - 1) / 2;
        wrong += second != -c->nranks * (int)i;
    }
    if (wrong)
        check_fail("%d numbers of %d elements are wrong, shift %d", wrong, count, shift);
    check_guards(room[1], c->name);
    check_release(room[0]);
    check_release(room[1]);
    MPI_Type_free(&type);
}

/* No data: any address is legal, and ranks have different ones in a communicator's first call. */
static void
check_empty_type(MPI_Op op)
{
    int one = 1, other = 0;
    MPI_Comm comm;
    MPI_Datatype none;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Type_contiguous(0, MPI_INT, &none);
    MPI_Type_commit(&none);
    const struct check_comm c = check_describe(comm, "a type without data");
    for (int turn = 0; turn < 2; turn++) {
        MPI_Allreduce(c.rank == 1 ? NULL : &one, c.rank == 2 ? NULL : &other, 4, none, op, comm);
        check_ping(comm, c.name);
    }
    MPI_Type_free(&none);
    MPI_Comm_free(&comm);
}

/* MPI_BOTTOM: the addresses stand in the type, and differ between ranks; there is a
 * gap between the element's two ints. */
static void
check_absolute(const struct check_comm *c)
{
    int *block = calloc(64, sizeof *block), *pair = &block[c->rank % 16];
    MPI_Aint address[2];
    MPI_Datatype type;
    MPI_Op op;
    check_true(block != NULL);
    MPI_Op_create(add_pairs, 1, &op);
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
    const int layouts = argc > 1 ? atoi(argv[1]) : LAYOUTS;
    check_begin(&argc, &argv);
    check_nothing_to_reduce();
    const struct check_comm world = check_describe(MPI_COMM_WORLD, "the world");
    MPI_Op_create(add_pairs, 1, &op);
    check_named_types(&world);
    check_empty_type(op);
    for (int shift = 0; shift < layouts; shift++) {
        check_layouts(&world, op, 1, layouts, shift);
        check_layouts(&world, op, 700, layouts, shift);
        check_layouts(&world, op, LONGEST, layouts, shift);
    }
    check_absolute(&world);
    MPI_Op_free(&op);
    return check_end();
}
