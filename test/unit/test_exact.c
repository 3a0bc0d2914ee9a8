/* Exact sums: of two numbers what IEEE 754 says of a + b, which is rounded once; of many what wide
 * arithmetic gives that loses nothing; and nothing depends on how the words are summed. */
#include <fenv.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#ifdef __SSE2__
#include <xmmintrin.h>
#endif

#include "reduce/exact.h"
#include "reduce/exact_ways.h"
#include "unit.h"

#define COUNT     64
#define RANKS_MAX 1000
#define WORDS_MAX 64 /* of a number in the widest window */

static uint64_t seed = 88172645463325252;

static uint64_t
random_bits(void)
{
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return seed;
}

static struct ar_window
join(struct ar_window a, struct ar_window b)
{
    return (struct ar_window){a.top > b.top ? a.top : b.top,
                              a.bottom > b.bottom ? a.bottom : b.bottom, a.special | b.special};
}

/* The sum of nranks vectors of COUNT numbers that follow each other; claimed ranks at least so
 * many. */
static void
sum(enum ar_exact_format format, void *result, const void *vectors, int nranks, int claimed,
    int is_whole)
{
    static int64_t total[COUNT * WORDS_MAX], words[COUNT * WORDS_MAX];
    const size_t bytes = COUNT * (format == AR_EXACT_FLOAT ? sizeof(float) : sizeof(double));
    struct ar_window window = {AR_WINDOW_EMPTY, AR_WINDOW_EMPTY, 0};
    for (int r = 0; r < nranks; r++)
        window =
            join(window, ar_window_of(format, (const char *)vectors + (size_t)r * bytes, COUNT));
    if (is_whole)
        window = join(window, ar_window_whole(format));
    const size_t n = ar_exact_words(window, claimed) * COUNT;
    assert_true(n <= COUNT * WORDS_MAX);
    memset(total, 0, sizeof total);
    for (int r = 0; r < nranks; r++) {
        ar_exact_encode(format, words, (const char *)vectors + (size_t)r * bytes, COUNT, window,
                        claimed);
        for (size_t i = 0; i < n; i++)
            assert_false(__builtin_add_overflow(total[i], words[i], &total[i]));
    }
    ar_exact_decode(format, result, total, COUNT, window, claimed);
}

static void
assert_double(double is, double expected, double a, double b)
{
    if (isnan(expected) ? !isnan(is) : is != expected)
        fail_msg("%a + %a gave %a, not %a", a, b, is, expected);
    assert_false(is == 0 && signbit(is));
}

static double
any_double(void)
{
    uint64_t bits = random_bits();
    double x;
    if (bits % 8 == 0) /* of few bits, or below the normal numbers */
        bits = random_bits() & UINT64_C(0x800fffff00000000);
    else if (bits % 8 == 1)
        bits = random_bits() | UINT64_C(0x7fe0000000000000); /* huge, infinite, NaN */
    else if (bits % 8 < 5)
        bits = (random_bits() & UINT64_C(0x803fffffffffffff)) | UINT64_C(0x3fc0000000000000);
    else
        bits = random_bits();
    memcpy(&x, &bits, sizeof x);
    return x;
}

static void
two_doubles_sum_as_ieee_says(void **state)
{
    (void)state;
    static const int claimed[] = {2, 3, 64, 1 << 20};
    for (int k = 0; k < 4000; k++) {
        double x[2][COUNT], s[COUNT];
        for (int i = 0; i < COUNT; i++)
            x[0][i] = any_double(), x[1][i] = any_double();
        sum(AR_EXACT_DOUBLE, s, x, 2, claimed[k % 4], k % 3 == 0);
        for (int i = 0; i < COUNT; i++)
            assert_double(s[i], x[0][i] + x[1][i], x[0][i], x[1][i]);
    }
}

static void
two_floats_sum_as_ieee_says(void **state)
{
    (void)state;
    for (int k = 0; k < 4000; k++) {
        float x[2][COUNT], s[COUNT];
        for (int i = 0; i < 2 * COUNT; i++) {
            uint32_t bits = (uint32_t)random_bits();
            if (i % 3)
                bits = (bits & 0x81ffffffU) | 0x3e000000U;
            memcpy(&x[i / COUNT][i % COUNT], &bits, sizeof bits);
        }
        sum(AR_EXACT_FLOAT, s, x, 2, 2 + k % 5, k % 3 == 0);
        for (int i = 0; i < COUNT; i++)
            assert_double(s[i], x[0][i] + x[1][i], x[0][i], x[1][i]);
    }
}

