/* The bounds of two results that were rounded in different orders: what orders of the same
 * operands give is within, and a little more than the bound is not. */
#include <float.h>
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <string.h>

#include "check.h"
#include "reduce/compare.h"

#define RANKS 6

static uint64_t seed = 88172645463325252;

static double
random_number(int spread)
{
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    const double x = (double)(int64_t)seed / 9e18;
    return ldexp(x, (int)(seed % (unsigned)spread) - spread / 2);
}

/* The same operands from the first on, and from the last on. */
static void
fold(MPI_Datatype type, MPI_Op op, const void *operands, size_t size, void *up, void *down)
{
    memcpy(up, operands, size);
    memcpy(down, (const char *)operands + (RANKS - 1) * size, size);
    for (size_t i = 1; i < RANKS; i++) {
        MPI_Reduce_local((const char *)operands + i * size, up, 1, type, op);
        MPI_Reduce_local((const char *)operands + (RANKS - 1 - i) * size, down, 1, type, op);
    }
}

static double
sum_magnitudes(const struct ar_comparison *c, const char *operands)
{
    double sum = 0, one;
    for (size_t i = 0; i < RANKS; i++) {
        ar_magnitudes_get(c, &one, operands + i * c->size, 1);
        sum += one;
    }
    return sum;
}

static struct ar_comparison
comparison(MPI_Op op, MPI_Datatype type)
{
    struct ar_reduction r = {0};
    struct ar_comparison c;
    CHECK(ar_reduction_resolve(&r, op, type), "not resolved");
    ar_comparison_init(&c, &r);
    return c;
}

static void
orders_are_within_and_more_is_not(MPI_Op op, int spread)
{
    const struct ar_comparison c = comparison(op, MPI_DOUBLE);
    CHECK(c.kind == AR_COMPARE_BOUNDED, "op");
    for (int k = 0; k < 2000; k++) {
        double x[RANKS], up, down;
        for (int i = 0; i < RANKS; i++)
            x[i] = random_number(spread);
        fold(MPI_DOUBLE, op, x, sizeof *x, &up, &down);
        const double magnitudes = sum_magnitudes(&c, (const char *)x);
        CHECK(ar_packed_differs(&c, &up, &down, &magnitudes, RANKS, 1) == 1, "%a and %a", up, down);
        /* 4 of u a step, where the bound has little more than 2 */
        const double beyond = 4 * (RANKS - 1) * (DBL_EPSILON / 2);
        const double wrong = up + beyond * (op == MPI_SUM ? magnitudes : up);
        CHECK(ar_packed_differs(&c, &up, &wrong, &magnitudes, RANKS, 1) == 0, "%a taken for %a",
              wrong, up);
    }
}

/* From the first on each of these overflows, from the last on it does not. */
static void
a_sum_that_may_overflow_on_its_way_is_not_judged(void)
{
    const float f[RANKS] = {FLT_MAX, FLT_MAX, -FLT_MAX, 0, 0, 0};
    const double d[RANKS] = {DBL_MAX, DBL_MAX, -DBL_MAX, 0, 0, 0};
    const float z[RANKS][2] = {{1, FLT_MAX}, {1, FLT_MAX}, {1, -FLT_MAX}};
    const struct ar_comparison of_f = comparison(MPI_SUM, MPI_FLOAT);
    const struct ar_comparison of_d = comparison(MPI_SUM, MPI_DOUBLE);
    const struct ar_comparison of_z = comparison(MPI_SUM, MPI_C_FLOAT_COMPLEX);
    double magnitudes[2] = {0}, one[2];
    float up[2], down[2];
    double double_up, double_down;
    fold(MPI_FLOAT, MPI_SUM, f, sizeof *f, up, down);
    *magnitudes = sum_magnitudes(&of_f, (const char *)f);
    CHECK(isinf(*up) && *down == FLT_MAX, "float %g and %g", *up, *down);
    CHECK(ar_packed_differs(&of_f, up, down, magnitudes, RANKS, 1) == 1, "float");
    fold(MPI_DOUBLE, MPI_SUM, d, sizeof *d, &double_up, &double_down);
    *magnitudes = sum_magnitudes(&of_d, (const char *)d);
    CHECK(isinf(double_up) && double_down == DBL_MAX, "double %g and %g", double_up, double_down);
    CHECK(ar_packed_differs(&of_d, &double_up, &double_down, magnitudes, RANKS, 1) == 1, "double");
    fold(MPI_C_FLOAT_COMPLEX, MPI_SUM, z, sizeof *z, up, down);
    *magnitudes = 0;
    for (size_t i = 0; i < RANKS; i++) {
        ar_magnitudes_get(&of_z, one, z[i], 1);
        magnitudes[0] += one[0], magnitudes[1] += one[1];
    }
    CHECK(isinf(up[1]) && down[1] == FLT_MAX, "complex %g and %g", up[1], down[1]);
    CHECK(ar_packed_differs(&of_z, up, down, magnitudes, RANKS, 1) == 1, "complex");
    up[1] = down[1], up[0] = 4;
    CHECK(ar_packed_differs(&of_z, up, down, magnitudes, RANKS, 1) == 0, "the other part");
}

/* The sum of magnitudes rounds, too, so up to a little below the greatest number; beyond that
 * nobody knows. */
