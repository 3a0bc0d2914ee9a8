/* Ops that do not commute are combined in rank order; user ops see the right
 * type and length; derived types keep what lies in their gaps; and a handle that
 * was freed and made anew means what it means now. */
#include <string.h>

#include "mpi_check.h"

#define MODULUS 10007

static const int counts[] = {1,  2,   3,   4,   6,   9,   13,  20,   30,   45,
                             67, 100, 150, 225, 340, 510, 765, 1150, 1730, 5000};
#define COUNTS (sizeof counts / sizeof counts[0])

/* What the op now running may expect of its arguments. */
static MPI_Aint expected_extent;
static int longest;

static void
check_arguments(const int *length, MPI_Datatype *type)
{
    MPI_Aint lb, extent;
    MPI_Type_get_extent(*type, &lb, &extent);
    if (extent != expected_extent)
        check_fail("user op: extent %ld, not %ld", (long)extent, (long)expected_extent);
    if (*length < 1 || *length > longest)
        check_fail("user op: length %d, not 1..%d", *length, longest);
}

/* 2x2 matrices modulo MODULUS. */
struct matrix {
    int a[2][2];
};

static struct matrix
multiply(struct matrix x, struct matrix y)
{
    struct matrix z;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            z.a[i][j] = (x.a[i][0] * y.a[0][j] + x.a[i][1] * y.a[1][j]) % MODULUS;
    return z;
}

/* inout = in x inout: in holds the lower ranks. */
static void
multiply_op(void *in, void *inout, int *length, MPI_Datatype *type)
{
    const struct matrix *x = in;
    struct matrix *y = inout;
    check_arguments(length, type);
    for (int i = 0; i < *length; i++)
        y[i] = multiply(x[i], y[i]);
}

static struct matrix
matrix_of(int rank, int i)
{
    return (struct matrix){{{1 + rank + i % 97, 2 + i % 5}, {3, 1 + 2 * rank}}};
}

static void
check_matrices(const struct check_comm *c, MPI_Datatype type, MPI_Op op, int count, bool in_place)
{
    const size_t bytes = (size_t)count * sizeof(struct matrix);
    struct matrix *in = check_buffer(bytes), *out = check_buffer(bytes);
    for (int i = 0; i < count; i++)
        (in_place ? out : in)[i] = matrix_of(c->rank, i);
    longest = count;
    MPI_Allreduce(in_place ? MPI_IN_PLACE : in, out, count, type, op, c->comm);
    for (int i = 0; i < count; i++) {
        struct matrix product = matrix_of(0, i);
        for (int rank = 1; rank < c->nranks; rank++)
            product = multiply(product, matrix_of(rank, i));
        if (memcmp(&product, &out[i], sizeof product) != 0) {
            check_fail("%s: %d matrices%s: product %d is wrong", c->name, count,
                       in_place ? " in place" : "", i);
            break;
        }
    }
    check_guards(in, "matrices");
    check_guards(out, "matrices");
    check_release(in);
    check_release(out);
}

