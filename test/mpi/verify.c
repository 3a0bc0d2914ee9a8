/* Calls for ALLREDUCE_VERIFY to look at.
 *
 * usage: verify ints N: N sums of ints, each of which must be right
 *        verify kinds: every kind of op and type, with hostile values, in place and not
 *        verify users TYPE N: N sums by an op of our own, each of which must be right, of TYPE
 *            ints or pairs (of ints, a derived type); or rounded: of doubles, which may be
 *        verify raised: 2 sums, of which one must end with an error, that is raised once
 *        verify counts A B STEP: 3 sums, of which the second is erroneous: rank 1 has A ints, the
 *            others B and their rank times STEP
 *        verify ops: a sum on rank 0, and a maximum on the others
 *        verify huge: sums that overflow on their way, or do not, as the order has it
 */
#include <complex.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_check.h"

#define COUNT 1000

static int rank, nranks;

static void
sum_ints(int in_place)
{
    int in[COUNT], out[COUNT], wrong = 0;
    for (int i = 0; i < COUNT; i++)
        in[i] = out[i] = i + rank;
    MPI_Allreduce(in_place ? MPI_IN_PLACE : in, out, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < COUNT; i++)
        wrong += out[i] != i * nranks + nranks * (nranks - 1) / 2;
    if (wrong > 0)
        check_fail("%d sums are wrong", wrong);
}

/* Of either sign, of many magnitudes; now and then zero, infinite, NaN. */
static double
rounded(int i)
{
    const int k = (i * 7919 + rank * 104729) % 9973;
    if (k % 97 == 0)
        return k % 2 ? 0.0 : -0.0;
    if (i % 101 == 0 && k % 3 == 0)
        return k % 2 ? INFINITY : NAN;
    return (k - 5000) / 3.0 * pow(2, k % 30 - 15);
}

static void
reduce(const char *what, MPI_Datatype type, MPI_Op op, size_t size, void *values)
{
    char *in = check_buffer(COUNT * size), *out = check_buffer(COUNT * size);
    const struct check_comm world = check_describe(MPI_COMM_WORLD, "world");
    memcpy(in, values, COUNT * size);
    memcpy(out, values, COUNT * size);
    MPI_Allreduce(in, out, COUNT, type, op, MPI_COMM_WORLD);
    check_guards(out, what);
    check_same_bits(&world, out, COUNT * size, what);
    memcpy(out, values, COUNT * size);
    MPI_Allreduce(MPI_IN_PLACE, out, COUNT, type, op, MPI_COMM_WORLD);
    check_guards(out, what);
    check_release(in);
    check_release(out);
}

static void
reduce_floating(void)
{
    static float f[COUNT];
    static double d[COUNT];
    static double complex z[COUNT];
    static const MPI_Op ops[] = {MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN};
    for (int i = 0; i < COUNT; i++) {
        d[i] = rounded(i);
        f[i] = (float)d[i];
        z[i] = d[i] + I * rounded(i + 17);
    }
    for (size_t k = 0; k < sizeof ops / sizeof ops[0]; k++) {
        reduce("float", MPI_FLOAT, ops[k], sizeof *f, f);
        reduce("double", MPI_DOUBLE, ops[k], sizeof *d, d);
    }
    reduce("complex sum", MPI_C_DOUBLE_COMPLEX, MPI_SUM, sizeof *z, z);
    reduce("complex product", MPI_C_DOUBLE_COMPLEX, MPI_PROD, sizeof *z, z);
}