static void
a_sum_that_cannot_overflow_is_judged(void)
{
    const struct ar_comparison single = comparison(MPI_SUM, MPI_FLOAT);
    const struct ar_comparison twice = comparison(MPI_SUM, MPI_DOUBLE);
    const float inf = INFINITY, one = 1;
    const double infinite = INFINITY, double_one = 1;
    double sum = FLT_MAX * (1 - 3 * RANKS * FLT_EPSILON);
    CHECK(ar_packed_differs(&single, &inf, &one, &sum, RANKS, 1) == 0, "float");
    sum = FLT_MAX;
    CHECK(ar_packed_differs(&single, &inf, &one, &sum, RANKS, 1) == 1, "float");
    sum = DBL_MAX * (1 - 3 * RANKS * DBL_EPSILON);
    CHECK(ar_packed_differs(&twice, &infinite, &double_one, &sum, RANKS, 1) == 0, "double");
    sum = DBL_MAX;
    CHECK(ar_packed_differs(&twice, &infinite, &double_one, &sum, RANKS, 1) == 1, "double");
}

static void
what_may_overflow_is_not_judged(void)
{
    const double large[] = {1e300, 1e300, 1e-300, 1e-300, 1, 1};
    const double infinite = INFINITY, one = 1, nan = NAN;
    const struct ar_comparison product = comparison(MPI_PROD, MPI_DOUBLE);
    const struct ar_comparison largest = comparison(MPI_MAX, MPI_DOUBLE);
    const double magnitudes = sum_magnitudes(&product, (const char *)large);
    double judged;
    CHECK(ar_packed_differs(&product, &infinite, &one, &magnitudes, RANKS, 1) == 1, "overflow");
    const double few = RANKS; /* factors near 1 */
    CHECK(ar_packed_differs(&product, &infinite, &one, &few, RANKS, 1) == 0, "too large");
    CHECK(ar_packed_differs(&product, &one, &infinite, &few, RANKS, 1) == 0, "too large there");
    CHECK(ar_packed_differs(&product, &nan, &one, &few, RANKS, 1) == 0, "no number");
    ar_magnitudes_get(&largest, &judged, &nan, 1);
    CHECK(ar_packed_differs(&largest, &infinite, &one, &judged, RANKS, 1) == 1, "NaN");
    ar_magnitudes_get(&largest, &judged, &one, 1);
    CHECK(ar_packed_differs(&largest, &infinite, &one, &judged, RANKS, 1) == 0, "maximum");
}

static void
first(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)count, (void)type;
}

static void
kinds_are_told_apart(void)
{
    CHECK(comparison(MPI_SUM, MPI_INT).kind == AR_COMPARE_EXACT, "int");
    CHECK(comparison(MPI_MAXLOC, MPI_2INT).kind == AR_COMPARE_EXACT, "2int");
    CHECK(comparison(MPI_LXOR, MPI_C_BOOL).kind == AR_COMPARE_EXACT, "bool");
    CHECK(comparison(MPI_MINLOC, MPI_DOUBLE_INT).kind == AR_COMPARE_BOUNDED, "double_int");
    CHECK(comparison(MPI_SUM, MPI_C_FLOAT_COMPLEX).numbers == 2, "complex");
    CHECK(comparison(MPI_PROD, MPI_C_FLOAT_COMPLEX).kind == AR_COMPARE_NOTHING, "complex product");
}

static void
what_an_op_of_the_program_may_round_is_told_apart(void)
{
    MPI_Op op;
    MPI_Datatype two;
    MPI_Op_create(first, 1, &op);
    CHECK(comparison(op, MPI_INT).kind == AR_COMPARE_EXACT, "user's op on int");
    CHECK(comparison(op, MPI_DOUBLE).kind == AR_COMPARE_USERS, "user's op on double");
    CHECK(comparison(op, MPI_BYTE).kind == AR_COMPARE_USERS, "user's op on bytes");
    CHECK(comparison(op, MPI_2INT).kind == AR_COMPARE_USERS, "user's op on pairs");
    CHECK(comparison(op, MPI_C_BOOL).kind == AR_COMPARE_USERS, "user's op on bool");
    MPI_Type_contiguous(2, MPI_INT, &two);
    MPI_Type_commit(&two);
    CHECK(comparison(op, two).kind == AR_COMPARE_USERS, "user's op on a derived type");
    MPI_Type_free(&two);
    MPI_Op_free(&op);
}

static void
padding_means_nothing(void)
{
    const struct ar_comparison c = comparison(MPI_SUM, MPI_LONG_DOUBLE);
    long double a, b;
    memset(&a, 1, sizeof a);
    memset(&b, 2, sizeof b);
    a = b = 3;
    ar_packed_clean(&c, &a, 1);
    ar_packed_clean(&c, &b, 1);
    CHECK(a == 3 && memcmp(&a, &b, sizeof a) == 0, "padding");
}

int
main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    orders_are_within_and_more_is_not(MPI_SUM, 40);
    orders_are_within_and_more_is_not(MPI_PROD, 40);
    a_sum_that_may_overflow_on_its_way_is_not_judged();
    a_sum_that_cannot_overflow_is_judged();
    what_may_overflow_is_not_judged();
    kinds_are_told_apart();
    what_an_op_of_the_program_may_round_is_told_apart();
    padding_means_nothing();
    MPI_Finalize();
    return check_status();
}