static void
check_order(const struct check_comm *c)
{
    MPI_Datatype type;
    MPI_Op op;
    MPI_Type_contiguous(4, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(multiply_op, 0, &op);
    expected_extent = sizeof(struct matrix);
    for (size_t i = 0; i < COUNTS; i++) {
        check_matrices(c, type, op, counts[i], false);
        check_matrices(c, type, op, counts[i], true);
    }
    MPI_Op_free(&op);
    MPI_Type_free(&type);
}

/* A derived type of three ints, as the user op and the oracle see it. */
struct layout {
    const char *name;
    MPI_Aint offset[3]; /* bytes */
    MPI_Aint lb;
    MPI_Aint extent;
};

static const struct layout layouts[] = {
    {"contiguous", {0, 4, 8}, 0, 12},
    {"gaps", {0, 8, 16}, 0, 20},
    {"padded", {0, 4, 8}, 0, 32},
    {"lower bound", {8, 12, 24}, 8, 24},
    {"negative lower bound", {-8, 0, 4}, -12, 24},
    {"out of order", {16, 4, 0}, 0, 20},
};
#define LAYOUTS (sizeof layouts / sizeof layouts[0])

static const struct layout *layout;

static int *
at(void *buffer, int i, int field)
{
    return (int *)(void *)((char *)buffer + i * layout->extent + layout->offset[field]);
}

static void
sum_op(void *in, void *inout, int *length, MPI_Datatype *type)
{
    check_arguments(length, type);
    for (int i = 0; i < *length; i++)
        for (int field = 0; field < 3; field++)
            *at(inout, i, field) += *at(in, i, field);
}

static void
largest_op(void *in, void *inout, int *length, MPI_Datatype *type)
{
    check_arguments(length, type);
    for (int i = 0; i < *length; i++)
        for (int field = 0; field < 3; field++)
            if (*at(in, i, field) > *at(inout, i, field))
                *at(inout, i, field) = *at(in, i, field);
}

static MPI_Datatype
make_type(void)
{
    MPI_Datatype indexed, type;
    MPI_Type_create_hindexed_block(3, 1, layout->offset, MPI_INT, &indexed);
    MPI_Type_create_resized(indexed, layout->lb, layout->extent, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&indexed);
    expected_extent = layout->extent;
    return type;
}

static int
field_of(int rank, int i, int field)
{
    return (i * 3 + field) % 1009 * (rank + 1) % 211;
}

static int
expect(const struct check_comm *c, int i, int field, bool largest)
{
    int result = field_of(0, i, field);
    for (int rank = 1; rank < c->nranks; rank++) {
        const int other = field_of(rank, i, field);
        if (!largest)
            result += other;
        else if (other > result)
            result = other;
    }
    return result;
}

/* All bytes of the elements, from the lowest to the highest. */
static size_t
span_bytes(int count)
{
    return (size_t)(count * layout->extent + 64);
}

static void
fill(void *buffer, const struct check_comm *c, int count)
{
    for (int i = 0; i < count; i++)
        for (int field = 0; field < 3; field++)
            *at(buffer, i, field) = field_of(c->rank, i, field);
}

/* The receive buffer as it must be, gaps included. */
static void
compare(const struct check_comm *c, const char *all, int count, bool largest, const char *what)
{
    const size_t bytes = span_bytes(count);
    char *expected = check_buffer(bytes);
    for (int i = 0; i < count; i++)
        for (int field = 0; field < 3; field++)
            *at(expected + 16, i, field) = expect(c, i, field, largest);
    for (size_t i = 0; i < bytes; i++)
        if (all[i] != expected[i]) {
            check_fail("%s: %d x %s, %s: byte %ld is wrong", c->name, count, layout->name, what,
                       (long)i - 16);
            break;
        }
    check_release(expected);
}

static void
check_type(const struct check_comm *c, MPI_Datatype type, MPI_Op op, int count, bool largest)
{
    const size_t bytes = span_bytes(count);
    char *in = check_buffer(bytes), *out = check_buffer(bytes);
    longest = count;
    fill(in + 16, c, count);
    MPI_Allreduce(in + 16, out + 16, count, type, op, c->comm);
    compare(c, out, count, largest, "out of place");
    fill(out + 16, c, count);
    MPI_Allreduce(MPI_IN_PLACE, out + 16, count, type, op, c->comm);
    compare(c, out, count, largest, "in place");
    check_guards(in, layout->name);
    check_guards(out, layout->name);
    check_release(in);
    check_release(out);
}

static void
check_layouts(const struct check_comm *c)
{
    MPI_Op op;
    MPI_Op_create(sum_op, 1, &op);
    for (size_t k = 0; k < LAYOUTS; k++) {
        layout = &layouts[k];
        MPI_Datatype type = make_type();
        for (size_t i = 0; i < COUNTS; i++)
            check_type(c, type, op, counts[i], false);
        MPI_Type_free(&type);
    }
    MPI_Op_free(&op);
}

/* Same count, type after type, op after op: their handles may repeat. */
static void
check_handles_made_anew(const struct check_comm *c)
{
    for (int turn = 0; turn < 12; turn++) {
        MPI_Op op;
        const bool largest = turn % 2;
        layout = &layouts[turn % 3];
        MPI_Datatype type = make_type();
        MPI_Op_create(largest ? largest_op : sum_op, turn % 4 < 2, &op);
        check_type(c, type, op, 10, largest);
        MPI_Op_free(&op);
        MPI_Type_free(&type);
    }
}

/* The same count and type with another op each time. */
static void
check_ops_alternate(const struct check_comm *c)
{
    for (int turn = 0; turn < 8; turn++) {
        const MPI_Op op = turn % 2 ? MPI_SUM : MPI_MAX;
        int in[5], out[5];
        for (int i = 0; i < 5; i++)
            in[i] = c->rank + i;
        MPI_Allreduce(in, out, 5, MPI_INT, op, c->comm);
        for (int i = 0; i < 5; i++)
            check_true(out[i] == (turn % 2 ? c->nranks * (c->nranks - 1) / 2 + i * c->nranks
                                           : c->nranks - 1 + i));
    }
}

static void
check_comm(MPI_Comm comm, const char *name)
{
    struct check_comm c = check_describe(comm, name);
    check_order(&c);
    check_layouts(&c);
    check_handles_made_anew(&c);
    check_ops_alternate(&c);
}

int
main(int argc, char **argv)
{
    MPI_Comm reversed;
    int rank;
    check_begin(&argc, &argv);
    check_comm(MPI_COMM_WORLD, "world");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    check_comm(reversed, "reversed");
    MPI_Comm_free(&reversed);
    return check_end();
}
