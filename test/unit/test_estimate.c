/* The median's interval: what binomial coefficients say it covers. */
#include <math.h>
#include <stdlib.h>

#include "tuning/estimate.h"
#include "unit.h"

/* How many of the 2^n outcomes of n <= 50 coins show from to to heads: exact, by Pascal's
 * triangle. */
static uint64_t
outcomes(size_t n, size_t from, size_t to)
{
    uint64_t row[64] = {1}, sum = 0;
    for (size_t i = 1; i <= n; i++)
        for (size_t k = i; k > 0; k--)
            row[k] += row[k - 1];
    for (size_t k = from; k <= to; k++)
        sum += row[k];
    return sum;
}

/* Do the values of these numbers, counted from 1, cover 95 %? */
static bool
covers(size_t n, size_t k)
{
    return k >= 1 && k <= n - k && 20 * outcomes(n, k, n - k) >= 19 * ((uint64_t)1 << n);
}

static void
the_interval_is_the_narrowest_that_covers_95_percent(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 50; n++) {
        size_t low, high, k = n;
        while (k > 0 && !covers(n, k))
            k--;
        assert_int_equal(ar_median_interval(&low, &high, n), k > 0);
        if (k > 0) {
            assert_int_equal(low, k - 1);
            assert_int_equal(high, n - k);
        }
    }
}

/* As tables have it. */
static void
known_intervals(void **state)
{
    static const size_t table[][3] = {{6, 1, 6}, {9, 2, 8}, {11, 2, 10}, {20, 6, 15}, {50, 18, 33}};
    size_t low, high;
    (void)state;
    assert_false(ar_median_interval(&low, &high, 0));
    assert_false(ar_median_interval(&low, &high, AR_INTERVAL_LEAST - 1));
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        assert_true(ar_median_interval(&low, &high, table[i][0]));
        assert_int_equal(low + 1, table[i][1]);
        assert_int_equal(high + 1, table[i][2]);
    }
}

/* The normal distribution's, which that of many values comes to. */
static void
many_values_have_an_interval_of_1_96_deviations(void **state)
{
    const size_t n = 1000000;
    size_t low, high;
    (void)state;
    assert_true(ar_median_interval(&low, &high, n));
    assert_in_range((int)high - (int)low, 1957, 1965); /* 2 * 1.96 * sqrt(n) / 2, and its steps */
    assert_int_equal(low + high + 1, n);
}

static void
an_estimate_is_of_the_sorted_values(void **state)
{
    double values[] = {5, 1, 4, 2, 3, 11, 7, 6, 9, 10, 8}, few[] = {3, 1, 2, 4};
    const struct ar_estimate e = ar_estimate_make(values, 11);
    const struct ar_estimate f = ar_estimate_make(few, 4);
    (void)state;
    assert_true(e.median == 6);
    assert_true(e.low == 2 && e.high == 10);
    assert_true(e.spread == 2.5 / 6); /* 3.5 to 8.5 */
    assert_true(f.median == 2.5);
    assert_true(isnan(f.low) && isnan(f.high));
    assert_true(ar_estimates_are_sure(&e, &e));
    assert_false(ar_estimates_are_sure(&e, &f));
    assert_false(ar_estimates_are_sure(&f, &e));
}

static void
a_tie_is_where_intervals_touch(void **state)
{
    const struct ar_estimate none = {1, NAN, NAN, 0};
    const struct ar_estimate a = {.low = 1, .high = 2}, b = {.low = 2, .high = 3};
    const struct ar_estimate c = {.low = 2.5, .high = 9}, inside = {.low = 3, .high = 4};
    (void)state;
    assert_true(ar_estimates_tie(&a, &b));
    assert_true(ar_estimates_tie(&b, &a));
    assert_true(ar_estimates_tie(&c, &inside));
    assert_true(ar_estimates_tie(&inside, &c));
    assert_false(ar_estimates_tie(&a, &c));
    assert_false(ar_estimates_tie(&c, &a));
    assert_false(ar_estimates_tie(&a, &none));
    assert_false(ar_estimates_tie(&none, &none));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_interval_is_the_narrowest_that_covers_95_percent),
        cmocka_unit_test(known_intervals),
        cmocka_unit_test(many_values_have_an_interval_of_1_96_deviations),
        cmocka_unit_test(an_estimate_is_of_the_sorted_values),
        cmocka_unit_test(a_tie_is_where_intervals_touch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