/* Multiples of 2^-40 below 2^42: their sums are whole numbers of 92 bits. */
static void
many_doubles_sum_as_whole_numbers_do(void **state)
{
    (void)state;
    static double x[RANKS_MAX][COUNT];
    static const int ranks[] = {3, 7, 64, RANKS_MAX};
    for (int k = 0; k < 40; k++) {
        const int nranks = ranks[k % 4];
        __int128 whole[COUNT] = {0};
        double s[COUNT];
        for (int r = 0; r < nranks; r++)
            for (int i = 0; i < COUNT; i++) {
                const int64_t n = (int64_t)random_bits() >> (11 + random_bits() % 40);
                const int shift = (int)(random_bits() % 30);
                /* every other sum nearly cancels */
                x[r][i] = i % 2 && r % 2 ? -x[r - 1][i] + 0x1p-40 : ldexp((double)n, shift - 40);
                whole[i] += (__int128)ldexp(x[r][i], 40);
            }
        sum(AR_EXACT_DOUBLE, s, x, nranks, nranks, k % 5 == 0);
        for (int i = 0; i < COUNT; i++)
            assert_double(s[i], ldexp((double)whole[i], -40), (double)nranks, i);
    }
}

static double
sum_of_three(double a, double b, double c)
{
    double x[3][COUNT] = {{a}, {b}, {c}}, s[COUNT];
    sum(AR_EXACT_DOUBLE, s, x, 3, 3, 0);
    return s[0];
}

static void
what_lies_far_below_decides_a_tie(void **state)
{
    (void)state;
    assert_true(sum_of_three(1, 0x1p-53, 0) == 1);
    assert_true(sum_of_three(1, 0x1p-53, 0x1p-1074) == 1 + 0x1p-52);
    assert_true(sum_of_three(1, 0x1p-53, -0x1p-1074) == 1);
    assert_true(sum_of_three(-1, -0x1p-53, -0x1p-1074) == -1 - 0x1p-52);
    assert_true(sum_of_three(1e300, 1, -1e300) == 1);
    assert_true(sum_of_three(0x1.fffffffffffffp1023, 0x1p970, 0) == INFINITY);
    assert_true(sum_of_three(0x1.fffffffffffffp1023, 0x1p970, -0x1p-1074) ==
                0x1.fffffffffffffp1023);
    assert_true(sum_of_three(0x1.fffffffffffffp1023, 0x1p1023, -0x1p1023) ==
                0x1.fffffffffffffp1023);
}

static void
infinities_and_nan_are_always_the_same(void **state)
{
    (void)state;
    const double a = sum_of_three(INFINITY, 1, -INFINITY), b = sum_of_three(NAN, 3, INFINITY);
    const double c = sum_of_three(0, -NAN, 0);
    assert_true(isnan(a));
    assert_memory_equal(&a, &b, sizeof a);
    assert_memory_equal(&a, &c, sizeof a);
    assert_true(sum_of_three(1e308, INFINITY, -5) == INFINITY);
    assert_true(sum_of_three(1e308, -INFINITY, -INFINITY) == -INFINITY);
    assert_true(isinf(sum_of_three(0x1p1023, 0x1p1023, 0)));
}

static void
common_numbers_take_few_words(void **state)
{
    (void)state;
    const double whole[] = {1, 2, -3, 1e6}, near[] = {0.1, 0.7, 100.3, -1e-3}, zero[2] = {0};
    assert_int_equal(ar_exact_words(ar_window_of(AR_EXACT_DOUBLE, whole, 4), 4), 1);
    assert_int_equal(ar_exact_words(ar_window_of(AR_EXACT_DOUBLE, near, 4), 4), 2);
    assert_int_equal(ar_exact_words(ar_window_of(AR_EXACT_DOUBLE, zero, 2), 4), 0);
    assert_true(ar_exact_words(ar_window_whole(AR_EXACT_DOUBLE), AR_EXACT_RANKS_MAX) <= WORDS_MAX);
}

