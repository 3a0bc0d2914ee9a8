/* The bounds of two results that were rounded in different orders: what orders of the same
 * operands give is within, and a little more than the bound is not. */
#include <float.h>
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <string.h>

#include "check.h"
#include "reduce/compare.h"
#include "reduce/named.h"

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

/* What is known of an element's operands. */
struct known {
    double magnitudes[2];
    unsigned char kinds[2];
};

static struct known
know(const struct ar_comparison *c, const void *operands, size_t n)
{
    struct known all = {{0}, {0}}, one;
    for (size_t i = 0; i < n; i++) {
        ar_operands_get(c, (struct ar_addends){one.magnitudes, one.kinds},
                        (const char *)operands + i * c->size, 1);
        for (size_t k = 0; k < c->numbers; k++) {
            all.magnitudes[k] += one.magnitudes[k];
            all.kinds[k] |= one.kinds[k];
        }
    }
    return all;
}

static bool
differ(const struct ar_comparison *c, const void *a, const void *b, struct known known)
{
    return ar_packed_differs(c, a, b, (struct ar_addends){known.magnitudes, known.kinds}, RANKS,
                             1) == 0;
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
        const struct known known = know(&c, x, RANKS);
        CHECK(!differ(&c, &up, &down, known), "%a and %a", up, down);
        /* 4 of u a step, where the bound has little more than 2 */
        const double beyond = 4 * (RANKS - 1) * (DBL_EPSILON / 2);
        const double wrong = up + beyond * (op == MPI_SUM ? *known.magnitudes : up);
        CHECK(differ(&c, &up, &wrong, known), "%a taken for %a", wrong, up);
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
    float up[2], down[2];
    double double_up, double_down;
    fold(MPI_FLOAT, MPI_SUM, f, sizeof *f, up, down);
    CHECK(isinf(*up) && *down == FLT_MAX, "float %g and %g", *up, *down);
    CHECK(!differ(&of_f, up, down, know(&of_f, f, RANKS)), "float");
    fold(MPI_DOUBLE, MPI_SUM, d, sizeof *d, &double_up, &double_down);
    CHECK(isinf(double_up) && double_down == DBL_MAX, "double %g and %g", double_up, double_down);
    CHECK(!differ(&of_d, &double_up, &double_down, know(&of_d, d, RANKS)), "double");
    fold(MPI_C_FLOAT_COMPLEX, MPI_SUM, z, sizeof *z, up, down);
    CHECK(isinf(up[1]) && down[1] == FLT_MAX, "complex %g and %g", up[1], down[1]);
    CHECK(!differ(&of_z, up, down, know(&of_z, z, RANKS)), "complex");
    up[1] = down[1], up[0] = 4;
    CHECK(differ(&of_z, up, down, know(&of_z, z, RANKS)), "the other part");
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
    struct known known = know(&single, &one, 1);
    *known.magnitudes = FLT_MAX * (1 - 3 * RANKS * FLT_EPSILON);
    CHECK(differ(&single, &inf, &one, known), "float");
    *known.magnitudes = FLT_MAX;
    CHECK(!differ(&single, &inf, &one, known), "float");
    *known.magnitudes = DBL_MAX * (1 - 3 * RANKS * DBL_EPSILON);
    CHECK(differ(&twice, &infinite, &double_one, known), "double");
    *known.magnitudes = DBL_MAX;
    CHECK(!differ(&twice, &infinite, &double_one, known), "double");
}

static void
a_product_that_may_overflow_is_not_judged(void)
{
    const double large[RANKS] = {1e300, 1e300, 1e-300, 1e-300, 1, 1},
                 few[RANKS] = {1, 1, 1, 1, 1, 1};
    const double infinite = INFINITY, one = 1, nan = NAN;
    const struct ar_comparison product = comparison(MPI_PROD, MPI_DOUBLE);
    CHECK(!differ(&product, &infinite, &one, know(&product, large, RANKS)), "overflow");
    const struct known known = know(&product, few, RANKS);
    CHECK(differ(&product, &infinite, &one, known), "too large");
    CHECK(differ(&product, &one, &infinite, known), "too large there");
    CHECK(differ(&product, &nan, &one, known), "no number");
}

/* Where no difference is too large. */
static void
results_are_of_a_kind_that_their_operands_can_give(void)
{
    static const struct {
        double operand[3], result, other;
        bool are_alike;
        enum ar_op op;
    } cases[] = {
        {{INFINITY, 1, 2}, INFINITY, INFINITY, true, AR_SUM},
        {{INFINITY, 1, 2}, INFINITY, 3, false, AR_SUM},
        {{INFINITY, 1, 2}, -INFINITY, INFINITY, false, AR_SUM},
        {{INFINITY, 1, 2}, INFINITY, NAN, false, AR_SUM},
        {{INFINITY, 1, -INFINITY}, NAN, NAN, true, AR_SUM},
        {{INFINITY, 1, -INFINITY}, NAN, INFINITY, false, AR_SUM},
        {{NAN, 1, 2}, 3, NAN, false, AR_SUM},
        {{DBL_MAX, DBL_MAX, -INFINITY}, NAN, -INFINITY, true, AR_SUM},
        {{DBL_MAX, DBL_MAX, -INFINITY}, 1, -INFINITY, false, AR_SUM},
        {{DBL_MAX, DBL_MAX, 1}, INFINITY, DBL_MAX, true, AR_SUM},
        {{DBL_MAX, DBL_MAX, 1}, INFINITY, -INFINITY, false, AR_SUM},
        {{0, 0, 0}, 0.0, -0.0, false, AR_SUM},
        {{-0.0, -0.0, -0.0}, 0.0, -0.0, true, AR_SUM}, /* an exact sum, and another */
        {{INFINITY, 2, -3}, -INFINITY, -INFINITY, true, AR_PROD},
        {{INFINITY, 2, -3}, -INFINITY, INFINITY, false, AR_PROD},
        {{INFINITY, 2, -3}, -7, -INFINITY, false, AR_PROD},
        {{INFINITY, 2, 0}, NAN, NAN, true, AR_PROD},
        {{INFINITY, 2, 0}, 0, NAN, false, AR_PROD},
        {{0, -1, 5}, -0.0, -0.0, true, AR_PROD},
        {{0, -1, 5}, -0.0, 0.0, false, AR_PROD},
        {{1e300, 1e300, 0}, 0, NAN, true, AR_PROD},
        {{NAN, 1, 2}, 1, NAN, true, AR_MAX}, /* depends on who compares whom */
        {{NAN, 1, 2}, 1, -1, false, AR_MAX},
        {{NAN, 1, 2}, INFINITY, NAN, false, AR_MIN},
        {{0.0, -0.0, -1}, 0.0, -0.0, true, AR_MAX},
        {{0.0, 0.0, -1}, 0.0, -0.0, false, AR_MAX},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct ar_comparison c = comparison(ar_op_handle(cases[i].op), MPI_DOUBLE);
        const struct known known = know(&c, cases[i].operand, 3);
        CHECK(differ(&c, &cases[i].result, &cases[i].other, known) != cases[i].are_alike,
              "case %zu: %g and %g", i, cases[i].result, cases[i].other);
    }
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
    a_product_that_may_overflow_is_not_judged();
    results_are_of_a_kind_that_their_operands_can_give();
    kinds_are_told_apart();
    what_an_op_of_the_program_may_round_is_told_apart();
    padding_means_nothing();
    MPI_Finalize();
    return check_status();
}