/* Sums the greatest numbers; one rank, another one every seven elements, has them negated. */
static void
sum_huge(void)
{
    static float f[COUNT], f_out[COUNT];
    static double d[COUNT], d_out[COUNT];
    static float complex z[COUNT], z_out[COUNT];
    for (int i = 0; i < COUNT; i++) {
        const int sign = i / 7 % nranks == rank ? -1 : 1;
        f[i] = (float)sign * FLT_MAX;
        d[i] = sign * DBL_MAX;
        z[i] = f[i] + I * f[i];
    }
    MPI_Allreduce(f, f_out, COUNT, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(d, d_out, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(z, z_out, COUNT, MPI_C_FLOAT_COMPLEX, MPI_SUM, MPI_COMM_WORLD);
}

/* Types of which some bytes mean nothing: compared by MPI_Allreduce itself alone. */
static void
reduce_padded(void)
{
    static long double in[COUNT], out[COUNT];
    static struct {
        double value;
        int where;
    } pairs[COUNT], results[COUNT];
    for (int i = 0; i < COUNT; i++) {
        in[i] = (long double)rounded(i);
        pairs[i].value = rounded(i);
        pairs[i].where = rank;
    }
    MPI_Allreduce(in, out, COUNT, MPI_LONG_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(pairs, results, COUNT, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
}

static void
first(void *in, void *inout, int *count, MPI_Datatype *type)
{
    int size;
    MPI_Type_size(*type, &size);
    memcpy(inout, in, (size_t)*count * (size_t)size);
}

static void
reduce_by_users(void)
{
    static int in[COUNT];
    MPI_Op op;
    MPI_Datatype two;
    MPI_Op_create(first, 0, &op);
    MPI_Type_contiguous(2, MPI_INT, &two);
    MPI_Type_commit(&two);
    for (int i = 0; i < COUNT; i++)
        in[i] = i + rank;
    MPI_Allreduce(MPI_IN_PLACE, in, COUNT / 2, two, op, MPI_COMM_WORLD);
    for (int i = 0; i < COUNT; i++)
        check_true(in[i] == i);
    MPI_Type_free(&two);
    MPI_Op_free(&op);
}

static void
add_doubles(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++)
        ((double *)inout)[i] += ((double *)in)[i];
}

static void
sum_by_users(int ints)
{
    MPI_Datatype pair;
    MPI_Op op;
    int in[COUNT], out[COUNT], wrong = 0;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(check_add_ints, 1, &op);
    for (int i = 0; i < COUNT; i++)
        in[i] = i + rank;
    MPI_Allreduce(in, out, COUNT / ints, ints == 2 ? pair : MPI_INT, op, MPI_COMM_WORLD);
    for (int i = 0; i < COUNT; i++)
        wrong += out[i] != i * nranks + nranks * (nranks - 1) / 2;
    if (wrong > 0)
        check_fail("%d sums of the program's own are wrong", wrong);
    MPI_Op_free(&op);
    MPI_Type_free(&pair);
}

/* So few that both MPI libraries double distances, which adds in another order than a ring. */
static void
round_by_users(void)
{
    double in[COUNT / 4], out[COUNT / 4];
    MPI_Op op;
    MPI_Op_create(add_doubles, 1, &op);
    for (int i = 0; i < COUNT / 4; i++)
        in[i] = 1 / (3.0 + rank + i);
    MPI_Allreduce(in, out, COUNT / 4, MPI_DOUBLE, op, MPI_COMM_WORLD);
    MPI_Op_free(&op);
}

static void
reduce_users(const char *type, int n)
{
    for (int i = 0; i < n; i++)
        if (strcmp(type, "rounded") == 0)
            round_by_users();
        else
            sum_by_users(strcmp(type, "pairs") == 0 ? 2 : 1);
}

/* What the MPI library makes of it is its own affair, but it must not end the program. */
static void
count_differently(int mine)
{
    int in[COUNT] = {0}, out[COUNT];
    MPI_Comm copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
    MPI_Allreduce(in, out, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(in, out, mine, MPI_INT, MPI_SUM, copy);
    MPI_Allreduce(in, out, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void
mix_ops(void)
{
    int in = rank, out;
    MPI_Allreduce(&in, &out, 1, MPI_INT, rank == 0 ? MPI_SUM : MPI_MAX, MPI_COMM_WORLD);
}

static int raised, raised_class;

static void
handle(MPI_Comm *comm, int *error, ...)
{
    (void)comm;
    raised++;
    MPI_Error_class(*error, &raised_class);
}

static void
errors_are_raised_once(void)
{
    MPI_Errhandler handler;
    int returned = 0, in = rank, out;
    MPI_Comm_create_errhandler(handle, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    for (int i = 0; i < 2; i++)
        returned += MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) != MPI_SUCCESS;
    MPI_Errhandler_free(&handler);
    if (returned != 1 || raised != 1 || raised_class != MPI_ERR_INTERN)
        check_fail("%d errors, raised %d times as class %d", returned, raised, raised_class);
}

int
main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &nranks);
    if (argc > 2 && strcmp(argv[1], "ints") == 0) {
        for (int i = 0; i < atoi(argv[2]); i++)
            sum_ints(i % 2);
    } else if (argc > 3 && strcmp(argv[1], "users") == 0) {
        reduce_users(argv[2], atoi(argv[3]));
    } else if (argc > 1 && strcmp(argv[1], "raised") == 0) {
        errors_are_raised_once();
    } else if (argc > 4 && strcmp(argv[1], "counts") == 0) {
        count_differently(atoi(argv[rank == 1 ? 2 : 3]) + (rank == 1 ? 0 : rank * atoi(argv[4])));
    } else if (argc > 1 && strcmp(argv[1], "ops") == 0) {
        mix_ops();
    } else if (argc > 1 && strcmp(argv[1], "huge") == 0) {
        sum_huge();
    } else {
        sum_ints(0);
        reduce_floating();
        reduce_padded();
        reduce_by_users();
    }
    return check_end();
}