/* --- kernels --- */

/* Numbers of so many binades, some of them zero, some powers of two, some whose sums cancel. */
static void
fill(enum ar_exact_format format, void *numbers, int nranks, int binades, int lowest)
{
    for (int k = 0; k < nranks * COUNT; k++) {
        const int64_t n = (int64_t)random_bits() >> (11 + random_bits() % 53);
        const int shift = lowest + (int)(random_bits() % (unsigned)binades);
        double x = k % 7 == 0 ? ldexp(1, shift) : k % 11 == 0 ? 0 : ldexp((double)n, shift - 52);
        float narrow = (float)x;
        if (k % 5 == 0 && k >= COUNT)
            memcpy(format == AR_EXACT_FLOAT ? (void *)&narrow : (void *)&x,
                   (const char *)numbers +
                       (size_t)(k - COUNT) * (format == AR_EXACT_FLOAT ? sizeof narrow : sizeof x),
                   format == AR_EXACT_FLOAT ? sizeof narrow : sizeof x);
        if (format == AR_EXACT_FLOAT)
            ((float *)numbers)[k] = k % 5 ? narrow : -narrow;
        else
            ((double *)numbers)[k] = k % 5 ? x : -x;
    }
}

/* By the kernels of an instruction set; or by integer instructions alone. */
#define BY_DIGITS AR_ISAS

static void
sum_by(enum ar_isa isa, enum ar_exact_format format, void *result, const char *vectors, int nranks,
       struct ar_window window, int claimed)
{
    static int64_t total[COUNT * WORDS_MAX], words[COUNT * WORDS_MAX];
    const struct ar_exact_grid grid = ar_exact_grid_of(window, claimed);
    const size_t bytes = COUNT * (format == AR_EXACT_FLOAT ? sizeof(float) : sizeof(double));
    const size_t n =
        COUNT * (isa == BY_DIGITS ? ar_digits_words(window, claimed) : (size_t)grid.words);
    memset(total, 0, sizeof total);
    for (int r = 0; r < nranks; r++) {
        if (isa == BY_DIGITS)
            ar_digits_encode(format, words, vectors + (size_t)r * bytes, COUNT, window, claimed);
        else
            ar_exact_kernels_get(isa, format)
                ->encode[grid.words - 1](words, vectors + (size_t)r * bytes, COUNT, &grid);
        for (size_t i = 0; i < n; i++)
            assert_false(__builtin_add_overflow(total[i], words[i], &total[i]));
    }
    if (isa == BY_DIGITS)
        ar_digits_decode(format, result, total, COUNT, window, claimed);
    else
        ar_exact_kernels_get(isa, format)->decode[grid.words - 1](result, total, COUNT, &grid);
}

static void
compare_kernels(enum ar_exact_format format, const char *vectors, int nranks, int claimed,
                int *words_met)
{
    const size_t count = (size_t)nranks * COUNT;
    const struct ar_window window = ar_digits_window(format, vectors, count);
    const int words = ar_exact_grid_of(window, claimed).words;
    double expected[COUNT] = {0}, is[COUNT] = {0};
    words_met[words]++;
    sum_by(BY_DIGITS, format, expected, vectors, nranks, window, claimed);
    for (enum ar_isa isa = AR_ISA_BASE; words > 0 && isa <= ar_isa_best(); isa++) {
        sum_by(isa, format, is, vectors, nranks, window, claimed);
        assert_memory_equal(is, expected, sizeof is);
    }
}

static void
every_kernel_sums_as_integers_do(void **state)
{
    (void)state;
    static const int ranks[] = {2, 3, 7, 64, RANKS_MAX}, binades[] = {1, 5, 9, 30, 45, 90, 100};
    static const int lowest[] = {0, -900, 850, -126, 30, -1073};
    static double vectors[RANKS_MAX * COUNT];
    for (enum ar_exact_format format = 0; format < AR_EXACT_FORMATS; format++) {
        int words_met[AR_EXACT_PARTS + 1] = {0};
        for (int k = 0; k < 2100; k++) {
            const int nranks = k % 100 == 4 ? RANKS_MAX : ranks[k % 4];
            const int claimed = k % 3 ? nranks : AR_EXACT_RANKS_MAX;
            fill(format, vectors, nranks, binades[k % 7], lowest[k % 6]);
            compare_kernels(format, (const char *)vectors, nranks, claimed, words_met);
        }
        for (int words = 0; words <= AR_EXACT_PARTS; words++)
            assert_true(words_met[words] > 50);
    }
}

/* Ranks whose number fills all the bits that their words have, and windows of each height. */
static void
no_word_overflows(void **state)
{
    (void)state;
    static double x[RANKS_MAX * COUNT];
    static const int ranks[] = {2, 3, 4, 7, 8, 15, 16, 31, RANKS_MAX};
    for (int k = 0; k < 9 * 150; k++) {
        const int nranks = ranks[k % 9], height = 1 + k / 9;
        int words_met[AR_EXACT_PARTS + 1] = {0};
        if (nranks == RANKS_MAX && height % 10)
            continue;
        for (int i = 0; i < nranks * COUNT; i++)
            x[i] = (i % 2 ? -1 : 1) * (1 - ldexp(1, height < 53 ? -height : -53));
        x[0] = ldexp(1, -height);
        compare_kernels(AR_EXACT_DOUBLE, (const char *)x, nranks, nranks, words_met);
    }
}

static void
every_kernel_measures_as_integers_do(void **state)
{
    (void)state;
    static double vectors[COUNT];
    static const int binades[] = {1, 40, 200}, lowest[] = {0, -130, -1074};
    for (enum ar_exact_format format = 0; format < AR_EXACT_FORMATS; format++)
        for (int k = 0; k < 3000; k++) {
            const size_t count = k % 4 ? (size_t)k % COUNT : COUNT;
            fill(format, vectors, 1, binades[k % 3], lowest[k / 3 % 3]);
            const struct ar_window expected = ar_digits_window(format, vectors, count);
            for (enum ar_isa isa = AR_ISA_BASE; isa <= ar_isa_best(); isa++) {
                const struct ar_extent extent =
                    ar_exact_kernels_get(isa, format)->measure(vectors, count);
                const struct ar_window is = ar_extent_window(format, extent);
                assert_int_equal(is.special, expected.special);
                if (!is.special)
                    assert_memory_equal(&is, &expected, sizeof is);
            }
        }
}

static void
flush_small_numbers(bool flush)
{
#ifdef __SSE2__
    _mm_setcsr((_mm_getcsr() & ~0x8040U) | (flush ? 0x8040U : 0)); /* FTZ and DAZ */
#endif
    (void)flush;
    feclearexcept(FE_ALL_EXCEPT);
}

static void
the_programs_rounding_changes_nothing(void **state)
{
    (void)state;
    static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    for (int k = 0; k < 400; k++) {
        double x[3][COUNT], expected[COUNT], is[COUNT];
        fill(AR_EXACT_DOUBLE, x, 3, 1 + k % 60, k % 2 ? -1070 : 0);
        sum(AR_EXACT_DOUBLE, expected, x, 3, 3, 0);
        for (int mode = 0; mode < 4; mode++) {
            fesetround(modes[mode]);
            flush_small_numbers(true);
            sum(AR_EXACT_DOUBLE, is, x, 3, 3, 0);
            const int after = fegetround(), raised = fetestexcept(FE_ALL_EXCEPT);
            flush_small_numbers(false);
            fesetround(FE_TONEAREST);
            assert_int_equal(after, modes[mode]);
            assert_int_equal(raised, 0);
            assert_memory_equal(is, expected, sizeof is);
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_doubles_sum_as_ieee_says),
        cmocka_unit_test(two_floats_sum_as_ieee_says),
        cmocka_unit_test(many_doubles_sum_as_whole_numbers_do),
        cmocka_unit_test(what_lies_far_below_decides_a_tie),
        cmocka_unit_test(infinities_and_nan_are_always_the_same),
        cmocka_unit_test(common_numbers_take_few_words),
        cmocka_unit_test(every_kernel_sums_as_integers_do),
        cmocka_unit_test(no_word_overflows),
        cmocka_unit_test(every_kernel_measures_as_integers_do),
        cmocka_unit_test(the_programs_rounding_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
